"""The ladder: goes on until it is stopped, one set an encounter; those whose ratings are closest meet."""

from __future__ import annotations

from collections.abc import Mapping


def ladder_round(count: int, size: int, number: int, ratings: Mapping[int, float]) -> tuple[tuple[int, ...], ...]:
    """The encounters of round `number` (from 0): neighbours by rating; who has none yet counts as 0, the mean.

    Where pairs come out even, the first and the last stand aside in every second round, so that others are neighbours.
    Else those who are too many have a bye, and it goes round.
    """
    over = count % size
    aside = {(number * over + place) % count for place in range(over)}
    order = sorted(set(range(count)) - aside, key=lambda entrant: (-ratings.get(entrant, 0.0), entrant))
    if size == 2 and not over and count > 2 and number % 2:
        order = order[1:-1]
    return tuple(tuple(order[place : place + size]) for place in range(0, len(order), size))
