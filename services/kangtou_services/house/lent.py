"""The House on a store of needs: a seat whose owner is away is a need, and who has claimed it may play it."""

from __future__ import annotations

import time
from collections.abc import Callable

from .needs import Kind, Need, NeedStore, delegate_group


class Lent:
    """A House. `wall_ms`: Unix ms."""

    def __init__(self, needs: NeedStore, wall_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000) -> None:
        self.needs = needs
        self._wall_ms = wall_ms

    async def delegated(self, match_id: str, seat: int, game: str, number: int) -> None:
        """See House."""
        group = delegate_group(match_id, seat)
        need = Need(group, Kind.DELEGATE, game, match_id, seat, number)
        await self.needs.put(group, number, [need], self._wall_ms())

    async def ended(self, match_id: str, seat: int) -> None:
        """See House."""
        await self.needs.end(delegate_group(match_id, seat), self._wall_ms())

    async def may_play(self, account_id: str, match_id: str, seat: int) -> bool:
        """See House. Claims are given to house accounts alone, and bind each to one seat of a match."""
        return account_id == await self.needs.account_of(delegate_group(match_id, seat), self._wall_ms())
