"""`kangtou register`, `whoami`: accounts of this user on a server."""

from __future__ import annotations

import secrets
import time
from typing import Annotated, Literal

import typer

from .common import of
from .config import Profile
from .exits import REFUSED
from .remote import Remote, run


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("register")(register_account)
    app.command("whoami")(whoami)


def register_account(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="what others see: 1 to 24 characters")],
    bot: Annotated[bool, typer.Option("--bot", help="an account for a program; shown to everybody, for ever")] = False,
) -> None:
    """Make an account on a server and keep its token for later commands.

    The recovery code is shown once: write it down. Several accounts on one server are told apart by --as.

    \b
    Examples:
      kangtou register Xiaoming --server play.example:7480
      kangtou register dealer-bot --bot --as bot1
    """
    common = of(context)

    async def work(remote: Remote) -> None:
        if remote.profile is not None:
            known = remote.config.profiles(remote.client.address)
            raise common.fail(REFUSED, "profile_taken", server=remote.client.address, profiles=", ".join(known))
        kind: Literal["human", "bot"] = "bot" if bot else "human"
        login = remote.given(await remote.client.accounts.register(name, kind, secrets.token_hex(16)))
        assert login.account is not None
        account = login.account
        profile = Profile(account.account_id, account.name, account.kind, login.token, login.expires_ms)
        remote.config.keep(remote.client.address, common.profile, profile)
        if common.json:
            common.put_json(
                {"account_id": account.account_id, "name": account.name, "recovery_code": login.recovery_code}
            )
            return
        common.put(f"{account.name}  {account.account_id}  ({common.word(account.kind)})")
        common.put(common.say("recovery", recovery=login.recovery_code))
        common.put(common.say("kept", path=remote.config.path))

    run(common, work, signed=False)


def whoami(context: typer.Context) -> None:
    """Show the account that acts, and until when its token is good.

    \b
    Examples:
      kangtou whoami
      kangtou whoami --as bot1 --server 127.0.0.1:7480
    """
    common = of(context)

    async def work(remote: Remote) -> None:
        account = await remote.client.accounts.who_am_i()
        expires_ms = remote.profile.expires_ms if remote.profile else 0
        days = max(0, (expires_ms - time.time_ns() // 1_000_000) // 86_400_000)
        if common.json:
            given = {"account_id": account.account_id, "name": account.name, "kind": account.kind}
            common.put_json({**given, "server": remote.client.address, "expires_ms": expires_ms})
            return
        common.put(f"{account.name}  {account.account_id}  ({common.word(account.kind)})  {remote.client.address}")
        common.put(common.say("expires", days=days))

    run(common, work)
