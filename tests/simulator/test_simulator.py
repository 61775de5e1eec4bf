"""The simulator: its seeds hold, a seed is the same run again, each planted bug is found."""

from __future__ import annotations

import gc
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.conftest import Counts

from . import planted
from .__main__ import main
from .many import run_many, run_seeds, show
from .named import SOON, named
from .network import Weather
from .plan import GAMES, KINDS, Fault, Plan, plan
from .run import run_seed
from .store import Temper

ROOT = Path(__file__).parents[2]
FOUND_WITHIN = 500  # seeds
SUITED = 100  # before them, with plans that suit a bug that few others show
HELD = Weather(spread_s=0.05, held=0.1, held_s=2.0)
PEOPLE = frozenset({0, 1})
SUITS: dict[str, dict[str, Any]] = {
    "answer on whatever stream": {"standing": 0.3, "clumsy": 0.3, "weather": HELD, "kinds": ("cut stream", "cut link")},
    "give a person's standing answer at once": {"people": PEOPLE, "standing": 0.3, "temper": Temper(), "kinds": ()},
    "lose answers to streams that lag": {"queue_updates": 4, "standing": 0.3, "clumsy": 0.3, "weather": HELD},
    "take a refused entry for stored": {"wired": True, "temper": Temper(late=0.15), "kinds": ("declare dead",)},
}


@pytest.fixture(autouse=True, scope="module")
def _only_what_is_made_here() -> Iterator[None]:
    """Each run collects its garbage: what the tests before have left in memory must not be looked through each time."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


def suited(bug: str, seed: int) -> Plan:
    """What a seed plays, changed so that the bug shows more often. `kinds`: of faults, in place of its own."""
    changes = dict(SUITS[bug])
    drawn = plan(seed)
    kinds = changes.pop("kinds", None)
    if kinds is not None:
        rng = Random(seed)
        faults = [Fault(rng.choice(kinds), 3 * rng.random(), 0.4, rng.random(), True) for _ in range(6 if kinds else 0)]
        changes["faults"] = tuple(sorted(faults, key=lambda fault: fault.at))
    return replace(drawn, **changes)


@pytest.mark.slow
@pytest.mark.timeout(1_800)
def test_every_promise_holds_whatever_the_seed(counts: Counts) -> None:
    """Faults of all kinds, games of all kinds. (10,000 in one go are the acceptance line.)"""
    count = counts(150, 10_000)
    total = run_seeds(0, count)
    sys.stdout.write(f"{show(total, total.cpu_s)}\n")
    assert total.violations == {}
    assert total.seeds == count
    assert set(total.games) == set(GAMES)
    assert {kind for kind in KINDS if not total.counts[kind]} == set()
    assert {what for what, happened in named(total.counts).items() if what in SOON and not happened} == set()
    assert total.answered > 10 * count


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("promise", planted.PROMISES)
def test_a_planted_bug_is_found(promise: str, counts: Counts) -> None:
    """The invariants see each that breaks the promise; in CI, the first of them."""
    for bug in planted.PROMISES[promise][: counts(1, len(planted.BUGS))]:
        plans = [suited(bug, seed) for seed in range(SUITED if bug in SUITS else 0)]
        plans += [plan(seed) for seed in range(FOUND_WITHIN)]
        with planted.planted(bug):
            found = any(run_seed(one.seed, given=one).violations for one in plans)
        assert found, f"{bug}: not in {len(plans)} runs"


def test_every_promise_has_a_bug_that_breaks_it() -> None:
    """And no bug is there for nothing."""
    named_bugs = [bug for bugs in planted.PROMISES.values() for bug in bugs]
    assert sorted(named_bugs) == sorted(planted.BUGS)
    assert all(planted.PROMISES.values())


@pytest.mark.parametrize("seed", [3, 190, 353])
def test_a_seed_is_the_same_run_again(seed: int) -> None:
    """To the byte of every message and entry, whatever else lies in memory."""
    first = run_seed(seed, trace=True)
    kept = [object() for _ in range(10_000)]
    again = run_seed(seed, trace=True)
    assert again.trace == first.trace
    assert (again.digest, again.steps, again.counts) == (first.digest, first.steps, first.counts)
    assert len(kept) == 10_000


def test_another_seed_is_another_run() -> None:
    assert run_seed(3).digest != run_seed(4).digest


def test_a_seed_is_the_same_run_in_another_process() -> None:
    """Which orders its sets otherwise."""
    wanted = run_seed(353)
    for hashing in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-m", "tests.simulator", "--seed", "353"],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": hashing},
            capture_output=True,
            text=True,
            check=False,
            timeout=110,
        )
        assert f"hash {wanted.digest:08x}, {wanted.steps} steps" in done.stdout, done.stdout + done.stderr
        assert done.returncode == 0


def test_plans_have_everything() -> None:
    """All games and faults, in a few hundred seeds, few at a time."""
    plans = [plan(seed) for seed in range(600)]
    assert {one.game for one in plans} == set(GAMES)
    assert {fault.kind for one in plans for fault in one.faults} == set(KINDS)
    assert max(len({fault.kind for fault in one.faults}) for one in plans) == 3
    assert plans[7] == plan(7)


def test_a_violation_is_shown_with_its_seed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--seed", "2", "--bug", "acknowledge before append"]) == 1
    assert "VIOLATION command" in capsys.readouterr().out
    assert main(["--seed", "2", "--trace"]) == 0
    shown = capsys.readouterr().out
    assert "everything holds" in shown
    assert re.search(r"stored (\S+ )?1-1 by", shown)


def test_several_processes_come_to_the_same() -> None:
    one, two = run_seeds(0, 6), run_many(0, 6, 2, quiet=True)
    assert (two.seeds, two.steps, two.counts, two.games) == (one.seeds, one.steps, one.counts, one.games)


def test_what_is_asked_wrongly(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--seeds", "0"])
    assert ended.value.code == 2
    assert "at least 1" in capsys.readouterr().err
