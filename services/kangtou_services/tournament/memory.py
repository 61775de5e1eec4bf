"""Tournaments in memory: for tests and a server in one process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from ..identity import StoreUnavailable
from .ids import tournament_of
from .store import Overtaken


@dataclass(slots=True)
class _Held:
    seed: bytes = field(repr=False)
    log: list[str]
    fence: int = 0
    wish: str = ""
    held: set[str] = field(default_factory=set)
    active: bool = True


class MemoryTournamentStore:
    """A TournamentStore. `clock` in seconds. Everything fails while `reached` is False."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._held: dict[str, _Held] = {}
        self._leader, self._until, self._fence = "", 0.0, 0
        self.reached = True

    async def create(self, tournament: str, seed: bytes, first: str) -> bool:
        """See TournamentStore."""
        await self._use()
        if tournament in self._held:
            return False
        self._held[tournament] = _Held(seed, [first])
        return True

    async def append(
        self,
        tournament: str,
        fence: int,
        length: int,
        texts: Sequence[str],
        hold: Iterable[str] = (),
        release: Iterable[str] = (),
    ) -> None:
        """See TournamentStore."""
        await self._use()
        one = self._held[tournament]
        if one.fence > fence:
            raise Overtaken("another runner has this tournament")
        if len(one.log) != length:
            if one.log[length:] != list(texts):
                raise Overtaken(f"{len(one.log)} events, not {length}")
            return
        one.fence = fence
        one.log += texts
        one.held |= set(hold)
        one.held -= set(release)

    async def read(self, tournament: str, after: int = 0) -> list[str]:
        """See TournamentStore."""
        await self._use()
        one = self._held.get(tournament)
        return one.log[after:] if one else []

    async def seed(self, tournament: str) -> bytes | None:
        """See TournamentStore."""
        await self._use()
        one = self._held.get(tournament)
        return one.seed if one else None

    async def tournaments(self) -> list[str]:
        """See TournamentStore."""
        await self._use()
        return list(self._held)[::-1]

    async def active(self) -> list[str]:
        """See TournamentStore."""
        await self._use()
        return sorted(name for name, one in self._held.items() if one.active)

    async def retire(self, tournament: str) -> None:
        """See TournamentStore."""
        await self._use()
        self._held[tournament].active = False

    async def wish(self, tournament: str, wish: str) -> None:
        """See TournamentStore."""
        await self._use()
        if one := self._held.get(tournament):
            one.wish = wish

    async def wished(self, tournament: str) -> str:
        """See TournamentStore."""
        await self._use()
        one = self._held.get(tournament)
        return one.wish if one else ""

    async def withheld(self, match: str) -> bool:
        """See TournamentStore."""
        await self._use()
        one = self._held.get(tournament_of(match))
        return one is not None and match in one.held

    async def lease(self, owner: str, ms: int) -> int:
        """See TournamentStore."""
        await self._use()
        if owner != self._leader and self._clock() < self._until:
            return 0
        if owner != self._leader or self._clock() >= self._until:
            self._fence += 1
        self._leader, self._until = owner, self._clock() + ms / 1000
        return self._fence

    async def leave(self, owner: str) -> None:
        """See TournamentStore."""
        await self._use()
        if owner == self._leader:
            self._until = 0.0

    async def _use(self) -> None:
        await asyncio.sleep(0)
        if not self.reached:
            raise StoreUnavailable("the tournaments in memory are switched off")
