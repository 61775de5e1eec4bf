"""How often an entrant came in where. Places are those of the games (CM-7.2), by seat; sets are what varies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from ..model import Result
from .intervals import Mean, mean_of


@dataclass(frozen=True, slots=True)
class Places:
    """`counts` of first, second … places over all seats that an entrant had, and the mean place by sets."""

    counts: tuple[int, ...]
    mean: Mean


def places_of(
    results: Iterable[Result], complete: Mapping[str, int], count: int, confidence: float
) -> tuple[Places, ...]:
    """Of `count` entrants, from the games of complete sets (those that have all their results)."""
    rows, seats = [], 0
    for result in results:
        number = complete.get(result.game.set_id)
        if number is None:
            continue
        seats = max(seats, len(result.places))
        for entrant, place in zip(result.game.entrants, result.places, strict=True):
            rows.append((entrant, number, place))
    table = np.array(rows, dtype=np.int64).reshape(-1, 3)
    found = []
    for entrant in range(count):
        own = table[table[:, 0] == entrant]
        counts = np.bincount(own[:, 2], minlength=seats + 1)[1:] if len(own) else np.zeros(seats, dtype=np.int64)
        sums = np.bincount(own[:, 1], own[:, 2], minlength=len(complete))
        sizes = np.bincount(own[:, 1], minlength=len(complete))
        by_set = sums[sizes > 0] / sizes[sizes > 0]
        found.append(Places(tuple(map(int, counts)), mean_of([by_set], confidence)))
    return tuple(found)
