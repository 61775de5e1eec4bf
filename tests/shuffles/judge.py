"""Published tests of what was counted, each against the exact distribution of a uniform shuffle.

place     Pearson's chi-square of card x place. In one deal the places exclude each other, which makes the statistic
          n / (n - 1) times a chi-square of (kinds - 1)(n - 1) degrees of freedom
pair      Pearson's chi-square over the ordered pairs, one of each deal; where there are too few deals for that (30,000
          of 54 cards), the pairs of the same distance in canonical order are put together (`step`)
window    the permutation test (Knuth, TAOCP 2, 3.3.2 P) with t = 5; disjoint blocks of one shuffle are independent
descents  chi-square against the Eulerian numbers: one less than the runs up
rising    the same of the inverse: rising sequences, by which Bayer and Diaconis tell riffles from chance
cycles    chi-square against Stirling numbers of the first kind; what a wrong loop bound or a naive swap breaks
same      chi-square against the fixed points of a random permutation (one deal as seen from the one before)
suit      chi-square against the hypergeometric distribution

Cells in which fewer than 10 are expected are put together. All p-values of a run are compared with level / number of
tests (Bonferroni), so that a good shuffle fails with at most the stated probability.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import comb, factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from .packs import name_of
from .tally import WINDOW, Tally

LEAST = 10.0  # expected in a cell
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Test:
    """One test of one pack. `p`: how probable as much deviation is for a uniform shuffle."""

    pack: str
    name: str
    looked_at: int
    freedom: int
    p: float


def chi_square(counts: NDArray[Any], expected: Floats) -> tuple[int, float]:
    """Degrees of freedom and the p-value; small cells are put together."""
    seen, due = np.asarray(counts, dtype=float), np.asarray(expected, dtype=float)
    small = due < LEAST
    if small.any():
        seen = np.append(seen[~small], seen[small].sum())
        due = np.append(due[~small], due[small].sum())
        if due[-1] < LEAST:  # still too few: with the least of the others
            other = int(due[:-1].argmin())
            seen[other] += seen[-1]
            due[other] += due[-1]
            seen, due = seen[:-1], due[:-1]
    freedom = len(due) - 1
    assert freedom > 0, "too few deals"
    statistic = float(((seen - due) ** 2 / due).sum())
    return freedom, float(stats.chi2.sf(statistic, freedom))


def judged(tally: Tally) -> list[Test]:
    """All tests of one pack."""
    found = [_place(tally), _pair(tally), _of(tally, "suit", _suits(tally))]
    if not tally.copies:
        size = len(tally.pack)
        found += [
            _of(tally, "window", np.full(factorial(WINDOW), 1 / factorial(WINDOW))),
            _of(tally, "descents", eulerian(size)),
            _of(tally, "rising", eulerian(size)),
            _of(tally, "cycles", stirling(size)),
            _of(tally, "same", fixed_points(size)),
        ]
    return found


def _place(tally: Tally) -> Test:
    size, kinds = len(tally.pack), len(tally.kinds)
    share = np.array([tally.pack.count(card) for card in tally.kinds]) / size
    counts = tally.counts["place"].reshape(kinds, size)
    expected = np.broadcast_to(share[:, None] * tally.deals, counts.shape)
    assert expected.min() >= LEAST, "too few deals"
    statistic = ((counts - expected) ** 2 / expected).sum() * (size - 1) / size
    freedom = (kinds - 1) * (size - 1)
    return Test(name_of(tally.pack), "place", int(counts.sum()), freedom, float(stats.chi2.sf(statistic, freedom)))


def _pair(tally: Tally) -> Test:
    kinds = len(tally.kinds)
    chances, counts = _pairs(tally), tally.counts["pair"]
    if chances[chances > 0].min() * tally.deals >= LEAST:
        return _compared(tally, "pair", counts, chances)
    step = (np.arange(kinds)[None, :] - np.arange(kinds)[:, None]).ravel() % kinds
    return _compared(tally, "step", np.bincount(step, counts), np.bincount(step, chances).astype(np.float64))


def _of(tally: Tally, name: str, chances: Floats) -> Test:
    return _compared(tally, name, tally.counts[name], chances)


def _compared(tally: Tally, name: str, counts: NDArray[Any], chances: Floats) -> Test:
    number = int(counts.sum())
    possible = chances > 0
    freedom, p = chi_square(counts[possible], chances[possible] * number)
    if counts[~possible].any():
        p = 0.0  # what cannot be has been seen
    return Test(name_of(tally.pack), name, number, freedom, p)


def _pairs(tally: Tally) -> Floats:
    """First card, then the one that lies next."""
    many = np.array([tally.pack.count(card) for card in tally.kinds], dtype=float)
    size = len(tally.pack)
    return np.asarray((many[:, None] * (many - np.eye(len(many))) / (size * (size - 1))).ravel())


def _suits(tally: Tally) -> Floats:
    size = len(tally.pack)
    spades = sum(card[0] == "S" for card in tally.pack)
    return np.asarray(stats.hypergeom(size, spades, size // 4).pmf(np.arange(size + 1)))


@lru_cache(maxsize=16)
def eulerian(size: int) -> Floats:
    """Chances of 0, 1 … descents."""
    row = [1]
    for length in range(2, size + 1):
        before = [*row, 0]
        row = [(at + 1) * before[at] + (length - at) * (before[at - 1] if at else 0) for at in range(length)]
    return np.array([number / factorial(size) for number in row])


@lru_cache(maxsize=16)
def stirling(size: int) -> Floats:
    """Chances of 0, 1 … cycles."""
    row = [1]
    for length in range(size):
        row = [(length * row[at] if at <= length else 0) + (row[at - 1] if at else 0) for at in range(length + 2)]
    return np.array([number / factorial(size) for number in row])


@lru_cache(maxsize=16)
def fixed_points(size: int) -> Floats:
    """Chances of 0, 1 … fixed points."""
    deranged = [1, 0]
    for length in range(2, size + 1):
        deranged.append((length - 1) * (deranged[-1] + deranged[-2]))
    return np.array([comb(size, at) * deranged[size - at] / factorial(size) for at in range(size + 1)])
