"""Bringing ratings up to the end of the log of results. Every gateway does it; none has to be the one.

An applier reads the mark, the results behind it and the ratings of those who played, and moves the mark together with
all that changed in one step which needs the mark to be what it was. Whoever is killed before that has done nothing;
whoever comes second finds the mark moved and looks again.
"""

from __future__ import annotations

import asyncio
import secrets

import structlog

from ..identity import StoreUnavailable
from .base import RatingStore
from .model import rate
from .values import Ladder, Standing

_log = structlog.get_logger(__name__)

BATCH = 100  # results in one step
EVERY_S = 1.0
_PAUSE_MS = 20  # at most, after another applier was first


class Applier:
    """One process's part. `start` it and `stop` it, or only ask it to `catch_up`."""

    def __init__(self, store: RatingStore, batch: int = BATCH, every_s: float = EVERY_S) -> None:
        self.store = store
        self._batch = batch
        self._every_s = every_s
        self._lock = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Look for new results now and then."""
        self._task = asyncio.create_task(self._forever(), name="ratings")

    async def stop(self) -> None:
        """Leave the rest to others."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def catch_up(self) -> int:
        """Apply what there is; how many results this call applied. Raises StoreUnavailable."""
        applied = 0
        async with self._lock:
            while (count := await self._step()) != 0:
                if count < 0:
                    await asyncio.sleep(secrets.randbelow(_PAUSE_MS) / 1000)
                else:
                    applied += count
        return applied

    async def _step(self) -> int:
        """How many results were applied; -1 if somebody else was first."""
        before = await self.store.mark()
        results = await self.store.read(before.at, self._batch)
        if not results:
            return 0
        asked: dict[Ladder, dict[str, None]] = {}
        for result in results:
            asked.setdefault(result.ladder, {}).update(dict.fromkeys(result.accounts))
        held = {ladder: await self.store.standings(ladder, accounts) for ladder, accounts in asked.items()}
        changed: dict[Ladder, dict[str, Standing]] = {ladder: {} for ladder in asked}
        for result in results:
            after = rate(held[result.ladder], result)
            held[result.ladder].update(after)
            changed[result.ladder].update(after)
        done = await self.store.apply(before, before.at + len(results), changed)
        return len(results) if done else -1

    async def _forever(self) -> None:
        while True:
            try:
                await self.catch_up()
            except StoreUnavailable as no:
                _log.warning("ratings_delayed", reason=str(no))
            except Exception as error:  # noqa: BLE001 - the results are kept; operators see why they are not applied
                _log.error("ratings_failed", error=type(error).__name__, text=str(error))
            await asyncio.sleep(self._every_s)
