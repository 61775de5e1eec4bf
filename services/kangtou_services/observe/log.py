"""What a process counts of its appends to the log."""

from __future__ import annotations

import time
from collections.abc import Iterable

from prometheus_client import Metric

from .families import gauge
from .tally import SIZES, Tally, histogram


class LogMeter:
    """Written by log/commit.py.

    last     the last batch: when it left and when it was on disk (perf_counter seconds), entries
    waiting  appends that wait for the batch after the one under way
    """

    __slots__ = ("batches", "last", "sizes", "waiting")

    def __init__(self) -> None:
        self.batches = Tally()
        self.sizes = Tally(SIZES)
        self.last = (0.0, 0.0, 0)
        self.waiting = 0

    def wrote(self, began: float, entries: int) -> None:
        """A batch that left at `began` is on disk."""
        now = time.perf_counter()
        self.batches.add(now - began)
        self.sizes.add(entries)
        self.last = (began, now, entries)

    def gather(self) -> Iterable[Metric]:
        """As metrics."""
        yield histogram(
            "kangtou_log_batch_seconds",
            "A batch of entries, from its sending until it is on disk.",
            [((), self.batches)],
        )
        yield histogram("kangtou_log_batch_entries", "Entries that were written together.", [((), self.sizes)])
        yield gauge("kangtou_log_waiting", "Entries that wait for the next batch.", self.waiting)
