"""docs/guarantees.md: every promise names settings, tests that exist, acceptance lines that exist, and a figure."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from pathlib import Path

import pytest

from tests.accept.guarantees import CELLS, NONE, latest, named, rows, written
from tests.accept.lines import read_part
from tests.accept.report import Verdict

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "guarantees.md").read_text()
ROW = "| a promise | – | `tests/` | `small 1`, `small 2` | – |\n"


@pytest.mark.parametrize("row", rows(PAGE), ids=lambda row: row[0][:40])
def test_a_promise_is_shown(row: list[str]) -> None:
    """Five cells; a test that is there; lines that are there."""
    assert len(row) == CELLS
    assert all(row)
    shown = re.findall(r"`([^`]+)`", row[2])
    assert shown
    assert all((ROOT / name.split("::")[0]).exists() for name in shown if "/" in name), shown
    assert row[3] == NONE or named(row[3])
    for part, line in named(row[3]):
        assert read_part(ROOT / "tests" / "accept" / f"{part}.toml", only=[line])


def verdict(line: str, passed: bool = True, figure: str = "p50 3 ms") -> Verdict:
    """Of a line."""
    return Verdict(id=line, title="t", command="c", passed=passed, count="12", figure=figure)


def keep(folder: Path, name: str, *verdicts: Verdict) -> None:
    """As a run of acceptance keeps them."""
    commit = name.partition("-")[2]
    lines = [asdict(one) for one in verdicts]
    (folder / f"{name}.json").write_text(json.dumps({"part": "small", "commit": commit, "lines": lines}))


def test_figures_are_the_latest_in_full(tmp_path: Path) -> None:
    """Neither a failed line's, nor a short form's, nor those of a tree with changes; unknown ones stay."""
    assert written(ROW, tmp_path) == ROW
    keep(tmp_path, "small-aaaaaaaaaaaa", verdict("1", figure="p50 5 | 6 ms"))
    keep(tmp_path, "small-bbbbbbbbbbbb", verdict("1", passed=False))
    keep(tmp_path, "small-cccccccccccc-dirty", verdict("1"))
    keep(tmp_path, "small-dddddddddddd-short", verdict("1"))
    assert written(ROW, tmp_path).endswith("| 1: 12; p50 5 / 6 ms (aaaaaaa) |\n")
    keep(tmp_path, "small-eeeeeeeeeeee", verdict("1"), verdict("2", figure=""))
    found = latest(tmp_path, "small", "1")
    assert found is not None
    assert found[0] == "e" * 12
    page = written(ROW, tmp_path)
    assert page.endswith("| 1: 12; p50 3 ms (eeeeeee)<br>2: 12 (eeeeeee) |\n")
    assert len(rows(page)[0]) == CELLS
    assert written(page, tmp_path / "nothing") == page
