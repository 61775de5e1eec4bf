"""Do the statistics keep what they promise? Tournaments are simulated through the real code: results, sets, figures.

Sets are those of real games, drawn with replacement: bots that play greedily and by chance in a share of their moves,
so that their scores are as skewed, discrete and long-tailed as those of the games are. The mean of what is drawn from
is known exactly. Beside them stand normal ones.

A/A      two equal bots: how often does a tournament of SHOWN_FROM sets claim that one is better, at 5 %? How often
         does the sequential test, looked at after every batch up to 300 sets?
coverage how often does the 95 % interval after SHOWN_FROM sets hold the true mean, for equal and for unequal bots?
A/B      a known small edge: the sequential test finds it, in about the predicted number of sets
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from bench._sets import fields, play_sets
from kangtou_services.tournament.model import Game, Result, Stopping
from kangtou_services.tournament.report import Figures
from kangtou_services.tournament.scores import full_set_id, set_scores
from kangtou_services.tournament.stats.intervals import SHOWN_FROM, mean_of
from kangtou_services.tournament.stats.sequential import LEAST, decide, looks, sets_to_decide

from ..conftest import Counts
from .made import spec_of

pytestmark = pytest.mark.timeout(1500)  # the full counts

Floats = npt.NDArray[np.float64]
EQUAL, UNEQUAL = ("sloppy30", "sloppy30"), ("sloppy20", "sloppy40")
CONFIDENCE, NOMINAL = 0.95, 0.05
MOST = 300  # sets of an encounter


def which(counts: Counts) -> tuple[str, ...]:
    """Every game, variant and number of seats, or one of each game."""
    names = tuple(one.name for one in fields())
    short = ("hongshi", "duizhu", "erbaiwu 4", "wushik chengde1")
    return tuple(name for name in names if name in short or counts(0, 1))


@cache
def drawn_from(name: str, bots: tuple[str, str], sets: int) -> Floats:
    """Set differences of real games; equal bots: both ways round, so that the mean is 0."""
    one = next(one for one in fields(bots) if one.name == name)
    edges = np.array([score.edge(0, 1) for score in play_sets(one, sets, workers=1)])
    return np.concatenate([edges, -edges]) if bots[0] == bots[1] else edges


def tournaments(name: str, bots: tuple[str, str], pool: int, count: int, size: int) -> Iterator[Floats]:
    """Set differences of so many tournaments, each of `size` sets."""
    source = drawn_from(name, bots, pool)
    chance = np.random.default_rng(zlib.crc32(f"{name}{bots}".encode()))
    for _ in range(count):
        yield source[chance.integers(0, len(source), size)]


def played(differences: Floats) -> list[Result]:
    """Results of a tournament of two whose sets have these differences: four seats, two games a set."""
    results = []
    for number, difference in enumerate(differences.tolist()):
        for place, seated in enumerate(((0, 1, 0, 1), (1, 0, 1, 0))):
            game = Game(full_set_id((0, 0), number), place, (0, 1), number, seated, 2)
            scores = tuple(difference / 2 if who == 0 else -difference / 2 for who in seated)
            results.append(Result(game, game.id, scores, (1, 1, 1, 1), ("",) * 4))
    return results


def upper(hits: int, count: int) -> float:
    """The upper 99 % bound of a share (Clopper and Pearson)."""
    return float(stats.beta.ppf(0.99, hits + 1, count - hits)) if hits < count else 1.0


def lower(hits: int, count: int) -> float:
    """The lower one."""
    return float(stats.beta.ppf(0.01, hits, count - hits + 1)) if hits else 0.0


# ---- a fixed number of sets ----


def test_equal_bots_are_told_apart_no_more_often_than_promised(counts: Counts) -> None:
    """A/A through results, sets and figures: false positives at most 1.2 times the nominal, coverage 95 ± 1 %."""
    names, each, pool = which(counts), counts(75, 770), counts(60, 250)
    wrong = 0
    shares = []
    for name in names:
        own = 0
        for differences in tournaments(name, EQUAL, pool, each, SHOWN_FROM):
            results = played(differences)
            spec = spec_of(2, "duizhu", sets=SHOWN_FROM)
            figures = Figures(spec, results, set_scores(results, 1))
            mean = figures.edge(0, bootstrap=False)
            assert mean.sets == SHOWN_FROM
            own += mean.low > 0 or mean.high < 0
        wrong += own
        shares.append(f"{name} {100 * own / each:.1f}")
    count = each * len(names)
    print(
        f"\nA/A: {count} tournaments of {SHOWN_FROM} sets: {100 * wrong / count:.2f} % false positives "
        f"(nominal 5), upper 99 % bound {100 * upper(wrong, count):.2f} %; by game: {', '.join(shares)}"
    )
    if count >= 10_000:
        assert upper(wrong, count) <= 1.2 * NOMINAL
        assert abs(1 - wrong / count - CONFIDENCE) <= 0.01
    else:
        assert lower(wrong, count) <= NOMINAL <= upper(wrong, count)


def test_intervals_of_unequal_bots_hold_the_truth(counts: Counts) -> None:
    """A/B: the mean of what is drawn from is known; bootstrap beside the headline."""
    names, each, pool = which(counts), counts(75, 770), counts(60, 250)
    held = boot = 0
    for name in names:
        truth = float(drawn_from(name, UNEQUAL, pool).mean())
        for differences in tournaments(name, UNEQUAL, pool, each, SHOWN_FROM):
            mean = mean_of([differences], CONFIDENCE)
            held += mean.low <= truth <= mean.high
            boot += mean.boot_low <= truth <= mean.boot_high
    count = each * len(names)
    print(
        f"coverage of unequal bots: {count} tournaments of {SHOWN_FROM} sets: t {100 * held / count:.2f} %, "
        f"bootstrap {100 * boot / count:.2f} %"
    )
    if count >= 10_000:
        assert abs(held / count - CONFIDENCE) <= 0.01
    else:
        assert lower(held, count) <= CONFIDENCE <= upper(held, count)
    assert upper(boot, count) >= 0.93


# ---- sequential tests ----


def stopped_at(source: Floats, chance: np.random.Generator, test: Stopping) -> tuple[str | None, int]:
    """The verdict of an encounter of MOST sets at most, and how many it took; batches as the schedule makes them."""
    values = source[chance.integers(0, len(source), MOST)] if len(source) else chance.standard_normal(MOST)
    count = 0
    while count < MOST:
        count = min(MOST, count + looks(test, 1, count))
        verdict = decide(values[:count], test)
        if verdict is not None:
            return verdict, count
    return None, count


def test_sequential_test_of_equals(counts: Counts) -> None:
    """A/A: looked at again and again, it calls one of two equal bots better at most as often as it says."""
    names, each, pool = which(counts), counts(75, 770), counts(60, 250)
    sources = {"normal": np.array([]), **{name: drawn_from(name, EQUAL, pool) for name in names}}
    wrong, shares = 0, []
    for name, source in sources.items():
        deviation = float(source.std()) if len(source) else 1.0
        chance = np.random.default_rng(zlib.crc32(name.encode()))
        test = Stopping("sequential", 0.0, 10 * deviation, NOMINAL, 1e-9)  # never `close`, so that it may go wrong
        own = sum(stopped_at(source, chance, test)[0] in ("better", "worse") for _ in range(each))
        wrong += own
        shares.append(f"{name} {100 * own / each:.1f}")
    count = each * len(sources)
    print(
        f"A/A, sequential: {count} encounters of up to {MOST} sets: {100 * wrong / count:.2f} % false positives "
        f"(nominal 5), upper 99 % bound {100 * upper(wrong, count):.2f} %; by game: {', '.join(shares)}"
    )
    assert (upper(wrong, count) if count >= 10_000 else lower(wrong, count)) <= 1.2 * NOMINAL


@pytest.mark.parametrize("edge", [0.3, 0.6])
def test_a_known_small_edge_is_found_when_expected(edge: float, counts: Counts) -> None:
    """A/B: equal bots' sets with an edge of so many standard deviations put on top."""
    names, each, pool = which(counts), counts(30, 200), counts(60, 250)
    taken, expected, right = [], [], 0
    for name in names:
        equal = drawn_from(name, EQUAL, pool)
        deviation = float(equal.std())
        test = Stopping("sequential", 0.0, edge * deviation, NOMINAL, NOMINAL)
        predicted = sets_to_decide(edge * deviation, deviation, test)
        assert predicted is not None
        expected.append(predicted)
        chance = np.random.default_rng(zlib.crc32(name.encode()))
        for _ in range(each):
            verdict, count = stopped_at(equal + edge * deviation, chance, test)
            taken.append(count)
            right += verdict == "better"
    middle, count = float(np.median(taken)), len(taken)
    print(
        f"A/B, edge of {edge} deviations: {100 * right / count:.1f} % of {count} found; "
        f"median {middle:.0f} sets, predicted {np.mean(expected):.0f}"
    )
    assert right / count >= 1 - NOMINAL - 3 * math.sqrt(NOMINAL / count)
    assert 0.7 <= middle / float(np.mean(expected)) <= 1.2
    assert min(taken) >= LEAST
