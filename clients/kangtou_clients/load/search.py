"""The highest load that a server still answers in time: more and more tables until it does not.

Only upwards: tables in play would have to end before there could be fewer. Steps are wide while answers come early, and
narrow when they begin to wait. A level is too much when it is so twice.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

KEPT_UP = 0.95  # accepted of the answers that were due: fewer, and a queue is growing somewhere
STEPS = ((0.12, 1.5), (0.25, 1.2), (1.0, 1.1))  # answers within this part of the limit (p99) allow for that step
LEVELS_MOST = 40
BEHIND_MS = 25.0  # a generator that is later than this itself (p99) measures itself


@dataclass(frozen=True, slots=True)
class Level:
    """One level that was tried: tables at once, and the result document of its measurement."""

    tables: int
    result: dict[str, Any]

    @property
    def rate(self) -> float:
        """Moves a second."""
        return float(self.result["moves_per_s"])

    def problem(self, p99_ms: float) -> str:
        """Why this is too much, as a code; "" if it is not."""
        found = self.result
        if found["refused"] or found["streams_lost"]:
            return "refusals"
        if found["behind_ms"]["p99"] > BEHIND_MS:
            return "generator"
        if found["moves"] + found["crossed"] < KEPT_UP * found["due_per_s"] * found["seconds"]:
            return "falls_behind"
        return "too_slow" if found["wait_ms"]["p99"] > p99_ms else ""


Measure = Callable[[int], Awaitable[Level | None]]  # None: it was stopped


async def search(first: int, p99_ms: float, measure: Measure, told: Callable[[Level, str], None]) -> Level | None:
    """The best level found; None if even `first` tables are too many. A stop gives the best one so far."""
    good: Level | None = None
    tables, again = first, False
    for _ in range(LEVELS_MOST):
        level = await measure(tables)
        if level is None:
            break
        problem = level.problem(p99_ms)
        told(level, problem)
        if problem and not again:
            again = True  # once more: something else may have used the machine
            continue
        if problem:
            break
        good, again = level, False
        step = next(step for part, step in STEPS if level.result["wait_ms"]["p99"] <= p99_ms * part)
        tables = max(tables + 1, int(tables * step))
    return good
