"""Every worked case of the rule books, through the case runner."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from kangtou_engine.cases import run_case
from kangtou_engine.registry import REGISTRY

CASES = Path(__file__).resolve().parents[1] / "cases"


def cases() -> list[tuple[str, Mapping[str, Any]]]:
    """(game, case) of all files of registered games."""
    return [(name, case) for name in REGISTRY.names() for case in yaml.safe_load((CASES / f"{name}.yaml").read_text())]


ALL = cases()
IDS = [case["id"] for _, case in ALL]


@pytest.mark.parametrize(("name", "case"), ALL, ids=IDS)
def test_case(name: str, case: Mapping[str, Any]) -> None:
    """The case holds."""
    assert run_case(REGISTRY.game(name), case) == []


def test_ids_are_unique() -> None:
    """A failure names one case."""
    assert len(set(IDS)) == len(IDS)


WRONG = {"phase": "nowhere", "to_act": [9], "over": "perhaps", "scores": [1, 2], "legal": {0: ["fly"]}, "no_key": 1}


def other(value: Any) -> Any:
    """Something else of the same kind."""
    if isinstance(value, bool) or value is None:
        return 17
    if isinstance(value, int):
        return value + 1
    if isinstance(value, list):
        return [*value, 17]
    return {"nobody": 17} if isinstance(value, Mapping) else "RJ RJ RJ RJ RJ"


@pytest.mark.parametrize(("name", "case"), ALL, ids=IDS)
def test_a_wrong_expectation_fails(name: str, case: Mapping[str, Any]) -> None:
    """Each key of `expect`, changed, is reported; so is a key that there is not."""
    game = REGISTRY.game(name)
    for key, value in (case.get("expect") or {}).items():
        if key in ("legal_includes", "legal_excludes"):
            wrong: Any = {seat: ["fly"] if key == "legal_includes" else [] for seat in value}
            if key == "legal_excludes":
                continue  # nothing can be added that is surely legal
        else:
            wrong = WRONG.get(key, other(value))
        changed = {**copy.deepcopy(dict(case)), "expect": {key: wrong}}
        assert run_case(game, changed), f"{key}: {wrong!r} was not noticed"


@pytest.mark.parametrize("name", REGISTRY.names())
def test_a_wrong_script_fails(name: str) -> None:
    """A refused line, a legal line marked illegal, an unknown key, bad options: reported, nothing raised."""
    game = REGISTRY.game(name)
    for case in (
        {"script": ["0 fly"]},
        {"script": ["- timeout !illegal"]},
        {"expect": {"no_such_key": 1}},
        {"start": {"no_such_key": 1}},
        {"options": {"no_such_option": True}},
        {"options": {"rounds": "many"}},
        {"seats": 17},
    ):
        assert run_case(game, {"id": "X", **case}), case


@pytest.mark.parametrize("name", REGISTRY.names())
def test_book_and_engine_agree(name: str) -> None:
    """Names, types, defaults and allowed values of options, verbs and phases: the book's last section."""
    book = _block((CASES.parents[1] / "docs/rules" / f"{name}.md").read_text())
    spec = REGISTRY.game(name).spec
    assert (book["book"], book["prefix"]) == (spec.name, spec.prefix)
    assert set(book["phases"]) - {"cut", "between", "over"} == set(spec.phases)
    rows = {row.name: row for row in spec.option_rows}
    assert set(rows) == {option["name"] for option in book["options"]}
    keys = book["case_keys"]
    assert set(spec.cases.keys) <= set(keys["start"])
    observed = {*spec.cases.observe, *COMMON_EXPECT}
    assert set(keys["expect"]) <= observed


COMMON_EXPECT = frozenset(
    "phase to_act hands scores legal legal_includes legal_excludes round dealer next_dealer over places "
    "last_round".split()
)


def _block(text: str) -> Mapping[str, Any]:
    """The last YAML block of a book."""
    block: Mapping[str, Any] = yaml.safe_load(text.rsplit("```yaml\n", 1)[1].split("```", 1)[0])
    return block
