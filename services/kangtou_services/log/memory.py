"""The log in memory: for practice at one table, and for tests, which can make it fail."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from .base import Entry, Fenced, LogUnavailable, TailLost


@dataclass(slots=True, repr=False)
class _Match:
    entries: list[Entry] = field(default_factory=list)
    owner: str | None = None
    left: int | None = None
    agreement: str | None = None
    seed: bytes | None = None
    live: bool = False
    deaths: int = 0
    ends: float | None = None  # when it expires


class MemoryServer:
    """What a Redis server is to RedisLog and RedisMatchStore, with ways to break it.

    clock    seconds; decides when retired matches expire
    reached  the next calls fail with LogUnavailable while this is False
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._matches: dict[str, _Match] = {}
        self._failures: list[bool] = []
        self._starts = 1
        self.reached = True

    # ---- For fault tests ----

    def fail_next_append(self, *, stored: bool = False) -> None:
        """Let an append fail with LogUnavailable, after storing the entry or without. Several calls add up."""
        self._failures.append(stored)

    @contextmanager
    def outage(self) -> Iterator[None]:
        """Nothing can be reached inside the `with` block."""
        self.reached = False
        try:
            yield
        finally:
            self.reached = True

    def restart(self) -> None:
        """Another incarnation of the server."""
        self._starts += 1

    def lose_tail(self, match: str, entries: int = 1) -> None:
        """Restart without the last entries of a match."""
        self.restart()
        held = self._matches[match].entries
        del held[max(0, len(held) - entries) :]

    def expire(self, match: str) -> None:
        """The time of a retired match is over."""
        self._matches.pop(match, None)

    # ---- For the twins ----

    @property
    def incarnation(self) -> str:
        """Changes with every restart."""
        return f"memory-{self._starts}"

    async def use(self) -> None:
        """One round trip."""
        await asyncio.sleep(0)
        if not self.reached:
            raise LogUnavailable("the log in memory is switched off")

    def failure(self) -> bool | None:
        """Whether the append to come fails: None no, else whether it is stored all the same."""
        return self._failures.pop(0) if self._failures else None

    def find(self, match: str) -> _Match | None:
        """A match that has not expired."""
        found = self._matches.get(match)
        if found is not None and found.ends is not None and self._clock() >= found.ends:
            del self._matches[match]
            return None
        return found

    def make(self, match: str) -> _Match:
        """The same, or a new one."""
        return self.find(match) or self._matches.setdefault(match, _Match())

    def expire_in(self, match: _Match, seconds: float) -> None:
        """Once."""
        if match.ends is None:
            match.ends = self._clock() + seconds

    def live(self) -> list[str]:
        """Sorted."""
        return sorted(name for name in tuple(self._matches) if (match := self.find(name)) and match.live)


class MemoryLog:
    """An EventLog on a MemoryServer."""

    def __init__(self, server: MemoryServer | None = None) -> None:
        self.server = server or MemoryServer()

    async def claim(self, match: str, owner: str, tail: Entry | None, marker: Entry) -> bool:
        """See EventLog."""
        await self.server.use()
        found = self.server.find(match)
        last = found.entries[-1] if found and found.entries else None
        if found and last == marker and found.owner == owner:
            return True
        if last != tail:
            return False
        found = self.server.make(match)
        found.entries.append(marker)
        found.owner, found.left = owner, None
        return True

    async def append(self, match: str, entry: Entry) -> None:
        """See EventLog."""
        await self.server.use()
        failure = self.server.failure()
        if failure is None or failure:
            self._store(match, entry)
        if failure is not None:
            raise LogUnavailable("an append was made to fail")

    def _store(self, match: str, entry: Entry) -> None:
        found = self.server.find(match)
        if found is None or not found.entries:
            raise Fenced(f"{match} has no log")
        last = found.entries[-1]
        if (entry.epoch, entry.seq) <= (last.epoch, last.seq):
            if entry in found.entries:
                return
            raise Fenced(f"{match} has another entry at or after {entry.id}")
        if (entry.epoch, entry.seq) != (last.epoch, last.seq + 1):
            raise TailLost(f"{match} ends with {last.id}, before {entry.id}")
        found.entries.append(entry)

    async def tail(self, match: str) -> Entry | None:
        """See EventLog."""
        await self.server.use()
        found = self.server.find(match)
        return found.entries[-1] if found and found.entries else None

    async def read(self, match: str, first_seq: int = 0, last_seq: int | None = None) -> list[Entry]:
        """See EventLog."""
        await self.server.use()
        found = self.server.find(match)
        entries = found.entries if found else []
        return [entry for entry in entries if entry.seq >= first_seq and (last_seq is None or entry.seq <= last_seq)]

    async def after(self, match: str, entry_id: str, count: int) -> list[Entry]:
        """See EventLog."""
        await self.server.use()
        found = self.server.find(match)
        seq = int(entry_id.partition("-")[2]) if entry_id else 0
        entries = found.entries if found else []
        return entries[seq : seq + count]  # without a gap from 1 on

    async def owner(self, match: str) -> str | None:
        """See EventLog."""
        await self.server.use()
        found = self.server.find(match)
        return found.owner if found else None

    async def owners(self, matches: list[str]) -> list[str | None]:
        """See EventLog."""
        return [await self.owner(match) for match in matches]

    async def hand_on(self, match: str, owner: str, to: str, now_ms: int) -> bool:
        """See EventLog."""
        await self.server.use()
        found = self.server.find(match)
        if found is None or found.ends is not None or found.owner not in (owner, to):
            return False
        if found.owner == owner:
            found.owner, found.left = to, now_ms
        return True

    async def put_down(self, match: str) -> int | None:
        """See EventLog."""
        await self.server.use()
        found = self.server.find(match)
        return found.left if found else None

    async def incarnation(self) -> str:
        """See RedisLog."""
        await self.server.use()
        return self.server.incarnation

    async def close(self) -> None:
        """See EventLog."""


class MemoryMatchStore:
    """A MatchStore on a MemoryServer, the one of its log if retired logs shall expire."""

    def __init__(self, server: MemoryServer | None = None) -> None:
        self.server = server or MemoryServer()

    async def create(self, match: str, agreement: str, seed: bytes) -> bool:
        """See MatchStore."""
        await self.server.use()
        found = self.server.make(match)
        if found.agreement is not None:
            return False
        found.agreement, found.seed, found.live = agreement, seed, True
        return True

    async def agreement(self, match: str) -> str | None:
        """See MatchStore."""
        await self.server.use()
        found = self.server.find(match)
        return found.agreement if found else None

    async def seed(self, match: str) -> bytes | None:
        """See MatchStore."""
        await self.server.use()
        found = self.server.find(match)
        return found.seed if found else None

    async def live(self) -> list[str]:
        """See MatchStore."""
        await self.server.use()
        return self.server.live()

    async def retire(self, match: str, keep_ms: int) -> None:
        """See MatchStore."""
        await self.server.use()
        if found := self.server.find(match):
            found.live = False
            self.server.expire_in(found, keep_ms / 1000)

    async def blame(self, match: str) -> int:
        """See MatchStore."""
        await self.server.use()
        found = self.server.make(match)
        found.deaths += 1
        return found.deaths

    async def deaths(self, match: str) -> int:
        """See MatchStore."""
        await self.server.use()
        found = self.server.find(match)
        return found.deaths if found else 0

    async def pardon(self, match: str) -> None:
        """See MatchStore."""
        await self.server.use()
        if found := self.server.find(match):
            found.deaths = 0
