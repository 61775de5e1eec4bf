"""The deal. EB-2.5."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ...events import Event
from ...game import Draws
from .events import Dealt, Drawn, Dumped
from .pack import HAND_SIZE, in_order
from .state import Position, Round


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


def _due(state: Position, seen: Sequence[Event]) -> Iterator[Event]:
    """The stock from its top, a card for each that was taken. EB-4.3, EB-6.6."""
    (dealt,) = deal(state)
    assert isinstance(dealt, Dealt)
    for event, card in zip(seen, dealt.stock, strict=False):
        if isinstance(event, Drawn):
            yield replace(event, card=card)
        elif isinstance(event, Dumped):
            yield replace(event, drawn=card)


DRAWS: Draws[Round] = Draws((Drawn, Dumped), _due)
