"""What is counted of the deals of one pack. A card is a number: the place of its kind in canonical order.

Each has a distribution that is known exactly (judge.py):

place     how often each kind of card lay at each place
pair      which two cards lay one behind the other, at one place a deal (the next place for the next deal)
window    the order of five cards that lie together, blocks that do not overlap (packs without copies)
descents  how often a card lies before a lower one (packs without copies)
rising    how often a card lies before the one that is next below it in order (packs without copies)
cycles    of the permutation against the canonical order (packs without copies)
same      places with the same card in two deals of a match one after the other (packs without copies)
suit      spades among the first quarter of the pack, a hand
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from math import factorial

import numpy as np
from numpy.typing import NDArray

from kangtou_engine.cards import Cards

WINDOW = 5
Counts = NDArray[np.int64]
Deals = NDArray[np.int64]  # deals x places: numbers of cards
_WEIGHTS = np.array([[factorial(WINDOW - 1 - at)] for at in range(WINDOW)])


@dataclass
class Tally:
    """Of one pack. `marks`: 64 bits of a hash of every deal, to find one that came twice."""

    pack: Cards
    deals: int = 0
    counts: dict[str, Counts] = field(default_factory=dict)
    marks: list[NDArray[np.uint64]] = field(default_factory=list)

    @property
    def kinds(self) -> Cards:
        """The different cards."""
        return tuple(dict.fromkeys(self.pack))

    @property
    def copies(self) -> bool:
        """Whether a card is there more than once."""
        return len(self.kinds) < len(self.pack)

    def take(self, matches: list[tuple[Cards, ...]]) -> None:
        """The deals of some matches."""
        number = {card: place for place, card in enumerate(self.kinds)}
        dealt = [cards for match in matches for cards in match]
        made = np.array([[number[card] for card in cards] for cards in dealt])
        size, kinds = len(self.pack), len(self.kinds)
        places = np.arange(size)
        self._add("place", made * size + places, kinds * size)
        at = (self.deals + np.arange(len(made))) % (size - 1)
        rows = np.arange(len(made))
        self._add("pair", made[rows, at] * kinds + made[rows, at + 1], kinds * kinds)
        spades = np.array([card[0] == "S" for card in self.kinds])
        self._add("suit", spades[made[:, : size // 4]].sum(axis=1), size + 1)
        if not self.copies:
            self._orders(made, len(matches))
        digests = b"".join(hashlib.blake2b(" ".join(cards).encode(), digest_size=8).digest() for cards in dealt)
        self.marks.append(np.frombuffer(digests, dtype=np.uint64))
        self.deals += len(made)

    def _orders(self, made: Deals, matches: int) -> None:
        size = len(self.pack)
        blocks = made[:, : size // WINDOW * WINDOW].reshape(-1, WINDOW)
        smaller = np.stack([(blocks[:, at + 1 :] < blocks[:, at : at + 1]).sum(axis=1) for at in range(WINDOW)])
        self._add("window", (smaller * _WEIGHTS).sum(axis=0), factorial(WINDOW))  # Lehmer code: 0 … 119
        self._add("descents", (made[:, 1:] < made[:, :-1]).sum(axis=1), size)
        where = made.argsort(axis=1)
        self._add("rising", (where[:, 1:] < where[:, :-1]).sum(axis=1), size)
        self._add("cycles", cycles(made), size + 1)
        rounds = made.reshape(matches, -1, size)
        self._add("same", (rounds[:, 1:] == rounds[:, :-1]).sum(axis=2)[:, ::2], size + 1)  # pairs that share no deal

    def _add(self, name: str, cells: NDArray[np.int64], size: int) -> None:
        found = np.bincount(cells.ravel(), minlength=size)
        self.counts[name] = self.counts[name] + found if name in self.counts else found

    def join(self, other: Tally) -> None:
        """Those of another process too."""
        self.deals += other.deals
        self.marks += other.marks
        for name, counts in other.counts.items():
            self.counts[name] = self.counts[name] + counts if name in self.counts else counts

    def repeated(self) -> int:
        """Deals that were there before."""
        marks = np.concatenate(self.marks)
        return len(marks) - len(np.unique(marks))


def cycles(made: Deals) -> NDArray[np.int64]:
    """Of each permutation: every place learns the least place of its cycle, by steps that double."""
    least = np.broadcast_to(np.arange(made.shape[1]), made.shape)
    step = made
    for _ in range(made.shape[1].bit_length()):
        least = np.minimum(least, np.take_along_axis(least, step, axis=1))
        step = np.take_along_axis(step, step, axis=1)
    return np.asarray((least == np.arange(made.shape[1])).sum(axis=1))
