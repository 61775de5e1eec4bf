"""A hand as numbers: how many different sets of k cards each rank allows, and which they are.

With two decks a hand holds a card twice; sets are counted as they look, whichever copies they are (WK-1.6). The
counts of one rank are the coefficients of a product of (1 + z) for a card held once and (1 + z + z²) for one held
twice. Packed into one integer with SLOT bits a coefficient, such polynomials multiply and divide in one step, so
the number of ways to choose kickers outside a body costs a division.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations

from ...cards import DECK54, ORDER, RANKS, SUITS, Card, Cards
from .combos import RANK_NAMES

Chosen = tuple[int, ...]  # cards as their places in the canonical order

SLOT = 40  # bits; a hand of 27 has fewer than 2^27 sets
SLOT_MASK = (1 << SLOT) - 1
DECK_RANKS = len(RANKS)
JOKERS_FROM = DECK_RANKS * len(SUITS)
RANK_AT = tuple(place % DECK_RANKS if place < JOKERS_FROM else place - JOKERS_FROM + DECK_RANKS for place in range(54))
MOST = 8  # cards of one rank


def cards_at(places: Chosen) -> Cards:
    """The cards at these places, in canonical order."""
    return tuple([DECK54[place] for place in sorted(places)])


@cache
def subsets(cards: Chosen, k: int) -> tuple[Chosen, ...]:
    """All different sets of k of the cards of one rank."""
    return tuple(dict.fromkeys(combinations(cards, k)))


@cache
def _ways(cards: Chosen) -> tuple[int, ...]:
    return tuple(len(subsets(cards, k)) for k in range(MOST + 1))


@cache
def _packed(ways: tuple[int, ...]) -> int:
    return sum(number << SLOT * k for k, number in enumerate(ways))


def _sets(ranks: list[Chosen], k: int) -> list[Chosen]:
    """All different sets of k cards out of several ranks."""
    if k == 0:
        return [()]
    if k == 1:
        return [one for held in ranks for one in subsets(held, 1)]
    found: list[Chosen] = []
    for place, held in enumerate(ranks):  # the first rank that takes part
        rest = ranks[place + 1 :]
        left = sum(map(len, rest))
        for own in range(max(1, k - left), min(k, len(held)) + 1):
            chosen = subsets(held, own)
            found += [one + more for more in _sets(rest, k - own) for one in chosen]
    return found


class Holding:
    """One hand (in canonical order), and maybe a card that every play must contain (option `lead_card`, WK-14.7).

    ranks  the cards by rank; ways: how many sets of k of them there are
    sizes  how many ranks have at least k cards
    must   the rank of the card that must be played, or -1
    """

    __slots__ = ("_free", "_product", "must", "must_place", "ranks", "sizes", "ways")

    def __init__(self, hand: Cards, must: Card | None = None) -> None:
        by_rank: list[list[int]] = [[] for _ in RANK_NAMES]
        for card in hand:
            place = ORDER[card]
            by_rank[RANK_AT[place]].append(place)
        self.ranks: list[Chosen] = [tuple(held) for held in by_rank]
        self.ways = [_ways(held) for held in self.ranks]
        lengths = [len(held) for held in by_rank]
        self.sizes = [sum([length >= k for length in lengths]) for k in range(MOST + 1)]
        self.must = -1
        self.must_place = -1
        self._product = 0
        self._free: Chosen = ()
        if must is not None:
            self._force(ORDER[must])

    def _force(self, place: int) -> None:
        """Sets of its rank must contain the card: those of k are those of k-1 of the rest."""
        self.must, self.must_place = RANK_AT[place], place
        rest = list(self.ranks[self.must])
        rest.remove(place)
        self._free = tuple(rest)
        self.ways[self.must] = (0, *_ways(self._free)[:MOST])

    def choices(self, rank: int, k: int) -> tuple[Chosen, ...]:
        """The sets of k cards of a rank that may be chosen, each in canonical order."""
        if rank != self.must:
            return subsets(self.ranks[rank], k)
        return tuple(tuple(sorted((self.must_place, *rest))) for rest in subsets(self._free, k - 1)) if k else ()

    def suits(self, rank: int) -> int:
        """The suits held of a rank, as bits."""
        return sum(1 << place // DECK_RANKS for place in set(self.ranks[rank]))

    def kicker_count(self, body: tuple[int, ...], k: int) -> int:
        """How many sets of k cards there are outside the ranks of a body."""
        if not self._product:
            self._product = 1
            for ways in self.ways:
                self._product *= _packed(ways)
        rest = self._product
        for rank in body:
            rest //= _packed(self.ways[rank])
        return rest >> SLOT * k & SLOT_MASK

    def kickers(self, body: tuple[int, ...], k: int) -> list[Chosen]:
        """These sets."""
        others = [held for rank, held in enumerate(self.ranks) if held and rank not in body and rank != self.must]
        if self.must < 0 or self.must in body:
            return _sets(others, k)
        return [(self.must_place, *more) for more in _sets([self._free, *others], k - 1)]

    def pair_count(self, body: tuple[int, ...]) -> int:
        """How many pairs there are outside the ranks of a body."""
        return sum([self.ways[rank][2] for rank in self._pair_ranks(body)])

    def pairs(self, body: tuple[int, ...]) -> list[Chosen]:
        """These pairs."""
        return [pair for rank in self._pair_ranks(body) for pair in self.choices(rank, 2)]

    def _pair_ranks(self, body: tuple[int, ...]) -> list[int]:
        if self.must >= 0 and self.must not in body:
            return [self.must]
        return [rank for rank in range(len(RANK_NAMES)) if rank not in body]
