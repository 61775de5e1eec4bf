"""A hand as numbers: how many different sets of k cards each rank allows, and which they are.

With two decks a hand holds a card twice; sets are counted as they look, whichever copies they are (WK-1.6). The
counts of one rank are the coefficients of a product of (1 + z) for a card held once and (1 + z + z²) for one held
twice. Packed into one integer with SLOT bits a coefficient, such polynomials multiply and divide in one step, so
the number of ways to choose kickers outside a body costs a division.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import combinations

from ...cards import DECK54, ORDER, RANKS, SUITS, Card, Cards
from .combos import RANK_NAMES

Chosen = tuple[int, ...]  # cards as their places in the canonical order, ascending

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


class Holding:
    """One hand, and maybe a card that every play must contain (option `lead_card`, WK-14.7).

    ranks  the cards by rank; ways: how many sets of k of them there are
    suits  by rank, the suits held as bits
    must   the rank of the card that must be played, or -1
    """

    __slots__ = ("_free", "_product", "must", "must_place", "ranks", "suits", "ways")

    def __init__(self, hand: Cards, must: Card | None = None) -> None:
        ranks: list[list[int]] = [[] for _ in RANK_NAMES]
        suits = [0] * len(RANK_NAMES)
        for place in sorted([ORDER[card] for card in hand]):
            rank = RANK_AT[place]
            ranks[rank].append(place)
            suits[rank] |= 1 << place // DECK_RANKS
        self.ranks: list[Chosen] = [tuple(held) for held in ranks]
        self.suits = suits
        self.ways = [_ways(held) for held in self.ranks]
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
        """The sets of k cards of a rank that may be chosen."""
        if rank != self.must:
            return subsets(self.ranks[rank], k)
        return tuple((self.must_place, *rest) for rest in subsets(self._free, k - 1)) if k else ()

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

    def kickers(self, body: tuple[int, ...], k: int) -> Iterator[Chosen]:
        """These sets."""
        others = [rank for rank, held in enumerate(self.ranks) if held and rank not in body]
        return self._kickers(others, k)

    def _kickers(self, ranks: list[int], k: int) -> Iterator[Chosen]:
        if not ranks:
            if not k:
                yield ()
            return
        rank, *others = ranks
        left = sum(len(self.ranks[other]) for other in others)
        for own in range(max(0, k - left), min(k, len(self.ranks[rank])) + 1):
            for chosen in self.choices(rank, own):
                for more in self._kickers(others, k - own):
                    yield chosen + more

    def pair_count(self, body: tuple[int, ...]) -> int:
        """How many pairs there are outside the ranks of a body."""
        return sum(self.ways[rank][2] for rank in self._pair_ranks(body))

    def pairs(self, body: tuple[int, ...]) -> Iterator[Chosen]:
        """These pairs."""
        for rank in self._pair_ranks(body):
            yield from self.choices(rank, 2)

    def _pair_ranks(self, body: tuple[int, ...]) -> tuple[int, ...]:
        if self.must >= 0 and self.must not in body:
            return (self.must,)
        return tuple(rank for rank in range(len(RANK_NAMES)) if rank not in body)


@lru_cache(maxsize=512)
def holding_of(hand: Cards, must: Card | None = None) -> Holding:
    """The same, made once for a hand that is asked about again and again within a trick."""
    return Holding(hand, must)
