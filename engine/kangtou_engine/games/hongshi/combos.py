"""Combinations: what may be played together and what beats what. HS-5.

Whether jokers or red tens are on top (HS-15.3) is a value, `Ranking`. For each of the two, all combinations that
there are (some 250) are made once; a hand's combinations are looked up, not worked out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

from ...actions import Action
from ...cards import JOKERS, RANKS, SUITS, Card, Cards

RED_TENS: Cards = ("HT", "DT")  # HS-1.5
FOUR_TENS: Cards = ("ST", "HT", "CT", "DT")
TWO_MEANINGS = frozenset((("HT",), ("DT",), RED_TENS, FOUR_TENS))  # HS-5.5
AS_TEN, AS_RED = ("as", "ten"), ("as", "red")


class Combo(NamedTuple):
    """One combination in one meaning.

    rank   in the order of singles (HS-5.2) or of pairs and strings (HS-5.3); compared within a size
    power  0, or the place among the special combinations (HS-5.4)
    """

    cards: Cards
    as_ten: bool
    rank: int
    power: int
    action: Action


@dataclass(frozen=True, slots=True)
class Ranking:
    """Which is higher, jokers or red tens. HS-15.3. Ranks of singles above 2, and powers. HS-5.2, HS-5.4."""

    red_ten: int
    jokers: tuple[int, int]
    red_pair: int
    two_jokers: int


RANKINGS: Mapping[str, Ranking] = {
    "jokers": Ranking(red_ten=13, jokers=(14, 15), red_pair=1, two_jokers=2),
    "tens": Ranking(red_ten=15, jokers=(13, 14), red_pair=2, two_jokers=1),
}


def beats(new: Combo, old: Combo) -> bool:
    """Whether `new` may be played on `old`. HS-5.6, HS-5.7."""
    if new.power or old.power:
        return new.power > old.power  # HS-5.7 (1)
    return len(new.cards) == len(old.cards) and new.rank > old.rank  # HS-5.7 (2)


def _combos_of(ranking: Ranking, cards: Cards) -> Iterable[Combo]:
    """The meanings of a set of cards of one rank, high before low. HS-5.1 to HS-5.5."""
    plain = Action("play", cards)
    if cards[0] in JOKERS:  # HS-5.1: a joker goes with no card but the other joker
        power = ranking.two_jokers if len(cards) == 2 else 0
        return (Combo(cards, False, ranking.jokers[JOKERS.index(cards[0])], power, plain),)
    rank = RANKS.index(cards[0][1])
    if cards not in TWO_MEANINGS:
        return (Combo(cards, False, rank, 0, plain),)
    low = Combo(cards, True, rank, 0, Action("play", cards, (AS_TEN,)))
    if len(cards) == 1:
        return (Combo(cards, False, ranking.red_ten, 0, plain), low)
    return (Combo(cards, False, rank, ranking.red_pair, plain), low)


class _Tables:
    """All combinations under one ranking: by cards and meaning, and by all the cards of a rank in a hand."""

    def __init__(self, ranking: Ranking) -> None:
        self.by_cards: dict[tuple[Cards, bool], Combo] = {}
        self.by_group: dict[Cards, tuple[Combo, ...]] = {}
        for whole in (*(tuple(suit + rank for suit in SUITS) for rank in RANKS), JOKERS):
            for size in range(1, len(whole) + 1):
                for cards in combinations(whole, size):
                    for combo in _combos_of(ranking, cards):
                        self.by_cards[cards, combo.as_ten] = combo
                    subsets = (part for count in range(1, size + 1) for part in combinations(cards, count))
                    self.by_group[cards] = tuple(
                        self.by_cards[part, low]
                        for part in subsets
                        for low in (False, True)
                        if (part, low) in self.by_cards
                    )


_TABLES = {name: _Tables(ranking) for name, ranking in RANKINGS.items()}
_GROUP: Mapping[Card, int] = {
    **{suit + rank: place for place, rank in enumerate(RANKS) for suit in SUITS},
    **dict.fromkeys(JOKERS, len(RANKS)),
}


def combo_of(top: str, cards: Cards, as_ten: bool = False) -> Combo | None:
    """The combination that cards in canonical order make, None if they make none (in that meaning)."""
    return _TABLES[top].by_cards.get((cards, as_ten))


@lru_cache(maxsize=8192)
def combos_in(top: str, hand: Cards) -> tuple[Combo, ...]:
    """Every combination that a hand (in canonical order) holds, by rank, size and suits. HS-14.3."""
    groups: dict[int, list[Card]] = {}
    for card in hand:
        groups.setdefault(_GROUP[card], []).append(card)
    by_group = _TABLES[top].by_group
    return tuple(combo for rank in sorted(groups) for combo in by_group[tuple(groups[rank])])


@lru_cache(maxsize=8192)
def leads_in(top: str, hand: Cards) -> tuple[Action, ...]:
    """The same as actions: what a hand may lead. HS-6.3."""
    return tuple(combo.action for combo in combos_in(top, hand))
