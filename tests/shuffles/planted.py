"""Biased shuffles to plant in production code, to see that the tests find each of them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any
from unittest.mock import patch

from kangtou_engine.cards import Cards, in_order
from kangtou_engine.shuffle import SeededChance

Shuffle = Callable[[SeededChance, Cards, str, int], Cards]


def planted(bias: str) -> contextlib.AbstractContextManager[Any]:
    """Production code with that bias ("": as it is)."""
    return patch.object(SeededChance, "shuffle", BIASES[bias]) if bias else contextlib.nullcontext()


def _swapped(cards: list[str], places: range, other: Callable[[int], int]) -> Cards:
    for place in places:
        at = other(place)
        cards[place], cards[at] = cards[at], cards[place]
    return tuple(cards)


def _naive(self: SeededChance, pack: Cards, purpose: str, number: int) -> Cards:
    below = self.numbers(purpose, number)
    return _swapped(list(in_order(pack)), range(len(pack)), lambda _: below(len(pack)))


def _one_off(self: SeededChance, pack: Cards, purpose: str, number: int) -> Cards:
    below = self.numbers(purpose, number)
    return _swapped(list(in_order(pack)), range(len(pack) - 1, 0, -1), below)


def _stops_early(self: SeededChance, pack: Cards, purpose: str, number: int) -> Cards:
    below = self.numbers(purpose, number)
    return _swapped(list(in_order(pack)), range(len(pack) - 1, 2, -1), lambda place: below(place + 1))


def _remainders(self: SeededChance, pack: Cards, purpose: str, number: int) -> Cards:
    below = self.numbers(purpose, number)
    return _swapped(list(in_order(pack)), range(len(pack) - 1, 0, -1), lambda place: below(256) % (place + 1))


def _riffles(self: SeededChance, pack: Cards, purpose: str, number: int) -> Cards:
    """Seven riffles: the number that is said to be enough for 52 cards."""
    below, cards = self.numbers(purpose, number), list(in_order(pack))
    for _ in range(7):
        bits = [below(2) for _ in cards]
        left, right = iter(cards[: len(bits) - sum(bits)]), iter(cards[len(bits) - sum(bits) :])
        cards = [next(right if bit else left) for bit in bits]
    return tuple(cards)


def _same_again(self: SeededChance, pack: Cards, purpose: str, number: int) -> Cards:
    return _RIGHT(self, pack, purpose, (number + 1) // 2)


_RIGHT = SeededChance.shuffle
BIASES: Mapping[str, Shuffle] = {
    "naive swap": _naive,
    "never its own place": _one_off,
    "stops early": _stops_early,
    "remainder of a byte": _remainders,
    "seven riffles": _riffles,
    "the same deal twice": _same_again,
}
