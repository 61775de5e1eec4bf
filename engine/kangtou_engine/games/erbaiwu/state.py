"""The table as data, and what a seat sees of it. EB-3, EB-11."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from ...cards import HIDDEN, Card, Cards, Seat, hidden
from ...match.state import BETWEEN, OVER, SCORED, State
from .pack import PLACE, RANKS, SAME_RANK, SEVEN, meant

HIGH, LOW = "high", "low"
SIDES = (HIGH, LOW)


@dataclass(frozen=True, slots=True)
class Run:
    """A shown seven and what is attached to it, on each side from the seven outwards. EB-3.4.

    A lock holds the two cards that lie across the end of its side, or nothing. EB-5.4
    """

    suit: str
    high: Cards = ()
    low: Cards = ()
    high_lock: Cards = ()
    low_lock: Cards = ()


@dataclass(frozen=True, slots=True)
class Area:
    """The show area, shared by all, and the black cards of the round. EB-3.3.

    runs    one for each shown seven, suits in the order S H C D
    sets    melds and pongs in the order in which they were laid
    black   the cards that jokers have named in this round, canonical order (EB-6.3)
    """

    runs: tuple[Run, ...] = ()
    sets: tuple[Cards, ...] = ()
    black: Cards = ()


@dataclass(frozen=True, slots=True)
class Closed:
    """What lies face down.

    stock   in draw order (EB-3.1)
    pile    the discard pile from bottom to top, without a card that lies face up on it (EB-3.2)
    row     the discards so far while 跟牌 is still possible, known to the table alone (EB-9.6)
    """

    stock: Cards = ()
    pile: Cards = ()
    row: Cards = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """Whose go it is; in a window, whose discard it is about.

    number  counts what the seats in turn did in this round
    drawn   the card that the seat has just drawn
    passed  who has passed in this window, ascending (EB-11.4)
    done    how the turn has ended, if it has: `kept`, `dumped` or `settled`
    """

    seat: Seat = 0
    number: int = 0
    drawn: Card | None = None
    passed: tuple[int, ...] = ()
    done: str = ""


@dataclass(frozen=True, slots=True)
class Round:
    """The game's own state: one round.

    top     the last discard while it lies face up (EB-11.3)
    extras  penalties noted in this round, by seat (EB-9.5)
    """

    hands: tuple[Cards, ...]
    closed: Closed
    area: Area
    turn: Turn
    top: Card | None
    extras: tuple[int, ...]


Position: TypeAlias = "State[Round]"


def blank(seats: int) -> Round:
    """A round before the deal: nobody has a card. EB-11.6."""
    return Round(((),) * seats, Closed(), Area(), Turn(), None, (0,) * seats)


def run_of(area: Area, suit: str) -> Run | None:
    """The run of a suit, if its seven lies shown."""
    for run in area.runs:
        if run.suit == suit:
            return run
    return None


def from_low_to_high(run: Run) -> Cards:
    """All cards of a run in order: `D6 D7 D8 BJ=D9`."""
    return (*reversed(run.low), run.suit + RANKS[SEVEN], *run.high)


def lying(area: Area) -> Cards:
    """All that lies in the show area, jokers with names."""
    laid: list[str] = []
    for run in area.runs:
        laid += (*from_low_to_high(run), *run.low_lock, *run.high_lock)
    for cards in area.sets:
        laid += cards
    return tuple(laid)


def side_of(card: Card) -> str:
    """The side of its run on which a card belongs. EB-3.4."""
    return HIGH if PLACE[card] > SEVEN else LOW


def attached(run: Run, side: str) -> Cards:
    """The cards on one side, from the seven outwards."""
    return run.high if side == HIGH else run.low


def lock_of(run: Run, side: str) -> Cards:
    """The two cards that lock a side, or nothing."""
    return run.high_lock if side == HIGH else run.low_lock


def next_card(run: Run, side: str) -> Card | None:
    """The card that can be attached on a side; None if it is locked or full. EB-5.3."""
    if lock_of(run, side):
        return None
    place = SEVEN + 1 + len(run.high) if side == HIGH else SEVEN - 1 - len(run.low)
    return run.suit + RANKS[place] if 0 <= place < len(RANKS) else None


def open_end(run: Run, side: str) -> Card | None:
    """The end card of a side, as the card it is, if the side can be locked. EB-5.4."""
    cards = attached(run, side)
    return cards[-1][-2:] if cards and not lock_of(run, side) else None


def fourth(group: Cards) -> Card:
    """The one card of the rank that a group lacks. EB-3.6."""
    there = meant(group)
    return next(card for card in SAME_RANK[there[0]] if card not in there)


def groups(area: Area) -> dict[Card, Cards]:
    """The groups that lie shown, by their fourth card. EB-3.6."""
    found = {fourth(group): group for group in area.sets}
    for run in area.runs:
        if run.high_lock:
            group = (run.high[-1], *run.high_lock)
            found[fourth(group)] = group
        if run.low_lock:
            group = (run.low[-1], *run.low_lock)
            found[fourth(group)] = group
    return found


def view(state: Position, seat: Seat | None) -> Round:
    """What one seat (None: a spectator) may see. EB-11."""
    own, turn, closed = state.game, state.game.turn, state.game.closed
    ended = state.phase in (SCORED, BETWEEN, OVER)  # EB-11.5
    hands = tuple(hand if ended or owner == seat else hidden(len(hand)) for owner, hand in enumerate(own.hands))
    readable = ended or state.config.options.open_discards  # EB-11.3
    pile = closed.pile if readable else hidden(len(closed.pile))
    drawn = turn.drawn if turn.drawn is None or turn.seat == seat else HIDDEN  # EB-11.2
    return Round(
        hands,
        Closed(hidden(len(closed.stock)), pile, ()),
        own.area,
        Turn(turn.seat, turn.number, drawn, turn.passed, turn.done),
        own.top,
        own.extras,
    )
