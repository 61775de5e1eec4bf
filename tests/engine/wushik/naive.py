"""The combinations and what beats what, written down a second time, straight from the book and without tables.

Slow and literal: the tests hold the engine against it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any, NamedTuple

RANKS = ["3", "4", "5", "6", "7", "8", "9", "T", "J", "Q", "K", "A", "2"]
ORDINARY = RANKS[:-1]
CHENGDE = ["A", "2", *ORDINARY]
ALL_RANKS = [*RANKS, "BJ", "RJ"]


class Naive(NamedTuple):
    """A reading: kind, number of cards, top, its extra (`flush`, a suit, a kind of jokers), ranks in the body."""

    kind: str
    n: int
    top: str = ""
    extra: str = ""
    ranks: int = 1


def rank_of(card: str) -> str:
    """`H5` → `5`; a joker is its own rank."""
    return card if card in ("BJ", "RJ") else card[1]


# WK-3.14, as written there: least number of ranks
RUNS: Mapping[str, Mapping[str, int]] = {
    "chengde1": {"pairrun": 2, "triplerun": 2, "triplerun1": 2, "triplerun2": 2},
    "chengde2": {"pairrun": 2, "triplerun": 2, "triplerun1": 2, "triplerun2": 2},
    "liaoning": {"pairrun": 3, "triplerun": 2, "quadrun": 2},
    "jiangnan": {"pairrun": 3, "triplerun": 2},
    "jinzhou": {"pairrun": 3, "triplerun": 3},
}
EACH = {"pairrun": 2, "triplerun": 3, "quadrun": 4, "triplerun1": 3, "triplerun2": 3}


def runs(order: list[str], m: int) -> Iterator[list[str]]:
    """Windows of m neighbouring ranks, all different."""
    for start in range(len(order) - m + 1):
        window = order[start : start + m]
        if len(set(window)) == m:
            yield window


def readings(cards: tuple[str, ...], options: Any) -> set[Naive]:
    """All readings of WK-3."""
    variant = options.variant
    chengde = variant.startswith("chengde")
    count = Counter(map(rank_of, cards))
    n = len(cards)
    found: set[Naive] = set()
    only = next(iter(count)) if len(count) == 1 else ""
    if n == 1:
        found.add(Naive("single", 1, only))
    if n == 2 and only and (only in RANKS or variant == "jiangnan"):
        found.add(Naive("pair", 2, only))
    if n == 3 and only in RANKS and (variant != "jiangnan" or options.bare_triple):
        found.add(Naive("triple", 3, only))
    if n >= 4 and only in RANKS and (variant != "chengde2" or n <= options.bomb_max):
        found.add(Naive("bomb", n, only))
    found |= set(_straights(cards, count, options, CHENGDE if chengde else ORDINARY))
    found |= set(_fifty(cards))
    found |= set(_jokers(cards, variant))
    if chengde:
        found |= {Naive(f"triple{n - 3}", n, rank) for rank in count if n in (4, 5) and count[rank] == 3}
    if variant == "jiangnan" and sorted(count.values()) == [2, 3]:
        found |= {Naive("triple2", 5, rank) for rank in count if count[rank] == 3}
    for kind, least in RUNS[variant].items():
        found |= set(_runs(kind, least, count, n))
    return found


def _straights(cards: tuple[str, ...], count: Counter[str], options: Any, order: list[str]) -> Iterator[Naive]:
    n = len(cards)
    if n < options.straight_min or set(count.values()) != {1}:
        return
    tops = [window[-1] for window in runs(order, n) if set(window) == set(count)]
    if tops:
        top = "A" if n == 13 else tops[0]
        flush = options.variant.startswith("chengde") and len({card[0] for card in cards}) == 1
        yield Naive("straight", n, top, "flush" if flush else "", n)


def _fifty(cards: tuple[str, ...]) -> Iterator[Naive]:
    if sorted(map(rank_of, cards)) == ["5", "K", "T"]:
        suits = {card[0] for card in cards}
        yield Naive("true", 3, "", suits.pop()) if len(suits) == 1 else Naive("fake", 3)


def _jokers(cards: tuple[str, ...], variant: str) -> Iterator[Naive]:
    if not set(cards) <= {"BJ", "RJ"}:
        return
    two = {"BJ RJ": "mixed", "BJ BJ": "small", "RJ RJ": "big"}
    n = len(cards)
    if n == 2 and (variant == "jinzhou" or (variant == "liaoning" and len(set(cards)) == 2)):
        yield Naive("jokers", 2, "", two[" ".join(sorted(cards))])
    if n in (3, 4) and variant in ("jiangnan", "jinzhou"):
        yield Naive("jokers", n)


def _runs(kind: str, least: int, count: Counter[str], n: int) -> Iterator[Naive]:
    each = EACH[kind]
    kick = int(kind[-1]) if kind[-1].isdigit() else 0
    m, rest = divmod(n, each + kick)
    if rest or m < least:
        return
    for body in runs(ORDINARY, m):
        if all(count[rank] == each for rank in body):
            yield Naive(kind, n, body[-1], "", m)


# ---- what beats what: WK-4, WK-8.3, WK-9.4, WK-10.4, WK-11.2 … WK-11.4 ----

LADDERS: Mapping[str, list[str]] = {
    "chengde1": ["fake", "true", "bomb4"],
    "chengde2": ["fake", "true", "bomb4", "bomb5", "bomb6", "bomb7", "bomb8"],
    "liaoning": ["triple", "fake", "jokers2 mixed", "bomb4", "true"],
    "jiangnan": ["fake", "true", "bomb4", "bomb5", "jokers3", "bomb6", "bomb7", "bomb8", "jokers4"],
    "jinzhou": (
        "triple|fake|jokers2 mixed|true|jokers2 small|jokers2 big|bomb4|bomb5|jokers3|bomb6|bomb7|jokers4|bomb8"
    ).split("|"),
}


def line_of(reading: Naive, variant: str) -> int | None:
    """Its line in the list of bombs, None for a plain kind."""
    name = reading.kind
    if name in ("bomb", "jokers"):
        name += str(reading.n)
    if reading.kind == "jokers" and reading.extra:
        name += " " + reading.extra
    ladder = LADDERS[variant]
    return ladder.index(name) if name in ladder else None


def guarded(kind: str, line: int, variant: str) -> bool:
    """Whether the bomb of this line does not beat the plain kind. WK-4.6."""
    ladder = LADDERS[variant]
    if variant == "liaoning":
        return kind in ("triplerun", "quadrun") or (kind == "pairrun" and ladder[line] not in ("bomb4", "true"))
    if variant == "jinzhou" and kind == "pairrun":
        return line < ladder.index("bomb4")
    if variant == "jinzhou" and kind == "triplerun":
        return line < ladder.index("bomb6")
    return False


def beats(new: Naive, old: Naive, options: Any) -> bool:
    """WK-4."""
    variant = options.variant
    above, below = line_of(new, variant), line_of(old, variant)
    if above is not None and below is not None:
        if above != below:
            return above > below
        if new.kind == "true":
            return options.pure_suit_order and "DCHS".index(new.extra) > "DCHS".index(old.extra)
        return bool(new.top) and ALL_RANKS.index(new.top) > ALL_RANKS.index(old.top)
    if above is not None:
        return not guarded(old.kind, above, variant)
    if below is not None or (new.kind, new.n) != (old.kind, old.n):
        return False
    if new.kind == "straight":
        return _straight_beats(new, old, options)
    return ALL_RANKS.index(new.top) > ALL_RANKS.index(old.top)


def _straight_beats(new: Naive, old: Naive, options: Any) -> bool:
    def place(reading: Naive) -> int:
        if options.variant.startswith("chengde") and reading.top != "A":
            return CHENGDE.index(reading.top, 1)
        return CHENGDE.index("A", 1) if options.variant.startswith("chengde") else ORDINARY.index(reading.top)

    if options.flush_straight == "any" and new.extra != old.extra:
        return new.extra == "flush"
    if place(new) != place(old):
        return place(new) > place(old)
    return new.extra == "flush" and old.extra == ""


def plays(hand: tuple[str, ...], old: Naive | None, options: Any, shown: str = "", must: str = "") -> set[str]:
    """All legal plays as sorted texts: every subset of the hand. WK-7.1, WK-7.2, WK-10.8."""
    found = set()
    for size in range(1, len(hand) + 1):
        for cards in set(combinations(sorted(hand), size)):
            made = readings(cards, options)
            if options.announce and any(r.kind == "bomb" and r.n >= 6 and r.top not in shown for r in made):
                continue
            if old is None:
                legal = bool(made) and (not must or must in cards)
            else:
                legal = any(beats(reading, old, options) for reading in made)
            if legal:
                found.add(" ".join(cards))
    return found
