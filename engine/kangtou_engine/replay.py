"""Replaying a record from its events: any position, any seat's view, a spectator's, or everything open.

A position is how many moments have happened, from 0 to `len(moments)`. Nothing is decided again: the recorded events
are folded, so a record replays under rules that have changed since (`verify.py` runs the engine over the actions).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate

from .cards import Seat
from .errors import BadOptions
from .events import Event, from_text
from .match.events import RoundBegan
from .match.match import AnyState, Game
from .match.state import Config
from .record import Moment, Record, Terms, moments_of
from .record.moments import first_of
from .registry import Registry

OPEN = "open"
Who = Seat | str | None  # a seat, None: a spectator, OPEN: everything


def find_game(registry: Registry, record: Record) -> tuple[Game, bool] | None:
    """The game that reads this record, and whether it is the very rules version; None if nothing here can read it."""
    return find_game_by_terms(registry, record.head.terms)


def find_game_by_terms(registry: Registry, terms: Terms) -> tuple[Game, bool] | None:
    """The same from what was agreed."""
    for version in (terms.version, None):
        try:
            game = registry.game(terms.game, version)
            game.config(terms.options, len(terms.seats))
        except BadOptions:
            continue
        return game, version is not None
    return None


class Replay:
    """One record with its game. Raises BadText where an event is none of the game's."""

    def __init__(self, game: Game, record: Record) -> None:
        self.game = game
        self.record = record
        self.config: Config = game.config(record.head.terms.options, len(record.head.terms.seats))
        self.moments = moments_of(record)
        self._starts = [moment.number for moment in self.moments if _begins_round(moment)]
        self._latest = list(accumulate((moment.time_ms for moment in self.moments), max))  # clocks of owners differ
        self._last: tuple[int, AnyState] = (0, game.before(self.config))
        self._events: dict[int, tuple[Event, ...]] = {}

    def events(self, number: int) -> tuple[Event, ...]:
        """What one moment caused, open."""
        found = self._events.get(number)
        if found is None:
            lines = self.moments[number].events
            found = self._events[number] = tuple(from_text(self.game.events, line) for line in lines)
        return found

    def seen(self, number: int, who: Who) -> tuple[Event, ...]:
        """The same as it was sent to a seat or a spectator."""
        events = self.events(number)
        if who == OPEN:
            return events
        seat = _seat(who)
        return tuple(event.seen_by(seat) for event in events)

    def state(self, position: int) -> AnyState:
        """The whole state at a position; folded from the beginning of its round, or on from where it was asked last."""
        start, state = self._from(position)
        for number in range(start, position):
            state = self._after(state, self.events(number))
        self._last = (position, state)
        return state

    def view(self, position: int, who: Who) -> AnyState:
        """The view at a position: the table would have built it so."""
        state = self.state(position)
        return state if who == OPEN else self.game.view(state, _seat(who))

    def find(self, round_: int, trick: int = 1) -> int:
        """The position at which that trick of that round begins; the end if there is no such."""
        return first_of(self.moments, round_, trick)

    def find_seq(self, seq: int) -> int:
        """The position right after the entry of that sequence number."""
        return bisect_right(self.moments, seq, key=lambda moment: moment.seq)

    def find_time(self, time_ms: int) -> int:
        """The position right before the first moment that was later."""
        return bisect_right(self._latest, time_ms)

    def round_start(self, position: int) -> int:
        """The number of the moment in which the round of a position began; 0 before the first."""
        place = bisect_left(self._starts, position)
        return self._starts[place - 1] if place else 0

    def _from(self, position: int) -> tuple[int, AnyState]:
        start = self.round_start(position)
        if start <= self._last[0] <= position:
            return self._last
        return start, self.game.before(self.config)

    def _after(self, state: AnyState, events: Sequence[Event]) -> AnyState:
        for place in range(len(events) - 1, -1, -1):
            event = events[place]
            if isinstance(event, RoundBegan):  # holds all that carries over, whatever came before it
                return self.game.fold(events[place + 1 :], self.game.begun(state, event))
        return self.game.fold(events, state)


def _begins_round(moment: Moment) -> bool:
    return any(event.startswith("round_began ") for event in moment.events)


def _seat(who: Who) -> Seat | None:
    if isinstance(who, str):
        raise TypeError(f"not a viewer: {who!r}")
    return who
