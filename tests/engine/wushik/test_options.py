"""Options, defaults and refusals, against the machine-readable block of the book. WK-14, WK-18, CM-11."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from kangtou_engine.errors import BadOptions
from kangtou_engine.games.wushik import GAME
from kangtou_engine.games.wushik.options import specs_of
from kangtou_engine.games.wushik.variants import ALL
from kangtou_engine.words import explain

from .hands import VARIANTS, WUSHIK

BOOK = Path(__file__).resolve().parents[3] / "docs" / "rules" / "wushik.md"
BLOCK: dict[str, Any] = yaml.safe_load(re.findall(r"```yaml\n(book:.*?)```", BOOK.read_text(), re.DOTALL)[0])
ROWS: dict[str, dict[str, Any]] = {row["name"]: row for row in BLOCK["options"]}
PAIRS = [(variant, name) for variant in VARIANTS for name in ROWS]


def _has(variant: str, name: str) -> bool:
    return variant in ROWS[name].get("variants", VARIANTS)


def _values(row: dict[str, Any]) -> list[Any]:
    allowed = row["allowed"]
    return [allowed["min"], allowed["max"]] if isinstance(allowed, dict) else allowed


def _make(variant: str, name: str, value: object) -> Any:
    other: dict[str, object] = {"target": 5} if name == "rounds" else {"rounds": 1} if name == "target" else {}
    return WUSHIK.config({"variant": variant, **other, name: value}).options


def test_the_book_names_the_variants() -> None:
    """WK-14.1."""
    assert ROWS["variant"]["allowed"] == list(ALL) == list(VARIANTS)
    assert WUSHIK.config().options.variant == ROWS["variant"]["default"]
    assert sorted(spec.name for spec in GAME.option_rows) == sorted(ROWS)


@pytest.mark.parametrize(("variant", "name"), PAIRS)
def test_option(variant: str, name: str) -> None:
    """Defaults, every allowed value, and refusals that name what is allowed."""
    row = ROWS[name]
    if not _has(variant, name):
        with pytest.raises(BadOptions) as caught:
            _make(variant, name, _values(row)[0])
        assert all(owner in caught.value.allowed for owner in row["variants"])
        assert caught.value.option == name
        return
    default = row["default"]
    default = default[variant] if isinstance(default, dict) else default
    options = WUSHIK.config({"variant": variant}).options
    assert getattr(options, name) == (variant if name == "variant" else default)
    if name == "variant":
        return
    for value in _values(row):
        assert getattr(_make(variant, name, value), name) == value
    for wrong in (None, "nothing", -1, 99_999, 1.5, [], "", *((1, 0) if row["type"] == "bool" else (True,))):
        with pytest.raises(BadOptions) as caught:
            _make(variant, name, wrong)
        for value in _values(row):
            assert str(value).lower() in caught.value.allowed.lower()
        for lang in ("en", "zh"):
            assert name in explain(GAME.words, caught.value, lang)


@pytest.mark.parametrize("variant", VARIANTS)
def test_rounds_and_target_are_not_both_0(variant: str) -> None:
    """WK-12.4."""
    with pytest.raises(BadOptions) as caught:
        WUSHIK.config({"variant": variant, "rounds": 0, "target": 0})
    assert caught.value.rule == "WK-12.4"
    assert "1" in explain(GAME.words, caught.value, "en")


@pytest.mark.parametrize("variant", VARIANTS)
def test_seats(variant: str) -> None:
    """WK-1.1."""
    allowed = BLOCK["seats"]["by_variant"].get(variant, BLOCK["seats"]["allowed"])
    assert WUSHIK.config({"variant": variant}).seats == BLOCK["seats"]["default"]
    for seats in range(8):
        if seats in allowed:
            assert WUSHIK.config({"variant": variant}, seats).seats == seats
            continue
        with pytest.raises(BadOptions) as caught:
            WUSHIK.config({"variant": variant}, seats)
        assert all(str(number) in caught.value.allowed for number in allowed)


@pytest.mark.parametrize("variant", VARIANTS)
def test_unknown_option_lists_the_variants_own(variant: str) -> None:
    """CM-11.1."""
    with pytest.raises(BadOptions) as caught:
        WUSHIK.config({"variant": variant, "jokers": True})
    named = caught.value.allowed.split(", ")
    assert named == [spec.name for spec in specs_of(ALL[variant])]
    assert sorted(named) == sorted(name for name in ROWS if _has(variant, name))


@pytest.mark.parametrize("wrong", ["chengde", "", None, 1, True, [], "CHENGDE1"])
def test_wrong_variant(wrong: object) -> None:
    """WK-14.1."""
    with pytest.raises(BadOptions) as caught:
        WUSHIK.config({"variant": wrong})
    assert all(variant in caught.value.allowed for variant in VARIANTS)
