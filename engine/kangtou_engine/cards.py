"""Cards and their text: `H6`, `DT`, `BJ`, `RJ`; a list is `H6 HT RJ`.

A card is its two characters, so the text form needs no conversion and `repr` shows it. A card that a
viewer may not see is `HIDDEN`. (rules/README, "Cards")
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

Card: TypeAlias = str
Cards: TypeAlias = tuple[Card, ...]
Seat: TypeAlias = int

SUITS = "SHCD"
RANKS = "3456789TJQKA2"
JOKERS: Cards = ("BJ", "RJ")
HIDDEN: Card = "??"

SUITED: Cards = tuple(suit + rank for suit in SUITS for rank in RANKS)
DECK52: Cards = SUITED
DECK54: Cards = SUITED + JOKERS
ORDER: Mapping[Card, int] = {card: place for place, card in enumerate((*DECK54, HIDDEN))}


def is_card(text: str) -> bool:
    """Whether `text` names a card (HIDDEN does not)."""
    return text in ORDER and text != HIDDEN


def in_order(cards: Iterable[Card]) -> Cards:
    """Canonical order: suits S H C D, in a suit 3 … A 2, then the jokers, hidden cards last."""
    return tuple(sorted(cards, key=ORDER.__getitem__))


def parse_cards(text: str) -> Cards:
    """`"H6 HT"` as a tuple, in the order written. Raises ValueError naming what is no card."""
    cards = tuple(text.split())
    for card in cards:
        if not is_card(card):
            raise ValueError(f"{card!r} is not a card")
    return cards


def show_cards(cards: Iterable[Card]) -> str:
    """The text of a list of cards, in the order given."""
    return " ".join(cards)


def missing(cards: Iterable[Card], hand: Iterable[Card]) -> Cards:
    """The cards of `cards` that `hand` does not hold (counted: two copies need two)."""
    left = list(hand)
    lacking: list[Card] = []
    for card in cards:
        if card in left:
            left.remove(card)
        else:
            lacking.append(card)
    return tuple(lacking)


def without(hand: Cards, cards: Iterable[Card]) -> Cards:
    """`hand` less `cards`. Of a hand that is hidden, as many hidden cards go."""
    left = list(hand)
    for card in cards:
        if card in left:
            left.remove(card)
        elif HIDDEN in left:
            left.remove(HIDDEN)
    return tuple(left)


def hidden(count: int) -> Cards:
    """`count` cards of which nothing is known."""
    return (HIDDEN,) * count


def after(seat: Seat, seats: int, steps: int = 1) -> Seat:
    """The seat `steps` further in the order of play (下家 for 1, 上家 for -1)."""
    return (seat + steps) % seats
