"""What duplicate sets save: the variance that as many games on independent boards would have, over that of the sets.

A game of a set, taken alone, is a game on an independent board. So the mean of one game of each arrangement, each on a
board of its own, has the variance Σ Var(game of arrangement j) / k², and a set of the same k games has Var(set). A
factor of 4: a duplicate tournament says as much as four times as many games. bench/duplicate.py compares it with games
that really were played on independent boards. The interval is the jackknife's over sets, on the logarithm.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from ..scores import SetScore
from .intervals import SHOWN_FROM

GROUPS = 200  # at most, that the jackknife leaves out one after another

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Factor:
    """The factor and its interval, from so many sets."""

    value: float
    low: float
    high: float
    sets: int


def factor_of(games: Floats, sets: Floats, confidence: float) -> Factor | None:
    """`games` (set, game): differences in single games; `sets`: in whole sets. None: too few, or nothing varies."""
    count = len(sets)
    if count < SHOWN_FROM or np.allclose(sets, sets[0]):
        return None
    columns = np.column_stack([games, sets])
    columns = columns - columns.mean(axis=0)  # so that sums of squares keep their digits
    groups = min(count, GROUPS)
    starts = np.linspace(0, count, groups, endpoint=False).astype(int)
    sizes = np.diff(np.append(starts, count))
    sums, squares = np.add.reduceat(columns, starts), np.add.reduceat(columns**2, starts)
    whole = float(_log_factor(sums.sum(axis=0), squares.sum(axis=0), np.array(count)))
    left_out = _log_factor(sums.sum(axis=0) - sums, squares.sum(axis=0) - squares, count - sizes)
    error = math.sqrt((groups - 1) / groups * float(((left_out - left_out.mean()) ** 2).sum()))
    far = float(stats.t.ppf((1 + confidence) / 2, groups - 1)) * error
    return Factor(math.exp(whole), math.exp(whole - far), math.exp(whole + far), count)


def _log_factor(sums: Floats, squares: Floats, count: npt.NDArray[np.int64]) -> Floats:
    """From sums and sums of squares of `count` sets; the last column is the sets', the others are single games'."""
    number = np.asarray(count, dtype=float)[..., None]
    variances = np.maximum((squares - sums**2 / number) / (number - 1), 1e-300)
    games = variances.shape[-1] - 1
    logs: Floats = np.log(variances[..., :-1].sum(axis=-1) / games**2 / variances[..., -1])
    return logs


def duplicate_factor(scores: Sequence[SetScore], confidence: float) -> Factor | None:
    """Of a tournament: the first two entrants of every encounter, each encounter less its own means.

    Not where they have unequal numbers of seats in a game (two entrants at three or five seats): there a set is not the
    plain mean of its games, and a single game is no fair comparison.
    """
    parts: dict[tuple[int, int], list[SetScore]] = defaultdict(list)
    for score in scores:
        if len(score.games) > 1 and _is_mean_of_games(score):
            parts[score.meeting].append(score)
    games, sets = [], []
    for group in parts.values():
        if len(group) < 2:
            continue
        alone = np.array([[game[0] - game[1] for game in score.games] for score in group])
        whole = np.array([score.values[0] - score.values[1] for score in group])
        stretch = math.sqrt(len(group) / (len(group) - 1))  # a mean of its own was taken away
        games.append((alone - alone.mean(axis=0)) * stretch)
        sets.append((whole - whole.mean()) * stretch)
    if not sets or len({part.shape[1] for part in games}) > 1:
        return None
    return factor_of(np.concatenate(games), np.concatenate(sets), confidence)


def _is_mean_of_games(score: SetScore) -> bool:
    """Within rounding."""
    whole = score.values[0] - score.values[1]
    games = sum(game[0] - game[1] for game in score.games) / len(score.games)
    return abs(whole - games) <= 1e-9 * max(1.0, abs(whole))
