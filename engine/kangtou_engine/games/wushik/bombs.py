"""The bombs of a hand, line by line from low to high. WK-3.11, WK-4.6."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from ...cards import SUITS
from .combos import BLACK, FIVE, KING, NUMBERS, RED, TEN, Line, line_value
from .holding import DECK_RANKS, Chosen, Holding
from .rules import PURE_ORDER, Rules

Bombs = tuple[str, int, int, tuple[Chosen, ...]]  # kind, cards, value, all the plays of that value


def bombs_of(rules: Rules, hand: Holding) -> list[Bombs]:
    """All bombs of a hand, of equal ones together."""
    found: list[Bombs] = []
    for place, line in enumerate(rules.lines):
        value = line_value(place)
        if line.kind in ("triple", "bomb"):
            found += _equal_cards(hand, line, value)
        elif line.jokers:
            sets = tuple(_jokers(hand, line))
            found += [(line.kind, line.n, value, sets)] if sets else []
        else:
            found += _fifties(rules, hand, line, value)
    return found


def _equal_cards(hand: Holding, line: Line, value: int) -> Iterator[Bombs]:
    """Triples as bombs, and four to eight of a kind."""
    if not hand.sizes[line.n]:
        return
    for rank in NUMBERS if hand.must < 0 else (hand.must,):
        if hand.ways[rank][line.n]:
            sets = [tuple(sorted(chosen)) for chosen in hand.choices(rank, line.n)]
            yield line.kind, line.n, value + rank, tuple(sets)


def _jokers(hand: Holding, line: Line) -> Iterator[Chosen]:
    black, red = hand.ranks[BLACK], hand.ranks[RED]
    for few, many in line.jokers:
        chosen = black[:few] + red[:many]
        if len(chosen) == line.n and (hand.must < 0 or hand.must_place in chosen):
            yield chosen


def _fifties(rules: Rules, hand: Holding, line: Line, value: int) -> Iterator[Bombs]:
    """The 5-10-Ks of one line, pure or mixed. WK-14.5."""
    by_value: dict[int, list[Chosen]] = {}
    for (five,), (ten,), (king,) in product(*[hand.choices(rank, 1) for rank in (FIVE, TEN, KING)]):
        suit = five // DECK_RANKS
        pure = suit == ten // DECK_RANKS == king // DECK_RANKS
        if pure != (line.kind == "true") or (hand.must >= 0 and hand.must_place not in (five, ten, king)):
            continue
        own = PURE_ORDER.index(SUITS[suit]) if pure and rules.options.pure_suit_order else 0
        by_value.setdefault(value + own, []).append(tuple(sorted((five, ten, king))))
    for own, sets in by_value.items():
        yield line.kind, line.n, own, tuple(sets)
