"""Looking after tables that nobody looks at: one gateway at a time finishes, times out and forgets.

Every gateway reads its own board anew now and then.
"""

from __future__ import annotations

import asyncio
import time

import structlog

from ..agreement import new_id
from ..identity import StoreUnavailable
from . import rematch
from .base import opened_ms_of
from .lobby import Lobby
from .table import Table, TableState

_log = structlog.get_logger(__name__)

_LOST_MS = 60_000  # after which a place without a table is taken off the list
_ORPHAN_MS = 500  # a table that was full for so long is started by whoever sees it
_RESULT_MS = 60_000  # for so long a result is asked for again
_CLOSED_MS = 60_000  # how long a closed table is kept, for repeats of the command that closed it


class Sweeper:
    """`start` it and `stop` it."""

    def __init__(self, lobby: Lobby) -> None:
        self._lobby = lobby
        self._keeper = lobby.keeper
        self._settings = lobby.settings
        self._holder = new_id()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Sweep now and then."""
        self._task = asyncio.create_task(self._forever(), name="lobby-sweep")

    async def stop(self) -> None:
        """Let go of what is under way."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _forever(self) -> None:
        everything_at = time.monotonic()
        while True:
            await asyncio.sleep(self._settings.sweep_s)
            everything = time.monotonic() >= everything_at
            try:
                if everything:
                    await self._lobby.board.reread()
                if await self._keeper.store.lead(self._holder, int(self._settings.sweep_s * 3_000)):
                    await self.sweep()
            except StoreUnavailable as no:
                _log.warning("lobby_sweep_delayed", reason=str(no))
            except Exception as error:  # noqa: BLE001 - the next sweep may do better; the gateway goes on
                _log.error("lobby_sweep_failed", error=type(error).__name__, text=str(error))
            if everything:
                everything_at = time.monotonic() + self._settings.reread_s

    async def sweep(self) -> None:
        """Look at all tables once. Raises StoreUnavailable."""
        board = self._lobby.board
        await board.sync()
        await self._keeper.notice_ends(board.tables())
        now = self._keeper.wall_ms()
        for table in list(board.tables()):
            await self._tidy(table)
            await self._keeper.calls.changed(table, now)
        for table in [table for table in board.closed.values() if now - table.since_ms > _CLOSED_MS]:
            await self._forget(table)
        lost = [place for place in board.lost if now - opened_ms_of(place) > _LOST_MS]
        if lost:
            await self._keeper.store.unlist(lost)
            await board.reread()

    async def _tidy(self, table: Table) -> None:
        now = self._keeper.wall_ms()
        if table.state is TableState.FULL and now - table.since_ms >= _ORPHAN_MS:
            await self._keeper.begin(table)
        elif rematch.due(table, now) != table:
            await self._keeper.update(table.table_id, lambda one: rematch.due(one, now))
        elif self._is_old(table, now):
            await self._forget(table)
        elif table.matches and not table.matches[-1].scores and now - table.since_ms < _RESULT_MS:
            await self._keeper.learn(table.table_id, table.matches[-1].match_id)

    def _is_old(self, table: Table, now_ms: int) -> bool:
        if table.state is TableState.OVER:
            return now_ms - table.since_ms > self._settings.show_over_ms
        idle = table.state is TableState.OPEN and not table.taken
        return idle and now_ms - table.empty_ms > self._settings.idle_ms

    async def _forget(self, table: Table) -> None:
        """Unless somebody has changed it since; its place goes with it."""
        await self._keeper.calls.forgotten(table, self._keeper.wall_ms())
        if await self._keeper.store.forget(table):
            await self._keeper.store.unlist([table.place])
