"""Cards of a round: level cards, trumps, suits and their order. DZ-4, DZ-8.1."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from ...cards import DECK54, JOKERS, RANKS, SUITS, Card, Cards, in_order

TRUMPS = "T"  # for play, all trumps together are one suit. DZ-4.2
FACES = "3456789TJQKA"  # DZ-3.9, DZ-4.4, low to high
FACE: Mapping[Card, int] = {card: (*FACES, "2").index(card[1]) for card in DECK54 if card not in JOKERS}
POINTS: Mapping[Card, int] = {suit + rank: worth for suit in SUITS for rank, worth in (("5", 5), ("T", 10), ("K", 10))}
FOURS: Mapping[Cards, str] = {tuple(suit + rank for suit in SUITS): rank for rank in RANKS}  # in canonical order
FOUR_OF: Mapping[str, Cards] = {rank: four for four, rank in FOURS.items()}
LEVEL_CARDS: Mapping[str, frozenset[Card]] = {rank: frozenset(four) for four, rank in FOURS.items()}

FIXED, TWO, LEVEL, BLACK, RED = 40, 60, 70, 80, 90  # where each kind of trump begins in `worth`


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """How the cards of one round compare, by trump suit, level rank and option `suited_high`.

    suit    TRUMPS or the suit of a side card (DZ-4.2)
    worth   order within a suit; all trumps are above all side cards (DZ-4.4–4.7). Only larger beats
    fixed   the fixed trumps 定主 (DZ-4.2, DZ-4.3)
    fours   order of 嗡 by rank (DZ-7.8)
    place   the discard order (DZ-11.4)
    """

    trump: str
    level: str
    suit: Mapping[Card, str]
    worth: Mapping[Card, int]
    fixed: frozenset[Card]
    fours: Mapping[str, int]
    place: Mapping[Card, int]

    def of_suit(self, cards: Iterable[Card], suit: str) -> Cards:
        """The cards that belong to a suit, in the order given."""
        kinds = self.suit
        return tuple([card for card in cards if kinds[card] == suit])

    def discard_order(self, cards: Iterable[Card]) -> Cards:
        """Side cards before trumps, low to high, equal ones S H C D. DZ-11.4."""
        return tuple(sorted(cards, key=self.place.__getitem__))


def _worth(card: Card, trump: str, level: str, suited_high: bool) -> int:
    """DZ-4.4, DZ-4.5; DZ-4.6 with `suited_high`."""
    if card in JOKERS:
        return RED if card == "RJ" else BLACK
    suited = int(suited_high and card[0] == trump)
    if card[1] == level:
        return LEVEL + suited
    if card[1] == "2":
        return TWO + suited
    return FACE[card] + (FIXED if card[0] == trump else 0)


@lru_cache(maxsize=128)
def ranking(trump: str, level: str, suited_high: bool) -> Ranking:
    """The ranking of a round. DZ-4."""
    worth = {card: _worth(card, trump, level, suited_high) for card in DECK54}
    suit = {card: TRUMPS if worth[card] >= FIXED else card[0] for card in DECK54}
    fixed = frozenset(card for card in DECK54 if FIXED <= worth[card] < TWO)
    order = [rank for rank in FACES if rank != level] + ["2", level]  # DZ-7.8
    sides_first = sorted(in_order(DECK54), key=worth.__getitem__)  # stable: equal ones stay S H C D
    return Ranking(
        trump=trump,
        level=level,
        suit=suit,
        worth=worth,
        fixed=fixed,
        fours={rank: place for place, rank in enumerate(order)},
        place={card: place for place, card in enumerate(sides_first)},
    )


def face(card: Card) -> int:
    """Face value for taking the lowest buried cards: a two above A, then the jokers. DZ-5.7."""
    return FACE.get(card, len(FACES) + 1 + (card == "RJ"))


def points_of(cards: Iterable[Card]) -> int:
    """DZ-8.1: 5 = 5, T = 10, K = 10."""
    return sum([POINTS.get(card, 0) for card in cards])


def point_cards(cards: Iterable[Card]) -> Cards:
    """The cards that count. DZ-8.1."""
    return tuple([card for card in cards if card in POINTS])
