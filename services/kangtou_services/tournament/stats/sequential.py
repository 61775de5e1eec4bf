"""When an encounter may stop: a test that may be looked at as often as one likes.

The set differences x₁, x₂ … of two entrants are taken as normal with unknown mean and variance. For each m the Bayes
factor of "mean m" against "standardised difference from m is normal with variance G", with the right Haar prior on the
scale, depends on the t statistic alone; under m it is a martingale, so it ever exceeds 1/α with probability ≤ α (Ville;
Lai 1976; Wang and Ramdas 2024). All m for which it does not are a confidence sequence:

    K = 1 + nG,  R = (√K / α)^(2/n),  half width = s √(ν (R-1) / ((1 - R/K) n)),  ν = n-1, if R < K, else infinite

Sets are means over games, near normal and, between equals, symmetric; tests/tournament/test_calibration.py checks the
errors on sets of real games. One is called better when the sequence at α lies beyond `low` on its side, so for both
sides together the error is α; they are called close when the sequence at 2β lies within ± `high`: if one is `high`
ahead, that is one side of it, so the error is β.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..model import Stopping

METHODS = ("none", "sequential")
G = 0.15  # the sequence is tightest where nG is about 8: from 50 sets on
LEAST = 10  # sets before the first look
GROWTH = 0.1  # later looks come when a tenth more sets were played

Floats = npt.NDArray[np.float64]


def half_width(count: int, deviation: float, error: float) -> float:
    """Of the confidence sequence after `count` sets with this sample standard deviation."""
    if count < 2:
        return math.inf
    if deviation == 0:
        return 0.0
    k = 1 + count * G
    r = (math.sqrt(k) / error) ** (2 / count)
    return deviation * math.sqrt((count - 1) * (r - 1) / ((1 - r / k) * count)) if r < k else math.inf


def bounds(values: Sequence[float] | Floats, error: float) -> tuple[float, float]:
    """The confidence sequence of the mean after these sets."""
    sample = np.asarray(values, dtype=float)
    if len(sample) < 2:
        return -math.inf, math.inf
    mean, half = float(sample.mean()), half_width(len(sample), float(sample.std(ddof=1)), error)
    return mean - half, mean + half


def decide(values: Sequence[float] | Floats, stopping: Stopping) -> str | None:
    """`better`: the first is more than `low` ahead; `worse`: behind; `close`: neither is `high` ahead; None: go on."""
    if stopping.method == "none" or len(values) < LEAST:
        return None
    lower = bounds(values, stopping.alpha)
    if lower[0] > stopping.low:
        return "better"
    if lower[1] < -stopping.low:
        return "worse"
    upper = bounds(values, min(0.999, 2 * stopping.beta))
    return "close" if upper[1] < stopping.high and upper[0] > -stopping.high else None


def looks(stopping: Stopping, width: int, played: int) -> int:
    """How many sets come before the next look, after `played`. `width`: sets that keep the tables busy."""
    if stopping.method == "none":
        return 1_000_000_000
    if not played:
        return max(LEAST, width)
    return max(width, math.ceil(GROWTH * played), 1)


def sets_to_decide(edge: float, deviation: float, stopping: Stopping) -> int | None:
    """About how many sets a test takes between entrants this far apart; None: it cannot tell them apart.

    Where the sequence with the true mean and deviation decides; half of all encounters stop before.
    """
    ahead = abs(edge)
    most = 10_000_000
    for error, far in ((stopping.alpha, ahead - stopping.low), (2 * stopping.beta, stopping.high - ahead)):
        count = _first(far, deviation, min(0.999, error), most)
        if count is not None:
            most = count
    return most if most < 10_000_000 else None


def _first(far: float, deviation: float, error: float, most: int) -> int | None:
    """The first number of sets whose half width is below `far`: it falls all the time, so by halving."""
    if far <= 0 or half_width(most, deviation, error) >= far:
        return None
    low, high = LEAST - 1, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if half_width(middle, deviation, error) < far else (middle, high)
    return high
