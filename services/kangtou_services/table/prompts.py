"""Which seats are asked, since which entry, until when. Design §4 "Commands", §5 "Prompts"."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass, field

from kangtou_engine.cards import Seat
from kangtou_engine.match.match import AnyState, Game


@dataclass(frozen=True, slots=True)
class Asked:
    """A seat's open question: its number (the seq of the entry that put it) and the deadline in Unix ms."""

    number: int
    deadline_ms: int


@dataclass(frozen=True, slots=True)
class Clock:
    """Milliseconds that a seat has: alone, and in a window with others.

    `window_ms` 0: the table chose none. Then people have the game's own in the phases of `windows`; a bot never has,
    for it could lose its answer by a clock made for people.
    """

    turn_ms: int
    window_ms: int
    windows: Mapping[str, int] = field(default_factory=dict)
    people: frozenset[Seat] = frozenset()

    def time(self, phase: str, to_act: Collection[Seat], seat: Seat) -> int:
        """What one of the seats that are asked has."""
        if len(to_act) == 1 and phase not in self.windows:
            return self.turn_ms
        short = self.windows.get(phase, 0) if seat in self.people else 0
        return self.window_ms or short or self.turn_ms


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
        asked: list[Asked | None] = [None] * len(self.asked)
        for seat in to_act:
            old = self.asked[seat]
            if old is None or anew or seat in acted:
                old = Asked(seq, time_ms + clock.time(state.phase, to_act, seat))
            asked[seat] = old
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
