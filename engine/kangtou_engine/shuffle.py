"""The shuffle that anyone can check: every pack follows from a seed and the seats' entropies.

The algorithm is part of the record format and never changes under its version number:

    key     = SHA-256("kangtou/chance/1" 0 match_id 0 seed(32) n(1) {length(2) entropy}…n)
    block i = SHA-256(key purpose 0 number(8) i(8)),  i = 0, 1, 2 …      (integers big-endian)
    words   = the blocks cut into 32-bit big-endian words
    below n = the first word w with w < 2^32 - (2^32 mod n), as w mod n  (rejection: no bias)
    shuffle = for place = last … 1: swap the cards at place and (below place + 1)

A pack is shuffled from its canonical order. A missing entropy counts as empty.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence

from .cards import Cards, in_order

SEED_BYTES = 32
ENTROPY_MAX = 64


def seed_commitment(match_id: str, seed: bytes) -> str:
    """What is published before the first deal: SHA-256 over domain, match and seed, in hex."""
    return hashlib.sha256(b"kangtou/seed/1\0" + match_id.encode() + b"\0" + seed).hexdigest()


def entropy_commitment(entropy: bytes) -> str:
    """What a seat sends with its ticket: SHA-256 over domain and entropy, in hex."""
    return hashlib.sha256(b"kangtou/entropy/1\0" + entropy).hexdigest()


class SeededChance:
    """All chance of one match (or of one tournament board set)."""

    def __init__(self, match_id: str, seed: bytes, entropies: Sequence[bytes]) -> None:
        if len(seed) != SEED_BYTES:
            raise ValueError(f"a seed has {SEED_BYTES} bytes, not {len(seed)}")
        if any(len(entropy) > ENTROPY_MAX for entropy in entropies):
            raise ValueError(f"an entropy has at most {ENTROPY_MAX} bytes")
        parts = [b"kangtou/chance/1\0", match_id.encode(), b"\0", seed, bytes([len(entropies)])]
        for entropy in entropies:
            parts += [len(entropy).to_bytes(2, "big"), entropy]
        self._key = hashlib.sha256(b"".join(parts)).digest()

    def __repr__(self) -> str:
        return "SeededChance(…)"  # never the seed

    def shuffle(self, pack: Cards, purpose: str, number: int) -> Cards:
        """See Chance."""
        below = self.numbers(purpose, number)
        cards = list(in_order(pack))
        for place in range(len(cards) - 1, 0, -1):
            other = below(place + 1)
            cards[place], cards[other] = cards[other], cards[place]
        return tuple(cards)

    def numbers(self, purpose: str, number: int) -> Callable[[int], int]:
        """A function that gives whole numbers below its argument, uniformly, in a fixed sequence."""
        words = self._words(purpose, number)

        def below(limit: int) -> int:
            bound = (1 << 32) - (1 << 32) % limit
            while (word := next(words)) >= bound:
                pass
            return word % limit

        return below

    def _words(self, purpose: str, number: int) -> Iterator[int]:
        head = self._key + purpose.encode() + b"\0" + number.to_bytes(8, "big")
        block = 0
        while True:
            digest = hashlib.sha256(head + block.to_bytes(8, "big")).digest()
            for start in range(0, 32, 4):
                yield int.from_bytes(digest[start : start + 4], "big")
            block += 1
