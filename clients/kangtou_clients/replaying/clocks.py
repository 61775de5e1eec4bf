"""Who was asked since when, and how long each thought: worked out from the record as the table had it.

A seat's question is numbered by the entry that put it, and an action names the number that it answers; so what is
worked out here for open questions is checked by what the record says of answered ones (tested over all games). Time
that was given back to the clocks, because the table could take no move, is nobody's thinking.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable
from dataclasses import dataclass
from itertools import accumulate

from kangtou_engine.cards import Seat
from kangtou_engine.match.match import AnyState
from kangtou_engine.notation import BY_STANDING, Left, Step
from kangtou_engine.record import Moment
from kangtou_engine.replay import Replay


@dataclass(frozen=True, slots=True)
class Asked:
    """A seat's open question: its number, since when (Unix ms, with what was given back), the clock it had (ms).

    `limit_ms` is what the table's clocks say; 0: the record does not tell (the game's own window clock).
    """

    number: int
    since_ms: int
    limit_ms: int


@dataclass(frozen=True, slots=True)
class Thought:
    """How long a seat took for what it did, in ms, and the clock that it had; `late`: its time had run out."""

    seat: Seat
    ms: int
    limit_ms: int
    late: bool = False


@dataclass(frozen=True, slots=True)
class _Questions:
    asked: tuple[Asked | None, ...]
    token: Hashable = None


class Times:
    """The clocks of one record. Worked out a round at a time: every round puts all its questions anew."""

    def __init__(self, replay: Replay) -> None:
        self._replay = replay
        terms = replay.record.head.terms
        self._turn_ms, self._window_ms = terms.turn_ms, terms.window_ms
        self._windows = replay.game.spec.window_ms(replay.config)
        self._people = frozenset(seat for seat, place in enumerate(terms.seats) if place.kind == "human")
        self._nobody = _Questions((None,) * replay.config.seats)
        self._given = list(accumulate(entry.body.given_ms for entry in replay.record.entries))
        self._round: tuple[int, list[_Questions]] = (0, [self._nobody])

    def asked(self, position: int) -> tuple[Asked | None, ...]:
        """The open questions at a position, by seat."""
        return self._questions(position).asked

    def thought(self, number: int) -> Thought | None:
        """What a moment took its seat; None where nobody had to think: the deal, a standing answer, the end."""
        return _thought(self._replay.moments[number], self._later(number))

    def _questions(self, position: int) -> _Questions:
        """Those right after a moment; the round is remembered that was asked about last."""
        start = self._replay.round_start(position)
        if start != self._round[0]:
            self._round = (start, [self._nobody])
        known = self._round[1]
        for number in range(start + len(known) - 1, position):
            moment = self._replay.moments[number]
            before = self._later(number, known[-1])
            if moment.cause:
                known.append(self._nobody)
            elif isinstance(moment.item, Left):
                known.append(before)
            else:
                known.append(self._after(before, self._replay.state(number + 1), _acted(moment), moment))
        return known[position - start]

    def _later(self, number: int, found: _Questions | None = None) -> _Questions:
        """The questions right before a moment, with what its entry and takeovers since the one before gave back."""
        found = found or self._questions(number)
        if not number:
            return found
        seqs = [self._replay.moments[at].seq for at in (number - 1, number)]
        first = self._replay.record.entries[0].seq
        return _given(found, self._given[seqs[1] - first] - self._given[seqs[0] - first])

    def _after(self, before: _Questions, state: AnyState, acted: Collection[Seat], moment: Moment) -> _Questions:
        """As the table numbers its questions: anew for who was not asked, has acted, or must decide anew."""
        game = self._replay.game
        to_act, token = game.to_act(state), game.asked(state)
        asked: list[Asked | None] = [None] * len(before.asked)
        for seat in to_act:
            old = before.asked[seat]
            if old is None or token != before.token or seat in acted:
                old = Asked(moment.seq, moment.time_ms, self._limit(state.phase, to_act, seat))
            asked[seat] = old
        return _Questions(tuple(asked), token)

    def _limit(self, phase: str, to_act: Collection[Seat], seat: Seat) -> int:
        if len(to_act) == 1 and phase not in self._windows:
            return self._turn_ms
        own = self._windows.get(phase, 0) if seat in self._people else 0
        return self._window_ms or own or self._turn_ms


def _given(before: _Questions, ms: int) -> _Questions:
    if not ms:
        return before
    later = tuple(one and Asked(one.number, one.since_ms + ms, one.limit_ms) for one in before.asked)
    return _Questions(later, before.token)


def _acted(moment: Moment) -> tuple[Seat, ...]:
    item = moment.item
    if not isinstance(item, Step):
        return ()
    if item.seat is not None:
        return (item.seat,)
    late = item.action.key("seat")
    return (int(late),) if late else ()


def _thought(moment: Moment, before: _Questions) -> Thought | None:
    item = moment.item
    if not isinstance(item, Step) or item.command == BY_STANDING:
        return None
    for seat in _acted(moment):
        asked = before.asked[seat]
        if asked is not None:
            ms = max(0, moment.time_ms - asked.since_ms)
            return Thought(seat, ms, asked.limit_ms, late=item.seat is None)
    return None
