"""The deal. EB-2.5."""

from __future__ import annotations

from ...events import Event
from .events import Dealt
from .pack import HAND_SIZE, in_order
from .state import Position


def deal(state: Position) -> tuple[Event, ...]:
    """One card each in turn from the dealer until all have six, a seventh for the dealer; the rest is the stock."""
    pile, seats, dealer = state.sheet.pile, state.config.seats, state.sheet.first
    all_six = seats * HAND_SIZE
    hands = []
    for seat in range(seats):
        cards = pile[(seat - dealer) % seats : all_six : seats]
        if seat == dealer:
            cards += pile[all_six : all_six + 1]
        hands.append(in_order(cards))
    return (Dealt(dealer, tuple(hands), pile[all_six + 1 :]),)
