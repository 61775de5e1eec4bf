"""What a load has measured: waits, rates, refusals. Percentiles are exact: every wait is kept, 8 bytes each."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

PARTS = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999}


def percentile(ordered: Sequence[float], part: float) -> float:
    """The smallest value that is not exceeded by that part of the ordered values; 0 of none."""
    if not ordered:
        return 0.0
    return ordered[min(len(ordered) - 1, max(0, -(-int(part * 10_000) * len(ordered) // 10_000) - 1))]


def spread_of(waits_s: Sequence[float]) -> dict[str, float]:
    """Percentiles, the largest and the mean, in ms."""
    ordered = sorted(waits_s)
    found = {name: percentile(ordered, part) * 1000 for name, part in PARTS.items()}
    found["max"] = ordered[-1] * 1000 if ordered else 0.0
    found["mean"] = sum(ordered) / len(ordered) * 1000 if ordered else 0.0
    return {name: round(value, 3) for name, value in found.items()}


def _times() -> array[float]:
    return array("d")


@dataclass(slots=True)
class Figures:
    """Of some time that began at `began` (seconds). Waits in seconds from when a command was meant to be sent.

    due        answers that were meant to be sent
    waits      of answers that were accepted
    opened     from a table's meant arrival until all its seats are attached
    behind     how late this program itself sent what it could have sent in time
    crossed    answers to a question that another seat's answer closed meanwhile: no fault
    refused    other refusals, by code
    delivered  entries that spectators were sent
    lost       streams that broke and were opened again
    """

    began: float = 0.0
    due: int = 0
    waits: array[float] = field(default_factory=_times)
    opened: array[float] = field(default_factory=_times)
    behind: array[float] = field(default_factory=_times)
    games: Counter[str] = field(default_factory=Counter)
    crossed: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    delivered: int = 0
    finished: int = 0
    lost: int = 0

    @property
    def troubles(self) -> int:
        """Refusals and broken streams: 0 where all is well."""
        return sum(self.refused.values()) + self.lost

    def result(self, now: float, tables: int) -> dict[str, Any]:
        """As a document."""
        seconds = max(now - self.began, 1e-9)
        return {
            "seconds": round(seconds, 2),
            "tables": tables,
            "moves": len(self.waits),
            "moves_per_s": round(len(self.waits) / seconds, 1),
            "due_per_s": round(self.due / seconds, 1),
            "wait_ms": spread_of(self.waits),
            "games": dict(sorted(self.games.items())),
            "tables_opened": len(self.opened),
            "open_ms": spread_of(self.opened),
            "matches_finished": self.finished,
            "delivered_per_s": round(self.delivered / seconds, 1),
            "crossed": self.crossed,
            "refused": dict(sorted(self.refused.items())),
            "streams_lost": self.lost,
            "behind_ms": spread_of(self.behind),
        }
