"""The highest load that a server still answers in time: more tables until it does not, then halves between."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

KEPT_UP = 0.95  # accepted of the answers that were due: fewer, and a queue is growing somewhere
CLOSE = 1.1  # between the last good and the first bad level
LEVELS_MOST = 16
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
    bad: int = 0
    tables = first
    for _ in range(LEVELS_MOST):
        level = await measure(tables)
        if level is None:
            break
        problem = level.problem(p99_ms)
        told(level, problem)
        if problem:
            bad = tables
        else:
            good = level
        if good is None or (bad and bad <= good.tables * CLOSE):
            break
        tables = (good.tables + bad) // 2 if bad else tables * 2
    return good
