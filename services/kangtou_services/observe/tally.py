"""Histograms and counters of plain numbers: no lock and no library on the way of a move.

They are changed and read in the event loop of their process alone (expose.py sees to that).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence

from prometheus_client.core import HistogramMetricFamily
from prometheus_client.utils import floatToGoString

# Seconds: of stages of a move, of whatever takes longer, and entries of a batch.
FAST = (0.000_05, 0.000_1, 0.000_2, 0.000_5, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 15.0)
SLOW = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 900.0, 3600.0)
SIZES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0)


class Tally:
    """How often a value fell below each bound; `counts` has one place more than `bounds`."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: Sequence[float] = FAST) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def add(self, value: float) -> None:
        """One more."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    def __len__(self) -> int:
        return sum(self.counts)

    def quantile(self, part: float) -> float:
        """The bound below which that part of the values lies; 0.0 without any."""
        wanted, seen = part * len(self), 0
        if not wanted:
            return 0.0
        for bound, count in zip((*self.bounds, self.bounds[-1]), self.counts, strict=True):
            seen += count
            if seen >= wanted:
                return bound
        return self.bounds[-1]

    def put(self, family: HistogramMetricFamily, labels: Sequence[str] = ()) -> None:
        """Into a metric: cumulative, as Prometheus has it."""
        names = (*map(floatToGoString, self.bounds), "+Inf")
        buckets, seen = [], 0
        for name, count in zip(names, self.counts, strict=True):
            seen += count
            buckets.append((name, float(seen)))
        family.add_metric(labels, buckets, self.total)


def histogram(
    name: str, text: str, tallies: Iterable[tuple[Sequence[str], Tally]], labels: Sequence[str] = ()
) -> HistogramMetricFamily:
    """A metric of tallies, each with the values of its labels."""
    family = HistogramMetricFamily(name, text, labels=labels)
    for values, tally in tallies:
        tally.put(family, values)
    return family
