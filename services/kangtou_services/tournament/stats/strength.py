"""One number an entrant over everything that was played, with its uncertainty.

The pairwise form of the Plackett-Luce model (Bradley-Terry): in a set, entrant i does better than j with the chance
1 / (1 + 10^((Eⱼ - Eᵢ) / 400)), a tie is half of both. A set of more than two is all its pairs. The estimate maximises
the likelihood of all sets with a weak prior (as if everybody had played PRIOR sets against the mean and halved them),
so that nobody is infinitely strong. Its covariance is the sandwich by sets: pairs of one set are not counted as
independent. The mean of the entrants is 0; differences of 400 are odds of ten to one.

The platform's own ratings (docs/ratings.md) follow a player over months, in order. A tournament is one moment: here the
order of the games does not matter, and the uncertainty is that of the sets.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special, stats

from ..scores import SetScore

PRIOR = 1.0
ELO = 400 / math.log(10)

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Strength:
    """`elo` with the bounds of its interval; `sets` it is from."""

    elo: float
    low: float
    high: float
    sets: int


def _duels(scores: Iterable[SetScore]) -> tuple[Floats, npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Rows of one pair in one set: what the first got (1, ½, 0); the two; the set's number."""
    points, pairs, sets = [], [], []
    for number, score in enumerate(scores):
        for place, (one, own) in enumerate(zip(score.encounter, score.values, strict=True)):
            for other, theirs in zip(score.encounter[:place], score.values[:place], strict=True):
                points.append(0.5 if abs(own - theirs) < 1e-9 else float(own > theirs))
                pairs.append((one, other))
                sets.append(number)
    return np.array(points), np.array(pairs, dtype=np.int64).reshape(-1, 2), np.array(sets, dtype=np.int64)


def _fit(points: Floats, pairs: npt.NDArray[np.int64], count: int) -> tuple[Floats, Floats]:
    """Estimates (in logits) and the curvature of the likelihood there, by Newton's method."""
    theta = np.zeros(count)
    one, other = pairs[:, 0], pairs[:, 1]
    hessian = np.eye(count)
    for _ in range(100):
        chance = special.expit(theta[one] - theta[other])
        prior = special.expit(theta)
        residual = points - chance
        gradient = np.bincount(one, residual, count) - np.bincount(other, residual, count) + PRIOR * (0.5 - prior)
        weight = chance * (1 - chance)
        hessian = np.zeros((count, count))
        np.add.at(hessian, (one, other), -weight)
        np.add.at(hessian, (other, one), -weight)
        np.fill_diagonal(hessian, np.bincount(one, weight, count) + np.bincount(other, weight, count))
        hessian[np.diag_indices(count)] += PRIOR * prior * (1 - prior)
        step = np.linalg.solve(hessian, gradient)
        theta = theta + step * min(1.0, 2.0 / max(1e-12, float(np.abs(step).max())))
        if float(np.abs(step).max()) < 1e-10:
            break
    return theta, hessian


def strengths(scores: Sequence[SetScore], count: int, confidence: float) -> tuple[Strength, ...]:
    """Of `count` entrants. Who has played no set is at 0 without bounds."""
    points, pairs, sets = _duels(scores)
    theta, hessian = _fit(points, pairs, count)
    # The score of the prior is not part of the data: the sandwich is of the sets alone.
    slope = np.zeros((len(scores), count))
    residual = points - special.expit(theta[pairs[:, 0]] - theta[pairs[:, 1]])
    np.add.at(slope, (sets, pairs[:, 0]), residual)
    np.add.at(slope, (sets, pairs[:, 1]), -residual)
    inverse = np.linalg.inv(hessian)
    more = len(scores) / max(1, len(scores) - 1)
    sandwich = inverse @ (slope.T @ slope) @ inverse * more
    centre = np.eye(count) - 1 / count
    theta = centre @ theta
    # With few sets, or all won, the sandwich sees no spread: then what the likelihood itself says.
    variance = np.maximum(np.diag(centre @ sandwich @ centre.T), np.diag(centre @ inverse @ centre.T))
    played = np.zeros(count, dtype=int)
    for score in scores:
        played[list(score.encounter)] += 1
    half = float(stats.norm.ppf((1 + confidence) / 2)) * np.sqrt(variance)
    return tuple(
        Strength(ELO * own, ELO * (own - far), ELO * (own + far), int(number))
        if number
        else Strength(0.0, -math.inf, math.inf, 0)
        for own, far, number in zip(theta.tolist(), half.tolist(), played, strict=True)
    )


def quick_ratings(scores: Sequence[SetScore]) -> dict[int, float]:
    """Estimates alone, of those who have played; rounded, so that no machine's last bit decides who meets whom."""
    if not scores:
        return {}
    points, pairs, _ = _duels(sorted(scores, key=lambda score: (score.meeting, score.number)))
    theta, _ = _fit(points, pairs, int(pairs.max()) + 1)
    seen = {entrant for score in scores for entrant in score.encounter}
    return {entrant: round(ELO * float(theta[entrant]), 3) for entrant in sorted(seen)}
