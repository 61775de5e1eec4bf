"""Means of sets with intervals.

The headline is Student's t by sets: sets are independent, and each is a mean over games from which the cards are gone,
so between bots that are not far apart it is near normal. It is shown from SHOWN_FROM sets on; below, nobody can say.
Beside it stands the bootstrap of the t statistic, which follows skew; where the two differ much (a bot that nearly
always wins by the same score), more sets are needed. tests/tournament/test_calibration.py holds the headline to its
level on sets of real games.

A mean may be over strata (an entrant's encounters): each counts alike, and the spread is that within them. If
encounters were stopped by a sequential test, a t interval would be too short, because a test stops where chance favours
a side: then the headline is the confidence sequence (sequential.py), for strata with the error shared among them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from .sequential import half_width

SHOWN_FROM = 20
RESAMPLES = 2_000
MANY = 2_000  # sets from which on no resampling tells anything that the normal bounds do not
_CELLS = 1_000_000  # resampled values at once: 500 resamples of MANY

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Mean:
    """Of `sets` values: mean, standard error and both intervals; bounds are infinite where none is shown."""

    value: float
    error: float
    low: float
    high: float
    boot_low: float
    boot_high: float
    sets: int

    @property
    def shown(self) -> bool:
        """Whether there are enough sets for an interval."""
        return self.sets >= SHOWN_FROM


@dataclass(frozen=True, slots=True)
class _Strata:
    """Mean and spread of strata that count alike."""

    mean: float
    error: float
    freedom: float


def _strata(parts: Sequence[Floats]) -> _Strata:
    """Degrees of freedom by Welch and Satterthwaite; one stratum gives n - 1."""
    shares = np.array([float(part.var(ddof=1)) / len(part) for part in parts]) / len(parts) ** 2
    total = float(shares.sum())
    mean = float(np.mean([part.mean() for part in parts]))
    if total == 0:
        return _Strata(mean, 0.0, 1.0)
    freedom = total**2 / sum(share**2 / (len(part) - 1) for share, part in zip(shares, parts, strict=True))
    return _Strata(mean, math.sqrt(total), float(freedom))


def t_interval(values: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Bounds of the means along the last axis: one stratum each."""
    count = values.shape[-1]
    mean = values.mean(axis=-1)
    half = stats.t.ppf((1 + confidence) / 2, count - 1) * values.std(axis=-1, ddof=1) / math.sqrt(count)
    return mean - half, mean + half


def bootstrap_bounds(parts: Sequence[Floats], confidence: float, seed: int = 0) -> tuple[float, float]:
    """Bootstrap-t bounds of the mean of strata; the same values give the same bounds."""
    chance = np.random.default_rng(seed)
    whole, count = _strata(parts), sum(map(len, parts))
    if whole.error == 0 or count > MANY:
        half = float(stats.norm.ppf((1 + confidence) / 2)) * whole.error
        return whole.mean - half, whole.mean + half
    resamples = min(RESAMPLES, _CELLS // count)
    means, variances = np.zeros(resamples), np.zeros(resamples)
    for part in parts:
        drawn = part[chance.integers(0, len(part), (resamples, len(part)))]
        means += drawn.mean(axis=1) / len(parts)
        variances += drawn.var(axis=1, ddof=1) / len(part) / len(parts) ** 2
    # A resample of equal values has no spread of its own: it gets the sample's.
    errors = np.sqrt(np.where(variances > 1e-12 * whole.error**2, variances, whole.error**2))
    tails = np.quantile((means - whole.mean) / errors, [(1 + confidence) / 2, (1 - confidence) / 2])
    low, high = whole.mean - tails * whole.error
    return float(low), float(high)


def mean_of(parts: Sequence[Floats], confidence: float, stopped: bool = False, bootstrap: bool = True) -> Mean:
    """The mean of strata. Strata of a single set are thrown together. `stopped`: by a sequential test. `bootstrap`
    takes most of the time: live tables do without."""
    parts = [part for part in parts if len(part)]
    count = sum(map(len, parts))
    if count and any(len(part) < 2 for part in parts):
        parts = [np.concatenate(parts)]
    value = float(np.mean([part.mean() for part in parts])) if count else math.nan
    none = (-math.inf, math.inf)
    if count < 2:
        return Mean(value, math.inf, *none, *none, count)
    whole = _strata(parts)
    if count < SHOWN_FROM:
        return Mean(value, whole.error, *none, *none, count)
    if stopped:
        error = (1 - confidence) / len(parts)
        half = sum(half_width(len(part), float(part.std(ddof=1)), error) for part in parts) / len(parts)
    else:
        half = float(stats.t.ppf((1 + confidence) / 2, whole.freedom)) * whole.error
    bounds = bootstrap_bounds(parts, confidence) if bootstrap else none
    return Mean(value, whole.error, value - half, value + half, *bounds, count)


def sets_for_width(deviation: float, half_width: float, confidence: float) -> int:
    """How many sets an interval of plus or minus `half_width` takes, from a pilot's standard deviation of sets."""
    if deviation <= 0:
        return SHOWN_FROM
    count = max(2, math.ceil((float(stats.norm.ppf((1 + confidence) / 2)) * deviation / half_width) ** 2))
    while float(stats.t.ppf((1 + confidence) / 2, count - 1)) * deviation / math.sqrt(count) > half_width:
        count += 1
    return max(SHOWN_FROM, count)


def sets_for_power(deviation: float, edge: float, alpha: float, power: float) -> int:
    """How many sets a t test at level `alpha` (two-sided) takes to see a difference `edge` with this power."""
    if deviation <= 0:
        return SHOWN_FROM
    normal = float(stats.norm.ppf(1 - alpha / 2) + stats.norm.ppf(power))
    count = max(SHOWN_FROM, math.floor((normal * deviation / edge) ** 2))  # a little too few: t has longer tails
    while count < 1_000:
        cut = float(stats.t.ppf(1 - alpha / 2, count - 1))
        if float(stats.nct.sf(cut, count - 1, edge / deviation * math.sqrt(count))) >= power:
            break
        count += 1
    return count
