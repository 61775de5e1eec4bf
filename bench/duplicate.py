"""What duplicate sets save: the variance of as many games on independent boards over that of sets, greedy v random.

python -m bench.duplicate [--sets 400] [--game hongshi]

factor    both really played: so many sets, and so many times the same arrangements each on a board of its own
within    the same from the sets alone, as tournament reports tell it (stats/variance.py); not told where the entrants
          have unequal numbers of seats in a game
per game  sets of all patterns on one board against sets of one pattern, at the same number of games: above 1 says that
          the fewer games on a board are worth more (hongshi takes all patterns: see tournament/sets.py)
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kangtou_engine.registry import REGISTRY
from kangtou_services.tournament.model import Game
from kangtou_services.tournament.scores import SetScore, full_set_id, set_scores
from kangtou_services.tournament.sets import config_of, patterns
from kangtou_services.tournament.stats.variance import duplicate_factor

from ._sets import Field, fields, play, play_sets

CONFIDENCE = 0.95
RESAMPLES = 2_000

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Measured:
    """A ratio of two variances with its bootstrap interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:5.2f} ({self.low:.2f} … {self.high:.2f})"


def edges(scores: tuple[SetScore, ...]) -> Floats:
    """What the first entrant made more, by set."""
    return np.array([score.edge(0, 1) for score in scores])


def ratio(one: Floats, other: Floats, times: float = 1.0) -> Measured:
    """Variance of one sample over that of another, times a number."""
    chance = np.random.default_rng(1)
    drawn = [
        sample[chance.integers(0, len(sample), (RESAMPLES, len(sample)))].var(axis=1, ddof=1) for sample in (one, other)
    ]
    low, high = np.quantile(times * drawn[0] / drawn[1], [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Measured(times * float(one.var(ddof=1) / other.var(ddof=1)), float(low), float(high))


def all_patterns(one: Field, count: int) -> tuple[SetScore, ...]:
    """Sets of all patterns on one board."""
    config, results = config_of(one.spec()), []
    every = [tuple((entrant + by) % 2 for entrant in pattern) for pattern in patterns(config, 2) for by in range(2)]
    for number in range(count):
        set_id = full_set_id((0, 0), number)
        games = [Game(set_id, place, (0, 1), number, seated, len(every)) for place, seated in enumerate(every)]
        results += [play(one, game) for game in games]
    return set_scores(results, REGISTRY.game(one.game).spec.better)


def one_pattern(scores: tuple[SetScore, ...]) -> Floats:
    """The same boards, of each only the two games of one pattern, another one from board to board."""
    return np.array(
        [
            (score.games[at][0] - score.games[at][1] + score.games[at + 1][0] - score.games[at + 1][1]) / 2
            for score in scores
            for at in (2 * (score.number % (len(score.games) // 2)),)
        ]
    )


def main() -> None:
    """A row for each game, variant and number of seats."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=400)
    parser.add_argument("--game", default="")
    args = parser.parse_args()
    print(f"greedy against random, {args.sets} sets each; {100 * CONFIDENCE:g} % intervals")
    head = ("game", "games/set", "factor", "within", "mean difference", "per game")
    print(f"{head[0]:20} {head[1]:>9}  {head[2]:22} {head[3]:22} {head[4]:22} {head[5]}", flush=True)
    began, lowest = time.perf_counter(), 1e9
    for one in fields():
        if args.game and one.game != args.game:
            continue
        scores = play_sets(one, args.sets)
        apart = edges(play_sets(one, args.sets, independent=True))
        together = edges(scores)
        factor, within = ratio(apart, together), duplicate_factor(scores, CONFIDENCE)
        half = 1.96 * together.std(ddof=1) / len(together) ** 0.5
        mean = f"{together.mean():+.2f} ± {half:.2f}"
        inside = Measured(within.value, within.low, within.high) if within else "not told"
        fewer = ""
        count = len(patterns(config_of(one.spec()), 2))
        if 1 < count <= 3:
            many = all_patterns(one, args.sets)
            fewer = str(ratio(edges(many), one_pattern(many), count))
        print(f"{one.name:20} {len(scores[0].games):9}  {factor!s:22} {inside!s:22} {mean:22} {fewer}", flush=True)
        lowest = min(lowest, factor.value)
    print(f"{time.perf_counter() - began:.0f} s; lowest factor {lowest:.2f}", file=sys.stderr)


if __name__ == "__main__":
    main()
