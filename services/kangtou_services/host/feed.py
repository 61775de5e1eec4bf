"""What delayed spectators see: the table as it was a while ago, from its log.

A second table follows the log, each entry no earlier than its delay after it was written. It is there only while
somebody looks on, holds one position and one page of entries, and is made again from the log wherever the table goes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import structlog

from kangtou_engine.match.events import RoundBegan

from ..log.base import Entry, LogUnavailable
from ..table.audience import ENDED, SEATS, Audiences
from ..table.core import Table
from ..table.load import follow, time_of
from .marker import where

if TYPE_CHECKING:
    from .host import Host
    from .slot import Follower, Slot

log = structlog.get_logger(__name__)

PAGE = 64  # entries that are read at a time
LOOK_S = 0.5  # how often it looks for entries that nobody has announced
IDLE_S = 20.0  # how long it is kept when nobody looks on any more


@dataclass(eq=False)
class Feed:
    """The delayed spectators of one table. `make` gives a fresh table before its first entry."""

    host: Host
    slot: Slot
    make: Callable[[], Table]
    followers: set[Follower] = field(default_factory=set)
    waiting: dict[Follower, int] = field(default_factory=dict)  # and how far each has seen, until it is caught up

    def __post_init__(self) -> None:
        self.delay_ms = self.slot.table.agreement.watch_delay_ms
        self.table = self.make()
        self.audiences = Audiences(self.table, late=True)
        self.ready = asyncio.Event()
        self.news = asyncio.Event()
        self._task = self.host.spawn(self._run())

    def join(self, follower: Follower, from_seq: int) -> None:
        """One more, at the place where the others are."""
        if self.ready.is_set():
            self._let_in(follower, from_seq)
        else:
            self.waiting[follower] = from_seq

    def stop(self) -> None:
        """Nobody is told any more."""
        self._task.cancel()

    def drop(self, stays: Callable[[Follower], bool]) -> None:
        """Let go of those that do not stay."""
        self.followers = {one for one in self.followers if stays(one)}
        self.waiting = {one: seq for one, seq in self.waiting.items() if stays(one)}

    def end(self, payload: bytes) -> None:
        """Let everybody go with these bytes; empty: the table is somebody else's."""
        self.slot.send([*self.followers, *self.waiting], 0, payload, last=True)
        self.drop(lambda _: False)
        self.stop()

    def _let_in(self, follower: Follower, from_seq: int) -> None:
        over = self.table.over
        if not over:
            self.followers.add(follower)
        joining = self.audiences.joining(None, from_seq, self.host.now_ms(), self._present())
        self.slot.send([follower], self.table.seq, joining, last=over)

    def _present(self) -> tuple[int, ...]:
        """Who is there now is not told; it would be no delayed news."""
        return tuple(seat for seat in range(self.table.config.seats) if not self.table.prompts.away(seat))

    # ---- following the log ----

    async def _run(self) -> None:
        idle_at = asyncio.get_running_loop().time()
        while True:
            try:
                page = await self.host.log.after(self.slot.match, self._tail_id(), PAGE)
                for entry in page:
                    await self._until(entry)
                    self._take(entry)
            except LogUnavailable:
                page = []
            except Exception as error:  # noqa: BLE001 - a game's code may raise anything; the match itself goes on
                log.error("feed_broken", match=self.slot.match, where=where(error))
                self.slot.feed = None
                self.ready.set()
                text = ("this table is stopped by a fault", "本桌因故障停止")
                self.end(self.slot.notice(None, 3, *text))
                return
            now = asyncio.get_running_loop().time()
            if self.followers or self.waiting:
                idle_at = now
            elif now - idle_at > IDLE_S:
                self.slot.feed = None
                return
            if len(page) < PAGE:
                self._caught_up()
                await self._pause(LOOK_S)

    def _tail_id(self) -> str:
        return self.table.tail.id if self.table.tail else ""

    async def _until(self, entry: Entry) -> None:
        """Wait until an entry may be seen. Whoever came meanwhile is let in before."""
        due_ms = time_of(entry) + self.delay_ms
        while (left_ms := due_ms - self.host.now_ms()) > 0:
            self._caught_up()
            await asyncio.sleep(min(left_ms / 1000, 1.0))

    async def _pause(self, seconds: float) -> None:
        self.news.clear()
        try:
            async with asyncio.timeout(seconds):
                await self.news.wait()
        except TimeoutError:
            return

    def _caught_up(self) -> None:
        self.ready.set()
        waiting, self.waiting = self.waiting, {}
        for follower, from_seq in waiting.items():
            self._let_in(follower, from_seq)

    def _take(self, entry: Entry) -> None:
        table = self.table
        before = table.prompts.ledger
        events = follow(table, entry)
        if not self.followers:
            return
        parts = []
        if events:
            parts.append(self.audiences.entry(entry.seq, time_of(entry), events, (None,))[None])
        ledger = table.prompts.ledger
        told = (
            before is not None and ledger is not None and (before.away, before.bank_ms) == (ledger.away, ledger.bank_ms)
        )
        if ledger is not None and (not told or any(isinstance(event, RoundBegan) for event in events)):
            parts.append(self.audiences.message(None, SEATS, self.audiences.seats(self._present())))
        if table.over:
            parts.append(self.audiences.message(None, ENDED, self.audiences.ended()))
        if parts:
            self.slot.send(list(self.followers), entry.seq, b"".join(parts), last=table.over)
        if table.over:
            self.followers.clear()
