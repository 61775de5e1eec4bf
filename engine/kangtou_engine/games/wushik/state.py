"""Wushik's own part of the state: hands, the trick, what is captured, who is out, what is announced. WK-6, WK-13."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from ...cards import Cards, Seat
from ...match.state import Config, State
from .combos import CARD_POINTS, Combo


@dataclass(frozen=True, slots=True)
class Trick:
    """The trick on the table.

    by, cards, combo  the play to beat, who made it, its reading (WK-3.12, WK-3.13)
    points            of all cards of the trick so far
    passed            who has passed since that play, in order (WK-6.4)
    laid              the plays so far with their seats, the play to beat last
    """

    by: Seat
    cards: Cards
    combo: Combo
    points: int
    passed: tuple[Seat, ...]
    laid: tuple[tuple[Seat, Cards], ...]


@dataclass(frozen=True, slots=True)
class Tally:
    """What changes once a trick: the order of going out, and the points captured, by seat. WK-6.4, WK-6.5."""

    out: tuple[Seat, ...]
    captured: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Announced:
    """Phase `show`: the ranks announced by each seat, low to high, and who has passed there. WK-10.6."""

    ranks: tuple[str, ...]
    passed: tuple[Seat, ...]


@dataclass(frozen=True, slots=True)
class Round:
    """One round.

    hands       by seat, canonical order; in a view the cards that are not known are hidden
    played      by seat, the cards played in this round, in order. WK-13.2
    turn        the seat whose turn it is; before the play begins, the seat that will lead
    trick       None when a lead is due
    first_lead  the lead due is the first of a round whose leader the lead card decided. WK-14.7
    """

    hands: tuple[Cards, ...]
    played: tuple[Cards, ...]
    turn: Seat
    trick: Trick | None
    first_lead: bool
    tally: Tally
    announced: Announced


WushikState: TypeAlias = "State[Round]"


def fresh(config: Config, carry: Mapping[str, Any]) -> Round:
    """Before the deal; nothing carries over (CM-5.5)."""
    seats = config.seats
    nothing: tuple[Cards, ...] = ((),) * seats
    tally = Tally((), (0,) * seats)
    return Round(nothing, nothing, 0, None, False, tally, Announced(("",) * seats, ()))


def points_of(cards: Cards) -> int:
    """WK-1.4."""
    return sum([CARD_POINTS[card] for card in cards])


def next_with_cards(hands: tuple[Cards, ...], seat: Seat) -> Seat:
    """The next seat in order that still has cards; the seat itself if no other has. WK-6.3."""
    seats = len(hands)
    for step in range(1, seats):
        other = (seat + step) % seats
        if hands[other]:
            return other
    return seat
