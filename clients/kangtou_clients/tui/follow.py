"""Following a match at a pace that people can see: one play after another, a finished trick for a moment longer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from kangtou_engine.events import Event, kind_of
from kangtou_engine.match.events import RoundBegan, Scored
from kangtou_engine.match.match import AnyState
from kangtou_engine.record.moments import TRICK_ENDS

from ..api import Change, Match
from ..desk.history import History

BEHIND = 12  # changes that wait: more are caught up with at once


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds: after what another seat did, and before a trick is cleared away."""

    move: float = 0.45
    trick: float = 1.1


AT_ONCE = Pace(0.0, 0.0)


AHEAD_MOST = 256  # changes that are known and not shown yet


async def _next(queue: asyncio.Queue[Change], reader: asyncio.Task[None]) -> Change | None:
    """The next change; None when the reader has ended and all that it read was given."""
    if queue.empty() and not reader.done():
        getting = asyncio.ensure_future(queue.get())
        try:
            await asyncio.wait({getting, reader}, return_when=asyncio.FIRST_COMPLETED)
            if getting.done():
                return getting.result()
        finally:
            getting.cancel()
    return None if queue.empty() else queue.get_nowait()


class Follower:
    """Folds what comes in on its own, so that what is shown may lag a little behind what is known.

    view   what is to be shown now;  seq  of the entry that it belongs to
    """

    def __init__(self, match: Match, pace: Pace, redraw: Callable[[], None]) -> None:
        self.match, self.pace, self._redraw = match, pace, redraw
        self.view: AnyState = match.view
        self.seq = match.seq
        self.history = History(match.game, match.config)
        self._news = asyncio.Event()
        self._waiting = 0

    async def run(self) -> None:
        """Until the match ends. Raises Gone, CallFailed."""
        queue: asyncio.Queue[Change] = asyncio.Queue(AHEAD_MOST)
        reader = asyncio.create_task(self._read(queue))
        try:
            while (change := await _next(queue, reader)) is not None:
                self._waiting = queue.qsize()
                await self._take(change)
        finally:
            reader.cancel()
        await asyncio.gather(reader)  # what ended it, if anything did

    async def _read(self, queue: asyncio.Queue[Change]) -> None:
        self.view, self.seq = self.match.view, self.match.seq  # changes are given from this very moment on
        if self.view.sheet.round:
            self.history.joined(self.view.sheet.round, self.view.sheet.scores)
        self._redraw()
        async for change in self.match.changes():
            await queue.put(change)  # when it is full, `changes` keeps what comes, within its own bound

    async def _take(self, change: Change) -> None:
        if change.gap:
            self.view = self.match.view
            self.history.joined(self.view.sheet.round, self.view.sheet.scores)
        for event in change.events:
            await self._before(event)
            self.view = self.match.game.evolve(self.view, event)
            self.history.take(change.time_ms, (event,))
        self.seq = change.seq
        self._redraw()
        self._news.set()
        self._news = asyncio.Event()
        if any(getattr(event, "seat", self.match.seat) != self.match.seat for event in change.events):
            await self._pause(self.pace.move)

    async def _before(self, event: Event) -> None:
        """A trick or a round that is over stays a moment before it is cleared away."""
        if kind_of(type(event)) in TRICK_ENDS or isinstance(event, Scored):
            self._redraw()
            await self._pause(self.pace.trick)
        elif isinstance(event, RoundBegan):
            self._redraw()

    async def _pause(self, seconds: float) -> None:
        if seconds and self._waiting < BEHIND:
            await asyncio.sleep(seconds)

    async def reached(self, seq: int) -> None:
        """Until what is shown is as far as that entry."""
        while self.seq < seq and not self.match.over:
            await self._news.wait()
