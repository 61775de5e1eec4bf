"""A place in a record: step, seek, play at a pace, from any viewer's side. One player, one reader.

    player = Player(Replay(game, record), who=0)
    player.seek("2:3")
    async for number in player.play(speed=4):
        draw(player.view)

A position is how many moments have happened, 0 to `length`. The viewer can be changed anywhere and keeps the place.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Protocol

from kangtou_engine.cards import Seat
from kangtou_engine.events import Event
from kangtou_engine.game import Legal
from kangtou_engine.match.match import LIST_LIMIT, AnyState
from kangtou_engine.record import Moment
from kangtou_engine.replay import OPEN, Replay, Who

from .clocks import Question, Thought, Times
from .places import position_of

LONGEST_WAIT_S = 10.0


class Clock(Protocol):
    """Where `play` takes its time from; tests give one of their own."""

    def now(self) -> float:
        """Seconds, from any beginning."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


class WallClock:
    """The clock of this machine."""

    def now(self) -> float:
        """See Clock."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """See Clock."""
        await asyncio.sleep(seconds)


class Player:
    """See the module. `speed` 1 is as it was played, 10 ten times as fast, 0 without waiting; it may change any time.

    No wait is longer than `longest_s`, whatever happened at the table then.
    """

    def __init__(
        self, replay: Replay, who: Who = OPEN, position: int = 0, *, longest_s: float = LONGEST_WAIT_S
    ) -> None:
        self.replay = replay
        self.longest_s = longest_s
        self.speed = 1.0
        self.playing = False
        self._who: Who = OPEN
        self._position = 0
        self._times = Times(replay)
        self.look(who)
        self.go(position)

    # ---- where ----

    @property
    def position(self) -> int:
        """How many moments have happened."""
        return self._position

    @property
    def length(self) -> int:
        """How many there are."""
        return len(self.replay.moments)

    @property
    def last(self) -> Moment | None:
        """What happened last; None at the beginning."""
        return self.replay.moments[self._position - 1] if self._position else None

    @property
    def next(self) -> Moment | None:
        """What comes next; None at the end."""
        return self.replay.moments[self._position] if self._position < self.length else None

    @property
    def since_ms(self) -> int:
        """How long after the first moment this is."""
        last = self.last
        return last.time_ms - self.replay.moments[0].time_ms if last else 0

    def go(self, position: int) -> None:
        """To a position; one outside the record is its beginning or end."""
        self._position = min(max(position, 0), self.length)

    def seek(self, place: str) -> None:
        """To a place as people write it (places.py). Raises NoPlace, and stays."""
        self._position = position_of(self.replay, place)

    def forward(self) -> Moment | None:
        """One moment on: what happened; None at the end."""
        found = self.next
        self._position += found is not None
        return found

    def back(self) -> Moment | None:
        """One moment back: what has not happened any more; None at the beginning."""
        found = self.last
        self._position -= found is not None
        return found

    # ---- from whose side ----

    @property
    def who(self) -> Who:
        """A seat, None for a spectator, OPEN."""
        return self._who

    def look(self, who: Who) -> None:
        """From another side, at the same place. Raises ValueError for a seat that the table does not have."""
        if who is not None and who != OPEN and not (isinstance(who, int) and 0 <= who < self.replay.config.seats):
            raise ValueError(f"nobody sees it as {who!r}")
        self._who = who

    @property
    def view(self) -> AnyState:
        """What the viewer sees here: as the table would have built it."""
        return self.replay.view(self._position, self._who)

    def seen(self, number: int) -> tuple[Event, ...]:
        """What a moment caused, as it was sent to this viewer."""
        return self.replay.seen(number, self._who)

    # ---- who may do what ----

    def to_act(self) -> tuple[Seat, ...]:
        """The seats that were asked here."""
        state = self.replay.state(self._position)
        return () if self._ended() else self.replay.game.to_act(state)

    def legal(self, seat: Seat, limit: int = LIST_LIMIT) -> Legal:
        """What a seat could have done here. Raises ValueError if this viewer does not see that seat's hand."""
        if self._who not in (OPEN, seat):
            raise ValueError(f"the hand of seat {seat} is closed to this viewer")
        if self._ended():
            return ()
        return self.replay.game.legal(self.replay.state(self._position), seat, limit)

    def _ended(self) -> bool:
        return self.last is not None and bool(self.last.cause)

    def asked(self) -> tuple[Question | None, ...]:
        """The open questions here, by seat, with their clocks."""
        return self._times.asked(self._position)

    def thought(self, number: int) -> Thought | None:
        """How long a moment's seat had thought; None where nobody did."""
        return self._times.thought(number)

    # ---- playing ----

    async def play(
        self, speed: float | None = None, *, until: int | None = None, clock: Clock | None = None
    ) -> AsyncIterator[int]:
        """Moments from here on, each when its time has come: gives its number, with the place right after it.

        Ends at `until`, at the end, or after `pause`. Seeking meanwhile goes on from there.
        """
        if speed is not None:
            self.speed = speed
        timer = clock or WallClock()
        end = self.length if until is None else min(until, self.length)
        self.playing = True
        due = timer.now()
        try:
            while self._position < end:
                here = self._position
                due = max(due + self.wait_s(here), timer.now() - self.longest_s)  # no rush after a long stop
                await timer.sleep(max(0.0, due - timer.now()))
                if not self.playing:
                    return
                if self._position != here:
                    due = timer.now()
                    continue
                self.forward()
                yield here
        finally:
            self.playing = False

    def pause(self) -> None:
        """Let `play` end before the next moment."""
        self.playing = False

    def wait_s(self, number: int) -> float:
        """How long a moment is waited for at this speed."""
        if not number or not self.speed:
            return 0.0
        moments = self.replay.moments
        passed = max(0, moments[number].time_ms - moments[number - 1].time_ms) / 1000
        return min(passed / self.speed, self.longest_s)
