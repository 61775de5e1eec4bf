"""The pack, its order and its values. EB-1, EB-9.1.

A card on the table is *laid*: its own text, or `BJ=D8` for a joker that stands for a card (EB-6.2). The first two
characters are the card that lies there, the last two the card that it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from ...cards import HIDDEN, JOKERS, SUITS, Card, Cards

RANKS = "A23456789TJQK"  # EB-1.3: low to high, the ace is always low
SEVEN = RANKS.index("7")
HAND_SIZE = 6  # EB-2.5; the dealer has one more

PACK: Cards = tuple(suit + rank for suit in SUITS for rank in RANKS) + JOKERS  # EB-1.2
ORDER: Mapping[Card, int] = {card: place for place, card in enumerate((*PACK, HIDDEN))}
SEVENS: Cards = tuple(suit + "7" for suit in SUITS)

# The place of a card in the order of ranks. Only the cards that can be plain (EB-1.4): no sevens, no jokers.
PLACE: Mapping[Card, int] = {suit + rank: place for suit in SUITS for place, rank in enumerate(RANKS) if place != SEVEN}
SAME_RANK: Mapping[Card, Cards] = {card: tuple(suit + card[1] for suit in SUITS) for card in PLACE}

SEVEN_VALUE, JOKER_VALUE, BLACK_VALUE = 15, 30, 30
VALUE: Mapping[Card, int] = {  # EB-9.1; what is hidden counts nothing
    **{card: place + 1 for card, place in PLACE.items()},
    **dict.fromkeys(SEVENS, SEVEN_VALUE),
    **dict.fromkeys(JOKERS, JOKER_VALUE),
    HIDDEN: 0,
}


def in_order(cards: Iterable[Card]) -> Cards:
    """Canonical order: suits S H C D, in a suit A to K, then the jokers, hidden cards last."""
    return tuple(sorted(cards, key=ORDER.__getitem__))


@cache
def named(joker: Card, card: Card) -> str:
    """A joker that stands for a card: `BJ=D8`."""
    return f"{joker}={card}"


def real(laid: Iterable[str]) -> Cards:
    """The cards that lie there, jokers as jokers."""
    return tuple(card[:2] for card in laid)


def meant(laid: Iterable[str]) -> Cards:
    """The cards that they are, a joker as the card it stands for. EB-6.2."""
    return tuple(card[-2:] for card in laid)


def names_in(laid: Iterable[str]) -> Cards:
    """The cards that the jokers among them stand for."""
    return tuple(card[3:] for card in laid if len(card) > 2)


def hand_value(hand: Iterable[Card], black: Cards) -> int:
    """What a hand is worth; a black card counts 30. EB-9.1, EB-9.2."""
    if black:
        return sum(BLACK_VALUE if card in black else VALUE[card] for card in hand)
    return sum(VALUE[card] for card in hand)


def plain(hand: Iterable[Card], black: Cards) -> list[Card]:
    """The plain cards of a hand: no seven, no joker, not black. EB-1.4."""
    return [card for card in hand if card in PLACE and card not in black]
