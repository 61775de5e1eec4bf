"""The report: one plain value, right in its figures, whatever was played and however little."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from kangtou_services.tournament.model import Result, Spec
from kangtou_services.tournament.report import report

from .made import run, spec_of, strong
from .test_schedule import SKILL, SPECS


@pytest.mark.parametrize("name", SPECS)
def test_every_format_has_a_report(name: str) -> None:
    results, _ = run(SPECS[name], strong(SKILL))
    told = report(SPECS[name], results, {"id": "t1", "commitment": "ab"})
    json.dumps(told, allow_nan=False)
    assert told["over"]
    assert told["run"] == {"id": "t1", "commitment": "ab"}
    assert told["games"]["played"] == len(results) == told["games"]["counted"] == len(told["matches"])
    assert sorted(row["entrant"] for row in told["table"]) == list(range(len(SPECS[name].entrants)))
    assert [row["rank"] for row in told["table"]] == sorted(row["rank"] for row in told["table"])


def test_figures_of_a_small_one_by_hand() -> None:
    spec = spec_of(2, "duizhu", sets=20)
    results, _ = run(spec, strong((3.0, 1.0), noise=0))
    told = report(spec, results)
    first, second = told["table"]
    assert (first["name"], first["rank"], second["rank"]) == ("e0", 1, 2)
    edge = first["edge"]
    assert (edge["value"], edge["low"], edge["high"], edge["sets"]) == (20.0, 20.0, 20.0, 20)
    assert second["edge"]["value"] == -20.0
    assert told["pairs"][0]["wins"] == [20, 0, 0]
    assert first["strength"]["low"] > second["strength"]["high"]
    assert sum(first["places"]) == 2 * 2 * 20, "two seats in two games of twenty sets"


def test_no_interval_from_few_sets() -> None:
    spec = spec_of(2, "duizhu", sets=19)
    told = report(spec, run(spec, strong(SKILL))[0])
    assert told["table"][0]["edge"]["low"] is None
    assert told["table"][0]["strength"]["low"] is None
    assert told["table"][0]["edge"]["error"] > 0


@pytest.mark.parametrize("left", [0, 1, 2, 7])
def test_partial_sets_do_not_count(left: int) -> None:
    spec = spec_of(3, "duizhu", sets=4)
    results, _ = run(spec, strong(SKILL))
    told = report(spec, results[:left])
    assert not told["over"]
    assert told["games"]["counted"] == 2 * told["games"]["sets"]
    assert told["games"]["played"] == left
    assert all(row["edge"]["sets"] <= left // 2 for row in told["table"])


def test_faults_are_told() -> None:
    spec: Spec = spec_of(2, "duizhu", sets=2)
    results, _ = run(spec, strong(SKILL))
    bad: list[Result] = [replace(results[0], faults=("crash", "", "crash", "")), *results[1:]]
    told = report(spec, bad)
    who = bad[0].game.entrants[0]
    assert [(one["entrant"], one["kind"], one["seat"]) for one in told["faults"]] == [
        (who, "crash", 0),
        (who, "crash", 2),
    ]
    assert {row["entrant"]: row["faults"] for row in told["table"]} == {who: {"crash": 2}, 1 - who: {}}


def test_duplicate_factor_is_that_of_independent_boards() -> None:
    """Made-up hands whose luck is known: a hand is worth ± 50 evenly, chance has 10 a seat."""
    spec = spec_of(2, "duizhu", sets=400)
    factor = report(spec, run(spec, strong((1.0, 0.0)))[0])["duplicate"]
    hand, chance = (101**2 - 1) / 12, 10**2
    assert factor["low"] < (hand + chance) / chance < factor["high"]
    assert factor["low"] > 1


def test_no_duplicate_factor_of_unequal_seats() -> None:
    spec = spec_of(2, "erbaiwu", seats=3, sets=30)
    assert report(spec, run(spec, strong(SKILL))[0])["duplicate"] is None
