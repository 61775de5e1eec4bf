"""Which seats are asked, since which entry, until when. Design §4 "Commands", §5 "Prompts"."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from dataclasses import dataclass

from kangtou_engine.cards import Seat
from kangtou_engine.match.match import AnyState, Game


@dataclass(frozen=True, slots=True)
class Asked:
    """A seat's open question: its number (the seq of the entry that put it) and the deadline in Unix ms."""

    number: int
    deadline_ms: int


@dataclass(frozen=True, slots=True)
class Clock:
    """Milliseconds that a seat has: alone, and in a window with others."""

    turn_ms: int
    window_ms: int


@dataclass(frozen=True, slots=True)
class Prompts:
    """The open questions by seat. An immutable value: a draft may be dropped."""

    asked: tuple[Asked | None, ...]
    token: Hashable = None

    def after(
        self,
        game: Game,
        state: AnyState,
        acted: Collection[Seat],
        *,
        seq: int,
        time_ms: int,
        clock: Clock,
    ) -> Prompts:
        """The questions after something happened in entry `seq`.

        A seat gets a new number when it was not asked before, has just acted, or must decide anew; another seat's
        answer in the same window changes nothing for it.
        """
        to_act = game.to_act(state)
        token = game.asked(state)
        anew = token != self.token
        time = clock.window_ms if len(to_act) > 1 else clock.turn_ms
        fresh = Asked(seq, time_ms + time)
        asked: list[Asked | None] = [None] * len(self.asked)
        for seat in to_act:
            old = self.asked[seat]
            asked[seat] = fresh if old is None or anew or seat in acted else old
        return Prompts(tuple(asked), token)

    def given(self, ms: int) -> Prompts:
        """All deadlines later: time in which the table could take no move is given back."""
        if not ms:
            return self
        return Prompts(tuple(one and Asked(one.number, one.deadline_ms + ms) for one in self.asked), self.token)

    def due(self, now_ms: int) -> tuple[Seat, ...]:
        """The seats whose time has run out."""
        return tuple(seat for seat, one in enumerate(self.asked) if one and one.deadline_ms <= now_ms)

    def next_deadline(self) -> int | None:
        """The earliest deadline in Unix ms."""
        return min((one.deadline_ms for one in self.asked if one), default=None)
