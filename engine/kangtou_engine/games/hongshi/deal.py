"""Pack, deal and sides. HS-1, HS-3, HS-4.1."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...cards import DECK54, Card, Cards, in_order
from ...events import Event
from ...match.state import Config
from .combos import RED_TENS
from .events import Dealt, PlayBegan
from .options import options_of
from .state import SEATS, Hongshi, Own, Past, Sides

PACK52: Cards = tuple(card for card in DECK54 if card not in ("S3", "C3"))  # HS-15.2
PACK40: Cards = tuple(card for card in DECK54 if card[1] not in "345" and card not in ("S6", "C6"))  # HS-1.1


def pack(config: Config) -> Cards:
    """All cards of a round. HS-1.1, HS-15.2."""
    return PACK52 if options_of(config).keep345 else PACK40


def opening_card(config: Config) -> Card:
    """HS-1.4, HS-15.2."""
    return "H3" if options_of(config).keep345 else "H6"


def fresh(config: Config, carry: Mapping[str, Any]) -> Own:
    """A round before its deal. Only penalties carry over. HS-8.3."""
    nobody: tuple[Cards, ...] = ((),) * SEATS
    return Own(
        hands=nobody,
        turn=0,
        trick=(),
        out=(),
        opening=False,
        answered=(False,) * SEATS,
        sides=Sides(up=(), revealed=nobody),
        past=Past(),
        penalties=tuple(carry.get("penalties", (0,) * SEATS)),
    )


def carry(state: Hongshi) -> Mapping[str, Any]:
    """HS-8.3."""
    return {"penalties": state.game.penalties}


def up_side(hands: tuple[Cards, ...]) -> tuple[int, ...]:
    """The seats that hold a red ten. HS-4.1."""
    return tuple(seat for seat, hand in enumerate(hands) if any(card in RED_TENS for card in hand))


def deal(state: Hongshi) -> tuple[Event, ...]:
    """Position k goes to seat dealer + k mod 4; then the reveal, or the play at once. HS-3.4, HS-2.3."""
    pile, first = state.sheet.pile, state.sheet.first
    hands = tuple(in_order(pile[(seat - first) % SEATS :: SEATS]) for seat in range(SEATS))
    options = options_of(state.config)
    if options.reveal or options.lightning:
        return (Dealt(hands),)
    return (Dealt(hands), first_lead(state, hands))


def first_lead(state: Hongshi, hands: tuple[Cards, ...]) -> PlayBegan:
    """The holder of the opening card leads, with it; in a set position without it, the dealer. HS-6.1, HS-17."""
    card = opening_card(state.config)
    for seat, hand in enumerate(hands):
        if card in hand:
            return PlayBegan(seat, True)
    return PlayBegan(state.sheet.first, False)
