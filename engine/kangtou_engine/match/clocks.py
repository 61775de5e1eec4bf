"""Who is asked, since which entry, until when, and what is left of each seat's time. docs/clocks.md.

Everything here follows from the entries of the log alone: a table, whoever takes it over, and a replay come to the
same. Time comes in as an argument, in Unix ms.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from ..cards import Seat
from ..notation import Note, Step
from .match import AnyState, Game

_T = TypeVar("_T")

DELEGATE, RETAKE, LAG, CLOCKS = "delegate", "retake", "lag", "clocks"  # words of notes


@dataclass(frozen=True, slots=True)
class Asked:
    """A seat's open question.

    number       the seq of the entry that put it
    deadline_ms  when all time is used and the default action follows
    own_ms       until then the question's own time runs, from then on the seat's bank
    turn         the seat is asked alone, in no window of several: only then its bank counts
    """

    number: int
    deadline_ms: int
    own_ms: int
    turn: bool = False


@dataclass(frozen=True, slots=True)
class Ledger:
    """What is kept of each seat's time over the match.

    bank_ms    left of its time bank
    credit_ms  lag that can still be given back to it
    late       turns in a row that its clock has played
    away       why a substitute plays for it (timeouts, left, asked); "": it plays itself
    """

    bank_ms: tuple[int, ...]
    credit_ms: tuple[int, ...]
    late: tuple[int, ...]
    away: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Clock:
    """The clock settings of a table, times in ms.

    `window_ms` 0: the table chose none. Then people have the game's own in the phases of `windows`; a bot never has,
    for it could lose its answer by a clock made for people.

    bank_ms, increment_ms   time bank of a seat for the match; what each of its own turns adds to it
    lag_ms, lag_match_ms    measured lag that is given back, at most, for one action and in the match
    late_most               turns in a row played by the clock that hand a person's seat to a substitute; 0: never
    """

    turn_ms: int
    window_ms: int
    windows: Mapping[str, int] = field(default_factory=dict)
    people: frozenset[Seat] = frozenset()
    bank_ms: int = 0
    increment_ms: int = 0
    lag_ms: int = 0
    lag_match_ms: int = 0
    late_most: int = 0

    def time(self, phase: str, to_act: Collection[Seat], seat: Seat) -> int:
        """What one of the seats that are asked has for this question, its bank aside."""
        if len(to_act) == 1 and phase not in self.windows:
            return self.turn_ms
        short = self.windows.get(phase, 0) if seat in self.people else 0
        return self.window_ms or short or self.turn_ms

    def fresh(self, seats: int) -> Ledger:
        """The ledger at the match's beginning."""
        return Ledger((self.bank_ms,) * seats, (self.lag_match_ms,) * seats, (0,) * seats, ("",) * seats)

    def ledger(self, seats: int) -> Ledger | None:
        """The same, None where nothing needs to be kept: a table of bots with plain clocks pays nothing for it."""
        plain = not (self.bank_ms or self.increment_ms or self.lag_ms or (self.late_most and self.people))
        return None if plain else self.fresh(seats)


@dataclass(frozen=True, slots=True)
class Prompts:
    """The open questions and the clocks by seat. An immutable value: a draft may be dropped."""

    asked: tuple[Asked | None, ...]
    token: Hashable = None
    ledger: Ledger | None = None

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
                old = self._put(seq, time_ms, clock, state.phase, to_act, seat)
            asked[seat] = old
        return Prompts(tuple(asked), token, self.ledger)

    def _put(self, seq: int, time_ms: int, clock: Clock, phase: str, to_act: Collection[Seat], seat: Seat) -> Asked:
        """A question put to a seat."""
        if len(to_act) != 1 or phase in clock.windows:
            own_ms = time_ms + clock.time(phase, to_act, seat)
            return Asked(seq, own_ms, own_ms)
        own_ms = time_ms + clock.turn_ms
        return Asked(seq, own_ms + self.ledger.bank_ms[seat] if self.ledger is not None else own_ms, own_ms, True)

    def given(self, ms: int) -> Prompts:
        """All deadlines later: time in which the table could take no move is given back."""
        if not ms:
            return self
        later = (one and Asked(one.number, one.deadline_ms + ms, one.own_ms + ms, one.turn) for one in self.asked)
        return Prompts(tuple(later), self.token, self.ledger)

    def due(self, now_ms: int) -> tuple[Seat, ...]:
        """The seats whose time has run out."""
        return tuple(seat for seat, one in enumerate(self.asked) if one and one.deadline_ms <= now_ms)

    def next_deadline(self) -> int | None:
        """The earliest deadline in Unix ms."""
        return min((one.deadline_ms for one in self.asked if one), default=None)

    # ---- the ledger ----

    def away(self, seat: Seat) -> str:
        """Why a substitute plays for a seat; "" if none does."""
        return self.ledger.away[seat] if self.ledger is not None else ""

    def bank_left(self, seat: Seat, now_ms: int) -> int:
        """What is left of a seat's bank now."""
        if self.ledger is None:
            return 0
        bank_ms, asked = self.ledger.bank_ms[seat], self.asked[seat]
        if asked is None or not asked.turn or self.ledger.away[seat]:
            return bank_ms
        return max(0, bank_ms - max(0, now_ms - asked.own_ms))

    def lag(self, seat: Seat, measured_ms: int, clock: Clock) -> int:
        """How much of the measured lag may be given back to a seat for its next action."""
        ledger = self.ledger
        if ledger is None or ledger.away[seat]:
            return 0
        return max(0, min(measured_ms, clock.lag_ms, ledger.credit_ms[seat]))

    def acts(self, step: Step, time_ms: int, lag_ms: int, clock: Clock) -> Prompts:
        """What an accepted action takes from the ledger, or the clock's for a seat: before `after`.

        `lag_ms` is what the entry gives back for it. A substitute's answers leave the owner's time alone; a standing
        answer is the owner's, but no sign that somebody is there.
        """
        ledger = self.ledger
        if ledger is None:
            return self
        if not step.acted or ledger.away[step.acted[0]]:
            return self
        seat = step.acted[0]
        asked = self.asked[seat]
        turn = asked is not None and asked.turn
        bank_ms, missed = ledger.bank_ms[seat], ledger.late[seat]
        if step.seat is None:
            bank_ms, missed = (0, missed + 1) if turn else (bank_ms, missed)
        else:
            if asked is not None and turn:
                bank_ms = max(0, bank_ms - max(0, time_ms - asked.own_ms - lag_ms)) + clock.increment_ms
            missed = 0 if step.command != "*" else missed
        changed = replace(
            ledger,
            bank_ms=_put(ledger.bank_ms, seat, bank_ms),
            credit_ms=_put(ledger.credit_ms, seat, max(0, ledger.credit_ms[seat] - lag_ms)),
            late=_put(ledger.late, seat, missed),
        )
        return Prompts(self.asked, self.token, changed)

    def noted(self, note: Note, clock: Clock) -> Prompts:
        """What a note says of the ledger. Those of other words say nothing of it. Raises ValueError."""
        if note.word not in (DELEGATE, RETAKE, CLOCKS):
            return self
        ledger = self.ledger or clock.fresh(len(self.asked))
        if note.word == CLOCKS:
            return Prompts(self.asked, self.token, ledger_of(note, len(self.asked)))
        seat = int(note.key("seat"))
        cause = note.key("cause") if note.word == DELEGATE else ""
        changed = replace(ledger, away=_put(ledger.away, seat, cause), late=_put(ledger.late, seat, 0))
        return Prompts(self.asked, self.token, changed)


def _put(values: tuple[_T, ...], place: int, value: _T) -> tuple[_T, ...]:
    return values if values[place] == value else (*values[:place], value, *values[place + 1 :])


# ---- the ledger in the log ----


def ledger_note(ledger: Ledger) -> Note:
    """A ledger as the entry in which a round begins says it again, so that a loader need not read further back."""
    texts = [",".join(map(str, values)) for values in (ledger.bank_ms, ledger.credit_ms, ledger.late)]
    away = ",".join(cause or "-" for cause in ledger.away)
    return Note(CLOCKS, tuple(zip(("bank", "credit", "late", "away"), (*texts, away), strict=True)))


def ledger_of(note: Note, seats: int) -> Ledger:
    """A ledger that was said again. Raises ValueError."""
    bank, credit, late = (tuple(map(int, note.key(name).split(","))) for name in ("bank", "credit", "late"))
    away = tuple("" if cause == "-" else cause for cause in note.key("away").split(","))
    if {len(bank), len(credit), len(late), len(away)} != {seats}:
        raise ValueError("not as many clocks as seats")
    return Ledger(bank, credit, late, away)
