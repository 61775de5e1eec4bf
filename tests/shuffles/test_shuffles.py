"""Production shuffles are uniform; a biased one is found; the tests' own distributions are right."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from scipy import stats

from tests.conftest import Counts

from .__main__ import main
from .judge import eulerian, fixed_points, judged, stirling
from .many import judge_all, show, tallied
from .packs import ROUNDS, packs
from .planted import BIASES
from .tally import cycles

MASTER = b"a fixed one: this test has no chance"


def test_shuffles_are_uniform(counts: Counts) -> None:
    """Every pack of every game. (A million, on all cores, by chance: `python -m tests.shuffles --deals 1000000`.)"""
    assert len(packs()) >= 6
    each = counts(700, 20_000)
    verdict = judge_all([tallied(MASTER, pack, number * each, each) for number, pack in enumerate(packs())])
    assert verdict.good, show(verdict, 0)
    assert verdict.deals == each * ROUNDS * len(packs())
    assert {len(judged(tallied(MASTER, pack, 0, 200))) for pack in packs()} == {3, 8}


@pytest.mark.parametrize("bias", BIASES)
def test_a_biased_shuffle_is_found(bias: str) -> None:
    """Each kind, in 2,800 deals of one pack."""
    pack = next(pack for pack in packs() if len(pack) == 54)
    verdict = judge_all([tallied(MASTER, pack, 0, 700, bias)])
    assert not verdict.good
    assert (verdict.repeated > 0) == (bias == "the same deal twice")
    assert verdict.failed, bias


def test_a_bias_of_two_decks_is_found() -> None:
    """There with fewer tests, since copies look alike."""
    pack = max(packs(), key=len)
    assert judge_all([tallied(MASTER, pack, 0, 700)]).good
    assert judge_all([tallied(MASTER, pack, 0, 700, "naive swap")]).failed


def test_the_distributions() -> None:
    """Against all 720 orders of six cards."""
    every = np.array(list(itertools.permutations(range(6))))
    descents = Counter((every[:, 1:] < every[:, :-1]).sum(axis=1).tolist())
    assert [descents[at] / 720 for at in range(6)] == pytest.approx(list(eulerian(6)))
    fixed = Counter((every == np.arange(6)).sum(axis=1).tolist())
    assert [fixed[at] / 720 for at in range(7)] == pytest.approx(list(fixed_points(6)))
    rings = Counter(cycles(every).tolist())
    assert [rings[at] / 720 for at in range(7)] == pytest.approx(list(stirling(6)))


def test_p_values_are_uniform() -> None:
    """Of many small runs: neither too good nor too bad. This holds the corrections (n / (n - 1), small cells) to it."""
    pack = packs()[0]
    found = [test.p for run in range(30) for test in judged(tallied(b"run %d" % run, pack, 0, 150))]
    assert stats.kstest(found, "uniform").pvalue > 1e-3


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    """Bad input is one clear error; a bias is an exit code."""
    with pytest.raises(SystemExit):
        main(["--deals", "10"])
    assert "at least 5000" in capsys.readouterr().err
    assert main(["--deals", "5000", "--workers", "1", "--bias", "naive swap", "--master", "00"]) == 1
    assert "NOT UNIFORM" in capsys.readouterr().out
