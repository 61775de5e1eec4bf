"""Bots for pools: what a matcher wants of them becomes needs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import structlog

from ..identity import StoreUnavailable
from ..matchmaking import Pool
from .needs import Kind, Need, NeedStore

_log = structlog.get_logger(__name__)

HINT_MS = 3_000  # how long a pool's wish is good for


class PoolFillers:
    """matchmaking.Fillers on a store of needs. `wall_ms`: Unix ms."""

    def __init__(self, needs: NeedStore, wall_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000) -> None:
        self._needs = needs
        self._wall_ms = wall_ms

    async def come(self, pool: Pool, wanted: int) -> None:
        """See Fillers."""
        now, group = self._wall_ms(), f"q:{pool.id}"
        needs = [
            Need(
                f"{group}:{number}", Kind.QUEUE, pool.choice.game, pool.id, until_ms=now + HINT_MS, pool=pool.to_json()
            )
            for number in range(wanted)
        ]
        try:
            await self._needs.put(group, now, needs, now)
        except StoreUnavailable as no:
            _log.warning("house_not_called", pool=pool.id, reason=str(no))  # it is called again

    async def placed(self, match_id: str, game: str, seats: Mapping[int, str]) -> None:
        """See Fillers."""
        group = f"m:{match_id}"
        needs = [
            Need(f"{group}:{seat}", Kind.MATCH, game, match_id, seat, only=account) for seat, account in seats.items()
        ]
        await self._needs.put(group, 0, needs, self._wall_ms())
