"""The deal and who leads first. WK-2."""

from __future__ import annotations

from ...cards import Cards, Seat, in_order
from ...events import Event
from ...match.state import Config
from .events import Dealt
from .state import WushikState
from .variants import ALL, Variant


def pack(config: Config) -> Cards:
    """All cards of a round. WK-1.2."""
    return in_order(ALL[config.options.variant].pack)


def deal(state: WushikState) -> tuple[Event, ...]:
    """One card at a time in turn from the dealer, until the pack is dealt out. WK-2.2."""
    pile, seats, dealer = state.sheet.pile, state.config.seats, state.sheet.first
    drawn = tuple(pile[(seat - dealer) % seats :: seats] for seat in range(seats))
    return (dealt(state, drawn),)


def dealt(state: WushikState, drawn: tuple[Cards, ...]) -> Dealt:
    """The deal of these hands, given in draw order."""
    variant = ALL[state.config.options.variant]
    found = first_drawer(variant, drawn, state.sheet.first) if _card_decides(variant, state.sheet.round) else None
    leader = state.sheet.first if found is None else found
    return Dealt(tuple(map(in_order, drawn)), leader, found is not None)


def _card_decides(variant: Variant, number: int) -> bool:
    """Whether the lead card decides the leader of this round. WK-2.4."""
    return variant.lead_card is not None and (number == 1 or variant.lead_every_round)


def first_drawer(variant: Variant, drawn: tuple[Cards, ...], dealer: Seat) -> Seat | None:
    """Who drew the lead card first: by draw number, then by distance from the dealer. WK-2.4."""
    seats = len(drawn)
    draws = [
        (hand.index(variant.lead_card), (seat - dealer) % seats, seat)
        for seat, hand in enumerate(drawn)
        if variant.lead_card in hand
    ]
    return min(draws)[2] if draws else None
