"""Looks after an archive: fills the index, takes up what other nodes have written, removes what is too old.

Each gateway has one; those of one data folder take turns by a lock on a file, so that one works at a time. Nodes with
folders of their own each look after their own index; deleting a record twice does no harm. Every step can be cut off by
a kill and is done again: a record's file goes first, its row after it, so nothing is kept that nobody finds.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import structlog

from ..identity import StoreUnavailable
from ..settings import Settings
from .index import Index
from .names import Names
from .rows import BOTS, RATED, UNRATED
from .store import RecordStore

log = structlog.get_logger(__name__)

DAY_MS = 24 * 3_600_000
EVERY_S = 60.0
LIMITS_EVERY = 60  # of those rounds: retention need not be punctual
DAYS_BACK = 2  # days of ends that are listed in each round
BATCH = 200
LOCK_S = 0.1

Deleted = Callable[[int], Awaitable[list[str]]]  # accounts deleted since an instant (Unix ms)


class Stopped(Exception):
    """The keeper was told to stop."""


def keep_days(settings: Settings) -> Mapping[str, int]:
    """Days for which records of a kind are kept; 0: for ever."""
    return {RATED: settings.keep_rated_days, UNRATED: settings.keep_unrated_days, BOTS: settings.keep_bots_days}


class Keeper:
    """`start` it and `stop` it. `wall_ms` tells the time."""

    def __init__(
        self,
        records: RecordStore,
        index: Index,
        names: Names,
        days: Mapping[str, int],
        deleted: Deleted | None = None,
        wall_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
    ) -> None:
        self._records = records
        self._index = index
        self._names = names
        self._days = days
        self._deleted = deleted
        self._wall_ms = wall_ms
        self._filling: asyncio.Task[None] | None = None
        self._task: asyncio.Task[None] | None = None
        self._forgotten_to_ms = 0
        self._stopped = False
        self.looked_at = 0  # files, while the index is being filled

    def start(self) -> None:
        """Look now, and every minute."""
        self._task = asyncio.create_task(self._forever(), name="archive-keeper")

    async def stop(self) -> None:
        """Whatever is under way is done by the next one."""
        self._stopped = True
        tasks = [task for task in (self._task, self._filling) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def filled(self) -> None:
        """Wait until the index says what the records say, if it was lost or never there. Raises ArchiveError, OSError.

        Whoever is cancelled does not stop it.
        """
        if await asyncio.to_thread(self._index.whole):
            return
        if self._filling is None or self._filling.done():
            self._filling = asyncio.create_task(asyncio.to_thread(self._fill), name="archive-fill")
        await asyncio.shield(self._filling)

    def _fill(self) -> None:
        with self._turn():
            if not self._index.whole():
                done = self._index.rebuild(self._records, tell=self._tell)
                log.info("archive_index_filled", records=done.added, damaged=len(done.damaged))

    def _tell(self, files: int) -> None:
        self._go_on()
        self.looked_at = files

    async def _forever(self) -> None:
        number = 0
        while True:
            try:
                await self.filled()
                await self.look(limits=number % LIMITS_EVERY == 0)
                number += 1
            except (OSError, StoreUnavailable) as error:
                log.warning("archive_keeper_delayed", error=str(error))
            except Exception as error:  # noqa: BLE001 - the next round may do better; the gateway goes on
                log.error("archive_keeper_failed", error=type(error).__name__, text=str(error))
            await asyncio.sleep(EVERY_S)

    async def look(self, *, limits: bool = True) -> None:
        """One round. Raises ArchiveError, OSError, StoreUnavailable."""
        await asyncio.to_thread(self.catch_up)
        await self.forget()
        if limits:
            await asyncio.to_thread(self.apply_limits)

    def catch_up(self) -> int:
        """Take up records of the last days that other nodes have written; how many."""
        today = datetime.fromtimestamp(self._wall_ms() / 1000, UTC)
        with self._turn():
            days = [f"{today - timedelta(days=back):%Y/%m/%d}" for back in range(DAYS_BACK)]
            return self._index.take_up(self._records, [path for day in days for path in self._records.paths(day)])

    async def forget(self) -> None:
        """Names of accounts that were deleted, here or at another node."""
        if self._deleted is None:
            return
        now = self._wall_ms()
        for account in await self._deleted(self._forgotten_to_ms):
            await asyncio.to_thread(self._names.forget, account)
        self._forgotten_to_ms = max(0, now - DAY_MS)  # clocks of nodes differ a little

    def apply_limits(self) -> int:
        """Remove what is older than its kind is kept; how many records that were."""
        removed = 0
        with self._turn():
            for kind, days in self._days.items():
                before_ms = self._wall_ms() - days * DAY_MS
                while days and (old := self._index.older(kind, before_ms, BATCH)):
                    for row in old:
                        self._go_on()
                        self._records.remove(row.path)
                    self._index.remove(row.match for row in old)
                    removed += len(old)
            self._records.sweep()
        if removed:
            log.info("archive_limits_applied", removed=removed)
        return removed

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        """One process of this data folder at a time."""
        path: Path = self._index.path.with_name("keeper.lock")
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as lock:
            while True:
                self._go_on()
                with contextlib.suppress(BlockingIOError):
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                time.sleep(LOCK_S)
            yield

    def _go_on(self) -> None:
        """Threads cannot be cancelled: long work asks here. Raises Stopped."""
        if self._stopped:
            raise Stopped
