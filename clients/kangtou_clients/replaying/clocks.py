"""Who was asked since when, and how long each thought: worked out from the record as the table had it.

The questions and clocks are the engine's (`match/clocks.py`), folded over the record as a table folds them that loads
its log: a round at a time, since every round puts all its questions anew. Time that was given back to the clocks,
because the table could take no move, is nobody's thinking.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

from kangtou_engine.cards import Seat
from kangtou_engine.match.clocks import CLOCKS, LAG, Clock, Prompts
from kangtou_engine.match.match import AnyState
from kangtou_engine.notation import BY_STANDING, Left, Note, Step
from kangtou_engine.record import Moment
from kangtou_engine.replay import Replay


@dataclass(frozen=True, slots=True)
class Question:
    """A seat is asked: by which entry, since when (Unix ms, with what was given back), with which clock (ms).

    bank_ms      of the seat when it was asked; 0 where the table has none, or it does not count
    """

    number: int
    since_ms: int
    limit_ms: int
    bank_ms: int = 0


@dataclass(frozen=True, slots=True)
class Thought:
    """How long a seat took for what it did, in ms, and the clock that it had; `late`: its time had run out."""

    seat: Seat
    ms: int
    limit_ms: int
    bank_ms: int = 0
    late: bool = False


@dataclass(frozen=True, slots=True)
class _Open:
    """The questions after a moment; `since` by seat, `lag_ms` is given back for the action that follows."""

    prompts: Prompts
    since: tuple[int, ...]
    lag_ms: int = 0

    def given(self, ms: int) -> _Open:
        return _Open(self.prompts.given(ms), tuple(at + ms for at in self.since), self.lag_ms) if ms else self


class Times:
    """The clocks of one record."""

    def __init__(self, replay: Replay) -> None:
        self._replay = replay
        terms, game = replay.record.head.terms, replay.game
        self.clock = Clock(
            terms.turn_ms,
            terms.window_ms,
            game.spec.window_ms(replay.config),
            frozenset(seat for seat, place in enumerate(terms.seats) if place.kind == "human"),
            terms.bank_ms,
            terms.increment_ms,
            terms.lag_ms,
            terms.lag_match_ms,
            terms.late_most,
        )
        seats = replay.config.seats
        self._none = _Open(Prompts((None,) * seats, None, self.clock.ledger(seats)), (0,) * seats)
        self._given = list(accumulate(entry.body.given_ms for entry in replay.record.entries))
        self._round: tuple[int, list[_Open]] = (-1, [])

    def asked(self, position: int) -> tuple[Question | None, ...]:
        """The open questions at a position, by seat."""
        found = self._open(position)
        return tuple(_question(found, seat) for seat in range(len(found.since)))

    def banks_ms(self, position: int) -> tuple[int, ...] | None:
        """What was left of each seat's time bank; None at a table without."""
        ledger = self._open(position).prompts.ledger
        return ledger.bank_ms if ledger is not None and self.clock.bank_ms else None

    def away(self, position: int) -> tuple[str, ...]:
        """Why a substitute played for a seat, by seat; "" where its owner did."""
        prompts = self._open(position).prompts
        return tuple(map(prompts.away, range(len(prompts.asked))))

    def thought(self, number: int) -> Thought | None:
        """What a moment took its seat; None where nobody had to think: the deal, a standing answer, the end."""
        moment = self._replay.moments[number]
        item = moment.item
        if not isinstance(item, Step) or item.command == BY_STANDING:
            return None
        for seat in item.acted:
            asked = _question(self._later(number, self._open(number)), seat)
            if asked is not None:
                ms = max(0, moment.time_ms - asked.since_ms)
                return Thought(seat, ms, asked.limit_ms, asked.bank_ms, late=item.seat is None)
        return None

    # ---- folding ----

    def _open(self, position: int) -> _Open:
        """The questions at a position; the round that was asked about last is remembered."""
        start = self._replay.round_start(position)
        if start != self._round[0]:
            self._round = (start, [self._said(start)])
        known = self._round[1]
        for number in range(start + len(known) - 1, position):
            known.append(self._after(self._later(number, known[-1]), number))
        return known[position - start]

    def _said(self, start: int) -> _Open:
        """Before a round begins: what its first entry says of the clocks."""
        moments = self._replay.moments
        for number in range(start, len(moments)):
            item = moments[number].item
            if moments[number].seq != moments[start].seq:
                break
            if isinstance(item, Note) and item.word == CLOCKS:
                return _Open(self._none.prompts.noted(item, self.clock), self._none.since)
        return self._none

    def _later(self, number: int, found: _Open) -> _Open:
        """Right before a moment: with what its entry, and takeovers since the moment before, gave back."""
        if not number:
            return found
        first = self._replay.record.entries[0].seq
        before, here = (self._given[self._replay.moments[at].seq - first] for at in (number - 1, number))
        return found.given(here - before)

    def _after(self, before: _Open, number: int) -> _Open:
        moment = self._replay.moments[number]
        item, prompts = moment.item, before.prompts
        if moment.cause:
            return self._none
        if isinstance(item, Left):
            return before
        if isinstance(item, Note):
            lag_ms = int(item.key("ms")) if item.word == LAG else 0
            return _Open(prompts.noted(item, self.clock), before.since, lag_ms)
        begins = self._replay.round_start(number + 1) == number
        if item is not None and not begins:  # what that action took is in the clocks said behind it
            prompts = prompts.acts(item, moment.time_ms, before.lag_ms, self.clock)
        return self._asked(before, prompts, self._replay.state(number + 1), moment)

    def _asked(self, before: _Open, prompts: Prompts, state: AnyState, moment: Moment) -> _Open:
        acted = moment.item.acted if isinstance(moment.item, Step) else ()
        after = prompts.after(self._replay.game, state, acted, seq=moment.seq, time_ms=moment.time_ms, clock=self.clock)
        since = tuple(
            old if one is kept else moment.time_ms
            for old, one, kept in zip(before.since, after.asked, before.prompts.asked, strict=True)
        )
        return _Open(after, since)


def _question(found: _Open, seat: Seat) -> Question | None:
    asked = found.prompts.asked[seat]
    if asked is None:
        return None
    since_ms = found.since[seat]
    return Question(asked.number, since_ms, asked.own_ms - since_ms, asked.deadline_ms - asked.own_ms)
