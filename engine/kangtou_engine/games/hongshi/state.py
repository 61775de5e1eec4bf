"""The state of a round of Hongshi, in small parts. HS-2, HS-4, HS-7, HS-13.

The same type serves for the table (everything known) and for views: there hands are hidden, and `up`, `dealt`
and `past` are None until the round is shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from ...cards import Cards, Seat
from ...match.state import State
from .combos import RED_TENS

SEATS = 4  # HS-1.2
REVEAL, PLAY = "reveal", "play"


@dataclass(frozen=True, slots=True)
class Laid:
    """What a seat did in its turn: cards laid down, or () for a pass. `as_ten`: HS-5.5."""

    seat: Seat
    cards: Cards
    as_ten: bool = False


@dataclass(frozen=True, slots=True)
class Sides:
    """Who belongs together, and what of it is known. HS-4.1, HS-4.3, HS-13.4.

    up        the seats of the up side, ascending; () before the deal, None in views of a round in play
    revealed  by seat, the tens that it has revealed
    known     publicly known up seats, ascending
    """

    up: tuple[int, ...] | None
    revealed: tuple[Cards, ...]
    known: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Past:
    """What is shown only when the round has ended: hands as dealt, everything laid down. HS-13.3, HS-13.5."""

    dealt: tuple[Cards, ...] | None = ()
    laid: tuple[Laid, ...] | None = ()


@dataclass(frozen=True, slots=True)
class Own:
    """The game's own part of the state.

    hands      in canonical order
    turn       whose turn it is in `play`
    trick      the current trick: plays and passes since the lead (HS-13.1)
    out        seats that are out, in order (HS-7.1); after the score the place order (HS-8.2)
    opening    the next play must hold the opening card (HS-6.2)
    answered   by seat in `reveal`: has it answered the question as it now stands (HS-4.4)
    penalties  by seat, in this match (HS-11.2)
    """

    hands: tuple[Cards, ...]
    turn: Seat
    trick: tuple[Laid, ...]
    out: tuple[int, ...]
    opening: bool
    answered: tuple[bool, ...]
    sides: Sides
    past: Past
    penalties: tuple[int, ...]


Hongshi: TypeAlias = "State[Own]"


def top_of(own: Own) -> Laid | None:
    """The play to beat, None if the seat in turn leads."""
    for laid in reversed(own.trick):
        if laid.cards:
            return laid
    return None


def next_in(seat: Seat, out: tuple[int, ...]) -> Seat:
    """The next seat in order that is not out. HS-6.5."""
    seat = (seat + 1) % SEATS
    while seat in out:
        seat = (seat + 1) % SEATS
    return seat


def is_open(own: Own) -> bool:
    """Whether both red tens were revealed: the up side is the open side. HS-4.6."""
    return sum(card in RED_TENS for cards in own.sides.revealed for card in cards) == len(RED_TENS)
