"""Orders in which a hand is held: as players hold it, by suit, by rank."""

from __future__ import annotations

from kangtou_engine.cards import JOKERS, Cards, in_order

ORDERS = ("game", "suit", "rank")
_BY_RANK = "3456789TJQKA2BR"


def ordered(hand: Cards, order: str) -> Cards:
    """The same cards; `game`: as they come from the game's scene."""
    if order == "rank":
        return tuple(sorted(in_order(hand), key=lambda card: _BY_RANK.find(card[card not in JOKERS])))
    return in_order(hand) if order == "suit" else hand
