"""All tables as one gateway knows them: listings are answered from it, and those who watch are told what changes.

Before it answers it reads the notices since its last look, so it shows everything that was answered before, also by
other gateways. Now and then it reads all tables anew: a notice that was lost with its process is made good by that.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection, Iterable
from dataclasses import dataclass, field

import structlog

from ..identity import StoreUnavailable
from .base import LobbyStore, table_id_of
from .table import Table, TableState

_log = structlog.get_logger(__name__)

_PIECE = 100  # tables read together; between pieces the loop does other things
_NOTICES_MOST = 1_000  # more are slower than reading everything
_WAIT_MS = 1_000
_ALL = 1 << 31
DIRTY_MOST = 256  # changes that wait for one watcher; with more it gets a new snapshot

Wanted = Callable[[Table], bool]


@dataclass(frozen=True, slots=True)
class Change:
    """What a watcher is told: `snapshot` (all that it wants, the newest first), or one table; None: it is gone."""

    table_id: str = ""
    table: Table | None = None
    added: bool = False
    snapshot: tuple[Table, ...] | None = None


@dataclass(eq=False, slots=True)
class _Watcher:
    wanted: Wanted
    shown: set[str] = field(default_factory=set)
    dirty: dict[str, None] = field(default_factory=dict)  # in order, each once
    lagging: bool = True  # a snapshot is due
    news: asyncio.Event = field(default_factory=asyncio.Event)

    def touch(self, table_id: str) -> None:
        if not self.lagging:
            self.dirty[table_id] = None
            if len(self.dirty) > DIRTY_MOST:
                self.dirty.clear()
                self.lagging = True
        self.news.set()


class Board:
    """A mirror of the store. Somebody has to `reread` it now and then (sweep.py)."""

    def __init__(self, store: LobbyStore) -> None:
        self._store = store
        self._tables: dict[str, Table] = {}
        self._order: list[Table] | None = None
        self._cursor = ""
        self._lock = asyncio.Lock()
        self._begun = 0
        self._watchers: set[_Watcher] = set()
        self._task: asyncio.Task[None] | None = None
        self.lost: list[str] = []  # places without a table, at the last reading of everything
        self.closed: dict[str, Table] = {}  # given up, but not yet forgotten

    async def stop(self) -> None:
        """Let go of what is under way."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    # ---- looking ----

    async def sync(self) -> None:
        """Know all that was changed before this call. Raises StoreUnavailable."""
        arrived = self._begun
        async with self._lock:
            if self._begun > arrived:
                return  # a look that began after this call has seen it all
            self._begun += 1
            changed: list[str] | None = None
            cursor = self._cursor
            if cursor:
                changed, cursor = await self._store.notices(cursor, _NOTICES_MOST)
            if changed is None:
                cursor = await self._store.cursor()
                await self.reread()
            else:
                await self._read(changed)
            self._cursor = cursor

    def tables(self) -> list[Table]:
        """All that are known, the newest first."""
        if self._order is None:
            self._order = sorted(self._tables.values(), key=lambda table: table.place, reverse=True)
        return self._order

    async def reread(self) -> None:
        """Read everything anew, beside other looks: whatever they see meanwhile is newer. Raises StoreUnavailable."""
        before = {*self._tables, *self.closed}
        places = await self._store.places("", _ALL)
        listed = {table_id_of(place): place for place in places}
        found = await self._read([*listed, *(before - listed.keys())])
        self.lost = [place for table_id, place in listed.items() if table_id not in found]

    async def _read(self, table_ids: Collection[str]) -> set[str]:
        found: set[str] = set()
        for piece in _pieces(list(table_ids)):
            for table_id, table in zip(piece, await self._store.tables(piece), strict=True):
                self._note(table_id, table)
                if table is not None:
                    found.add(table_id)
            await asyncio.sleep(0)
        return found

    def _note(self, table_id: str, table: Table | None) -> None:
        known = self._tables.get(table_id) or self.closed.get(table_id)
        if table is not None and known is not None and table.version < known.version:
            return
        self.closed.pop(table_id, None)
        if table is not None and table.state is TableState.CLOSED:
            self.closed[table_id] = table
            table = None
        if table == self._tables.get(table_id):
            return
        self._order = None
        if table is None:
            del self._tables[table_id]
        else:
            self._tables[table_id] = table
        for watcher in self._watchers:
            watcher.touch(table_id)

    # ---- watching ----

    async def watch(self, wanted: Wanted) -> AsyncGenerator[Change, None]:
        """A snapshot, then changes, for ever. Changes of one table that come together are told as one. Close it.

        Raises StoreUnavailable before the snapshot only.
        """
        await self.sync()
        watcher = _Watcher(wanted)
        self._watchers.add(watcher)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._follow(), name="lobby-board")
        try:
            watcher.news.set()
            while True:
                await watcher.news.wait()
                watcher.news.clear()
                for change in self._changes(watcher):
                    yield change
        finally:
            self._watchers.discard(watcher)
            if not self._watchers and self._task is not None:
                self._task.cancel()

    def _changes(self, watcher: _Watcher) -> list[Change]:
        dirty, watcher.dirty = watcher.dirty, {}
        if watcher.lagging:
            watcher.lagging = False
            tables = tuple(table for table in self.tables() if watcher.wanted(table))
            watcher.shown = {table.table_id for table in tables}
            return [Change(snapshot=tables)]
        changes = []
        for table_id in dirty:
            table = self._tables.get(table_id)
            shown = table_id in watcher.shown
            if table is not None and watcher.wanted(table):
                watcher.shown.add(table_id)
                changes.append(Change(table_id, table, added=not shown))
            elif shown:
                watcher.shown.discard(table_id)
                changes.append(Change(table_id))
        return changes

    async def _follow(self) -> None:
        """While somebody watches: look whenever there is a notice."""
        while True:
            try:
                await self._store.wait(self._cursor, _WAIT_MS)
                await self.sync()
            except StoreUnavailable as no:
                _log.warning("lobby_board_delayed", reason=str(no))
                await asyncio.sleep(_WAIT_MS / 1000)


def _pieces(table_ids: list[str]) -> Iterable[list[str]]:
    return (table_ids[start : start + _PIECE] for start in range(0, len(table_ids), _PIECE))
