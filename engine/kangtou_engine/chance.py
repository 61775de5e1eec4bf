"""Where the order of the pack comes from. The engine asks; it has no chance of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from .cards import Cards


class Chance(Protocol):
    """A source of shuffled packs."""

    def shuffle(self, pack: Cards, purpose: str, number: int) -> Cards:
        """`pack` in a random order.

        `purpose` is `lot` or `pack`; `number` counts the shuffles of that purpose in the match from 1. The same
        purpose and number must give the same answer whenever they are asked for.
        """
        ...


class GivenDecks:
    """The packs of a case file first (`decks`, `lot`), another chance after them. (rules/README, "Case files")"""

    def __init__(self, others: Chance, decks: Sequence[Cards] = (), lots: Sequence[Cards] = ()) -> None:
        self._given = {"pack": tuple(decks), "lot": tuple(lots)}
        self._others = others

    def shuffle(self, pack: Cards, purpose: str, number: int) -> Cards:
        """A given pack while there is one; a lot names the drawn cards only."""
        given = self._given[purpose]
        if number <= len(given):
            return given[number - 1]
        return self._others.shuffle(pack, purpose, number - len(given))
