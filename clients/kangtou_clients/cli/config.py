"""Servers, accounts and tokens of this user: one private file in the user's configuration folder.

{"server": "host:port", "servers": {"host:port": {"me": {"account_id": …, "token": …, "entropies": {match: hex}}}}}
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from platformdirs import user_config_path

from .exits import USAGE, CommandError

DEFAULT_PROFILE = "me"
ENTROPIES_MOST = 50


@dataclass(slots=True)
class Profile:
    """An account of this user on one server. `entropies`: committed to with a seat, not opened yet, by match."""

    account_id: str
    name: str
    kind: str
    token: str
    expires_ms: int
    entropies: dict[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Profile({self.name!r}, {self.account_id!r})"  # never the token


def folder() -> Path:
    """Where the file is: KANGTOU_CONFIG, else the system's place for it."""
    given = os.environ.get("KANGTOU_CONFIG", "")
    return Path(given) if given else user_config_path("kangtou", appauthor=False)


class Config:
    """The file. Read when made, and again for every change; readable by its owner alone."""

    def __init__(self) -> None:
        self.path = folder() / "config.json"
        self.server = ""
        self._servers: dict[str, dict[str, Profile]] = {}
        self._read()

    def _read(self) -> None:
        try:
            given = json.loads(self.path.read_text(encoding="utf-8"))
            self._servers.clear()
            self.server = str(given.get("server", ""))
            for server, profiles in given.get("servers", {}).items():
                self._servers[server] = {name: Profile(**profile) for name, profile in profiles.items()}
            tokens = [one.token for profiles in self._servers.values() for one in profiles.values()]
            if not all(re.fullmatch(r"[!-~]+", token) for token in tokens):
                raise ValueError("no token of this protocol")
        except FileNotFoundError:
            return
        except (AttributeError, TypeError, ValueError) as error:
            raise CommandError(USAGE, f"{self.path} is not a configuration of this program") from error

    def profile(self, server: str, name: str) -> Profile | None:
        """An account by the name it was given here."""
        return self._servers.get(server, {}).get(name or DEFAULT_PROFILE)

    def profiles(self, server: str) -> list[str]:
        """The names of all accounts on a server."""
        return sorted(self._servers.get(server, {}))

    def keep(self, server: str, name: str, profile: Profile) -> None:
        """Put an account in; the server becomes the default one."""
        with self._changing():
            self.server = server
            self._servers.setdefault(server, {})[name or DEFAULT_PROFILE] = profile

    def drop(self, server: str, name: str) -> None:
        """Take an account out."""
        with self._changing():
            self._servers.get(server, {}).pop(name or DEFAULT_PROFILE, None)

    def keep_entropy(self, server: str, name: str, match: str, entropy: str) -> None:
        """Put in what an account has committed to in a match; "" when it has been opened."""
        with self._changing():
            profile = self.profile(server, name)
            if profile is None:
                return
            profile.entropies.pop(match, None)
            if entropy:
                profile.entropies[match] = entropy
            for old in list(profile.entropies)[:-ENTROPIES_MOST]:
                del profile.entropies[old]

    @contextlib.contextmanager
    def _changing(self) -> Iterator[None]:
        """Around a change: the file is read again first, for other commands may have changed it meanwhile."""
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with self.path.with_name(".config.lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self._read()
            yield
            self._write()

    def _write(self) -> None:
        """The whole file, private from its first byte on."""
        servers = {
            server: {name: asdict(profile) for name, profile in profiles.items()}
            for server, profiles in self._servers.items()
        }
        waiting = self.path.with_name(f".config.{os.getpid()}.tmp")
        with contextlib.suppress(FileNotFoundError):
            waiting.unlink()
        handle = os.open(waiting, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump({"server": self.server, "servers": servers}, file, ensure_ascii=False, indent=1)
        waiting.replace(self.path)
