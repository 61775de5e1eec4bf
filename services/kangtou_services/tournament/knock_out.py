"""Knock-out: a bracket by seeding, the lower half of which is filled with byes. docs/duplicate.md.

The winner of an encounter is who is ahead over its sets. If nobody is, single sets follow, REPLAYS at most; if still
nobody is, the better seed goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .formats import History, Outcome, Round

REPLAYS = 3


def bracket(count: int) -> tuple[int, ...]:
    """Entrants in the order of the bracket, -1 for byes: the best two can meet in the final only, and so on."""
    order = [0]
    while len(order) < count:
        size = 2 * len(order)
        order = [seed for one in order for seed in (one, size - 1 - one)]
    return tuple(seed if seed < count else -1 for seed in order)


def winner_of(outcome: Outcome) -> int:
    """Who goes on: the better seed if nobody is ahead."""
    winner = outcome.winner()
    return min(outcome.encounter) if winner is None else winner


def next_round(count: int, history: History) -> Round:
    """The encounters of the next round, () when one is left."""
    line: Sequence[int] = bracket(count)
    for outcomes in history:
        line = _survivors(line, {frozenset(one.encounter): winner_of(one) for one in outcomes})
    return tuple(pair for pair in _pairs(line) if -1 not in pair)


def _pairs(line: Sequence[int]) -> tuple[tuple[int, int], ...]:
    return tuple(zip(line[::2], line[1::2], strict=True)) if len(line) > 1 else ()


def _survivors(line: Sequence[int], won: dict[frozenset[int], int]) -> list[int]:
    return [max(pair) if -1 in pair else won[frozenset(pair)] for pair in _pairs(line)]


def ranking(history: History, count: int) -> tuple[tuple[float, ...], ...]:
    """(encounters won or passed by a bye) of each."""
    reached = [0.0] * count
    alive = set(range(count))
    for outcomes in history:
        alive -= {entrant for one in outcomes for entrant in one.encounter if entrant != winner_of(one)}
        for entrant in alive:
            reached[entrant] += 1
    return tuple((own,) for own in reached)
