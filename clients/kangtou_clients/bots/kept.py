"""The accounts of house bots, kept in private files across restarts: one file an account, locked while it is in use."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

NAMES = ("炕头小二", "炕头老张", "炕头大姐", "炕头老叔", "炕头三妹")
NUMBERS_MOST = 4_096
_DAY_MS = 24 * 3_600_000


@dataclass(frozen=True, slots=True)
class Kept:
    """An account as it lies in its file; all "" before it is registered."""

    account_id: str = ""
    token: str = ""
    expires_ms: int = 0

    def __repr__(self) -> str:
        return f"Kept({self.account_id!r})"  # never the token

    def is_old(self, days: int = 30) -> bool:
        """Whether its token is worth renewing."""
        return self.expires_ms < time.time_ns() // 1_000_000 + days * _DAY_MS


class Place:
    """One account's file, locked by this process."""

    def __init__(self, path: Path, number: int) -> None:
        self.path = path
        self.name = NAMES[number] if number < len(NAMES) else f"{NAMES[number % len(NAMES)]} {number + 1}"

    def read(self) -> Kept:
        """The account; a file that cannot be read counts as empty: then another account is registered."""
        with contextlib.suppress(FileNotFoundError, ValueError, TypeError):
            return Kept(**json.loads(self.path.read_text(encoding="utf-8")))
        return Kept()

    def write(self, kept: Kept) -> None:
        """As a whole, readable by its owner alone from its first byte on."""
        fresh = self.path.with_suffix(".new")
        fresh.unlink(missing_ok=True)
        with os.fdopen(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
            json.dump(asdict(kept), file)
        fresh.replace(self.path)


@contextmanager
def places(folder: Path, server: str, count: int) -> Iterator[list[Place]]:
    """The first accounts for a server that no other process uses. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    stem = re.sub(r"[^A-Za-z0-9.-]", "_", server)
    found: list[Place] = []
    with contextlib.ExitStack() as locks:
        for number in range(NUMBERS_MOST):
            if len(found) == count:
                break
            lock = locks.enter_context((folder / f"{stem}-{number}.lock").open("a"))
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                found.append(Place(folder / f"{stem}-{number}.json", number))
        yield found
