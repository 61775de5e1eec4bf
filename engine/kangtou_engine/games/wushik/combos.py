"""What a set of cards can be: kinds, runs, readings and their written form. WK-3.

    Form      a plain kind: how many cards of how many neighbouring ranks, and how many kickers
    Line      one line of a variant's list of bombs
    Reading   one combination as which a set of cards can be played: `straight n=5 top=A flush=yes`

Ranks are numbers here: 0 … 12 for `3 … 2`, 13 and 14 for the jokers. WK-1.3
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from ...cards import JOKERS, RANKS, SUITS, Card

Combo: TypeAlias = "tuple[str, ...]"  # ("straight", "n=5", "top=A", "flush=yes"): WK-3.13

RANK_NAMES: tuple[str, ...] = (*RANKS, *JOKERS)  # WK-1.3
RANK_OF: Mapping[Card, int] = {
    **{suit + rank: place for suit in SUITS for place, rank in enumerate(RANKS)},
    **{joker: len(RANKS) + place for place, joker in enumerate(JOKERS)},
}
BLACK, RED = RANK_OF["BJ"], RANK_OF["RJ"]
FIVE, TEN, KING = (RANKS.index(rank) for rank in "5TK")

NUMBERS: tuple[int, ...] = tuple(range(len(RANKS)))  # 3 … 2
WITH_JOKERS: tuple[int, ...] = tuple(range(len(RANK_NAMES)))  # 3 … 2 BJ RJ
ORDINARY: tuple[int, ...] = NUMBERS[:-1]  # WK-3.2: 3 … A
ACE_BOTH_ENDS: tuple[int, ...] = (*NUMBERS[-2:], *ORDINARY)  # WK-3.2: A 2 3 … K A, Chengde's straights

POINTS: Mapping[str, int] = {"5": 5, "T": 10, "K": 10}  # WK-1.4
CARD_POINTS: Mapping[Card, int] = {card: POINTS.get(card[1], 0) for card in (*RANK_OF, "??")}


class Reading(NamedTuple):
    """One combination. Comparable by `value` with readings of the same kind and n, bombs among themselves."""

    kind: str
    n: int
    ranks: int
    value: int
    bomb: bool
    combo: Combo


class Window(NamedTuple):
    """Neighbouring places of a form's order, as a set of ranks and its last place."""

    mask: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Form:
    """A plain kind. WK-3.3 … WK-3.10.

    each        equal cards of each rank of the body
    places      the ranks that a body may have, low to high; neighbours in it are neighbours in a run
    least, most ranks of a body (1, 1: no run)
    kick        kickers for each rank of the body; `paired`: they are a pair
    flush       "" if suits mean nothing, else how a flush straight compares: `tie` or `any` (WK-3.7)
    """

    kind: str
    each: int
    places: tuple[int, ...]
    least: int = 1
    most: int = 1
    kick: int = 0
    paired: bool = False
    flush: str = ""
    windows: Mapping[int, tuple[Window, ...]] = field(init=False, compare=False, repr=False)
    reach: tuple[int, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        windows = {m: _windows(self.places, m) for m in range(self.least, self.most + 1)}
        ends = [[w.start + m for m, row in windows.items() for w in row if w.start == start] for start in self._starts]
        object.__setattr__(self, "windows", windows)
        object.__setattr__(self, "reach", tuple(max(end, default=start) for start, end in enumerate(ends)))

    @property
    def _starts(self) -> range:
        return range(len(self.places))

    def cards(self, ranks: int) -> int:
        """How many cards a play with a body of so many ranks has."""
        return ranks * (self.each + self.kick)

    def value(self, end: int, flush: bool = False) -> int:
        """The place of a body that ends at this place of the order among those of equal n. WK-3.7, WK-4.2."""
        if self.flush == "any":
            return 2 * end + (64 if flush else 0)
        return 2 * end + flush

    def reading(self, end: int, ranks: int, flush: bool = False) -> Reading:
        """The reading of a body that ends at this place. WK-3.13."""
        n = self.cards(ranks)
        extra = ("flush=yes",) if flush else ()
        combo = (self.kind, f"n={n}", f"top={RANK_NAMES[self.places[end]]}", *extra)
        return Reading(self.kind, n, ranks, self.value(end, flush), False, combo)


def _windows(places: tuple[int, ...], ranks: int) -> tuple[Window, ...]:
    """All bodies of so many ranks; of two with the same ranks the higher one (WK-3.2: 13 cards)."""
    by_mask: dict[int, Window] = {}
    for start in range(len(places) - ranks + 1):
        body = places[start : start + ranks]
        if len(set(body)) == ranks:
            mask = mask_of(body)
            by_mask[mask] = Window(mask, start, start + ranks - 1)
    return tuple(by_mask.values())


def mask_of(ranks: tuple[int, ...]) -> int:
    """A set of ranks as bits."""
    return sum(1 << rank for rank in ranks)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a list of bombs. WK-3.11, WK-4.6.

    kind    `fake`, `true`, `triple`, `bomb`, `jokers`
    n       cards
    name    what WK-4.6 calls it (`bomb4`, `jokers2 mixed`)
    jokers  for jokers: the numbers of (black, red) that it may have
    tag     the `kind=` of its written form, or ""
    """

    kind: str
    n: int
    jokers: tuple[tuple[int, int], ...] = ()
    tag: str = ""

    @property
    def name(self) -> str:
        """As WK-4.6 writes it."""
        number = str(self.n) if self.kind in ("bomb", "jokers") else ""
        return f"{self.kind}{number}" + (f" {self.tag}" if self.tag else "")

    def reading(self, line: int, own: int, extra: Combo) -> Reading:
        """A reading of this line, the `line`-th from below, with a place of its `own` in it. WK-4.4."""
        return Reading(self.kind, self.n, 1, line_value(line) + own, True, (self.kind, f"n={self.n}", *extra))


def line_value(line: int) -> int:
    """The lowest value of the bombs of a line."""
    return 16 * line


def combo_text(combo: Combo) -> str:
    """`straight n=5 top=A flush=yes`. WK-3.13."""
    return " ".join(combo)
