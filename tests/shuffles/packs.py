"""The deals of a run: matches of four rounds with the packs of every game, as a server shuffles them.

Seed and entropies of match `i` follow from the run's master seed, so a run can be repeated; the server itself takes
both from the system's chance. Everything after them is production code: `match_chance`, as a table calls it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import lru_cache

from kangtou_engine.boards import match_chance
from kangtou_engine.cards import Cards, in_order
from kangtou_engine.shuffle import SEED_BYTES
from tests.engine.tables import tables

ROUNDS = 4  # deals of a match
SEATS = 4


@lru_cache(maxsize=1)
def packs() -> tuple[Cards, ...]:
    """Every different pack of every registered game, in canonical order."""
    found: dict[Cards, None] = {}
    for table in tables():
        config = table.game.config({"rounds": 1, **table.options}, table.seats)
        found[in_order(table.game.spec.pack(config))] = None
    return tuple(sorted(found, key=len))


def name_of(pack: Cards) -> str:
    """For a report; packs of the same size differ in the first card that one of them lacks."""
    others = [one for one in packs() if len(one) == len(pack) and one != pack]
    lacks = "".join(f", without {min(set(one) - set(pack))}" for one in others if set(one) - set(pack))
    return f"{len(pack)} cards{lacks}"


def secret(master: bytes, what: str, match: int) -> bytes:
    """32 bytes that follow from the master seed."""
    return hashlib.sha256(b"%b/%b/%d" % (master, what.encode(), match)).digest()


def deals(master: bytes, pack: Cards, first: int, matches: int) -> Iterator[tuple[Cards, ...]]:
    """The packs of the rounds of some matches, shuffled."""
    for match in range(first, first + matches):
        entropies = [secret(master, f"entropy {seat}", match) for seat in range(SEATS)]
        seed = secret(master, "seed", match)
        assert len(seed) == SEED_BYTES
        chance = match_chance(f"m{match}", "", seed, entropies)
        yield tuple(chance.shuffle(pack, "pack", number) for number in range(1, ROUNDS + 1))
