"""Commands that talk to a server: who calls, where, and what its errors mean for the exit code."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from ..api import ApiError, CallFailed, Client, NotAuthenticated, Refused, Unavailable, connect
from ..api.archive import Archive
from .common import DEFAULT_SERVER, Common
from .config import Config, Profile
from .exits import NOT_ALLOWED, NOT_FOUND, REFUSED, UNREACHABLE, CommandError
from .source import Source

T = TypeVar("T")
PATIENCE_S = 4.0  # how long a command tries to reach the server
NOWHERE = ("unknown_match", "unknown_table", "unknown_account", "unknown_party")
STATUS = {
    "NOT_FOUND": NOT_FOUND,
    "PERMISSION_DENIED": NOT_ALLOWED,
    "DEADLINE_EXCEEDED": UNREACHABLE,
    "UNIMPLEMENTED": UNREACHABLE,
}


class Remote:
    """A server, and the account that acts there (None: not signed in)."""

    def __init__(self, common: Common, client: Client, config: Config, profile: Profile | None) -> None:
        self.common = common
        self.client = client
        self.config = config
        self.profile = profile

    def text(self, refused: Refused) -> str:
        """A refusal in the chosen language."""
        said = refused.text_zh if self.common.lang == "zh" else refused.text_en
        return said if not refused.rule or said.startswith(refused.rule) else f"{refused.rule}: {said}"

    def given(self, result: T | Refused) -> T:
        """What was asked for; a refusal ends the command."""
        if isinstance(result, Refused):
            code = NOT_FOUND if result.code in NOWHERE else REFUSED
            if self.common.json:
                self.common.put_json({"refused": {"rule": result.rule, "code": result.code}})
            raise CommandError(code, self.text(result))
        return result


def run(common: Common, work: Callable[[Remote], Awaitable[T]], *, signed: bool = True) -> T:
    """Do something at the server that the command line names, else the one used last."""
    config = Config()
    server = common.server or config.server or DEFAULT_SERVER
    profile = config.profile(server, common.profile)
    if signed and profile is None:
        known = config.profiles(server)
        if known:
            raise common.fail(NOT_ALLOWED, "no_profile", server=server, profiles=", ".join(known))
        raise common.fail(NOT_ALLOWED, "no_token", server=server)

    async def connected() -> T:
        token = profile.token if profile else ""
        async with connect(server, token, retry_s=PATIENCE_S) as client:
            return await work(Remote(common, client, config, profile))

    try:
        return asyncio.run(connected())
    except NotAuthenticated as error:
        raise common.fail(NOT_ALLOWED, "server_says", text=error.text) from error
    except Unavailable as error:
        raise common.fail(UNREACHABLE, "unreachable", server=server) from error
    except CallFailed as error:
        raise common.fail(STATUS.get(error.status, REFUSED), "server_says", text=error.text or error.status) from error
    except ApiError as error:
        raise common.fail(REFUSED, "server_says", text=error) from error


def fetch(common: Common, match: str) -> Source:
    """A record from the server's archive, with the players' names."""

    async def work(remote: Remote) -> Source:
        found = await Archive(remote.client).record(match)
        if found is None:
            raise common.fail(NOT_FOUND, "no_match", match=match)
        info, data = found
        return Source(match, data, tuple(info.names))

    return run(common, work)
