"""Options and seats. CM-11."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import pytest

from kangtou_engine.errors import BadOptions
from kangtou_engine.game import GameSpec, check_seats
from kangtou_engine.options import OptionSpec, option, option_from_text, option_specs, parse_options
from kangtou_engine.registry import SPECS
from kangtou_engine.words import LANGUAGES, explain


@dataclass(frozen=True, slots=True)
class Options:
    """One of each type."""

    cut: bool = option("XX-1", True)
    rounds: int = option("XX-2", 50, low=1, high=1000)
    factor: int = option("XX-3", 4, words=(1, 2, 4))
    top: str = option("XX-4", "jokers", words=("jokers", "tens"))
    level: str = option("XX-5", "J", words=("9", "T", "J"))
    first: str | int = option("XX-6", "lot", words=("lot",), low=0, high=5)


ROWS = {row.name: row for row in option_specs(Options)}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("cut", False),
        ("rounds", 1),
        ("rounds", 1000),
        ("factor", 2),
        ("top", "tens"),
        ("level", "9"),
        ("first", "lot"),
        ("first", 0),
    ],
)
def test_allowed(name: str, value: object) -> None:
    """And readable from the text that a person types."""
    assert getattr(parse_options(Options, {name: value}), name) == value
    text = str(value).lower() if isinstance(value, bool) else str(value)
    assert option_from_text(ROWS[name], text) == value


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("cut", 1),
        ("cut", "true"),
        ("cut", None),
        ("rounds", 0),
        ("rounds", 1001),
        ("rounds", True),
        ("rounds", "50"),
        ("rounds", 50.0),
        ("factor", 3),
        ("factor", True),
        ("top", "Jokers"),
        ("top", ["jokers"]),
        ("level", 9),
        ("level", "10"),
        ("first", 6),
        ("first", "0"),
        ("first", False),
    ],
)
def test_refused(name: str, value: object) -> None:
    """Also what looks alike; it names the option and what is allowed. CM-11.1."""
    with pytest.raises(BadOptions) as refused:
        parse_options(Options, {name: value})
    assert refused.value.option == name
    assert refused.value.rule == ROWS[name].rule
    assert refused.value.allowed == ROWS[name].allowed()
    assert all(name in explain({}, refused.value, lang) for lang in LANGUAGES)


def test_unknown_option() -> None:
    """It says which there are."""
    with pytest.raises(BadOptions) as refused:
        parse_options(Options, {"colour": "red"})
    assert (refused.value.code, refused.value.option) == ("unknown_option", "colour")
    assert refused.value.allowed == "cut, rounds, factor, top, level, first"


@pytest.mark.parametrize("text", ["", "yes", "TRUE", "1e3", "--5", "٣", "²"])
def test_unreadable_text(text: str) -> None:
    """What a person types wrongly."""
    for row in ROWS.values():
        with pytest.raises(BadOptions):
            option_from_text(row, text)


def test_allowed_in_words() -> None:
    """For messages."""
    assert [row.allowed() for row in ROWS.values()] == [
        "true, false",
        "1 … 1000",
        "1, 2, 4",
        "jokers, tens",
        "9, T, J",
        "lot, 0 … 5",
    ]


@pytest.mark.parametrize("given", [0, 3, 5, -4, True, "4", 4.0, 10**30])
def test_seats(given: Any) -> None:
    """CM-11.1."""
    assert check_seats(None, (2, 4), 4) == 4
    assert check_seats(2, (2, 4), 4) == 2
    with pytest.raises(BadOptions) as refused:
        check_seats(given, (2, 4), 4)
    assert refused.value.allowed == "2, 4"


# ---- of every registered game ----

GAMES = [pytest.param(spec, id=spec.id) for spec in SPECS]
STRANGE: list[object] = [None, 1.5, -1, 10**9, "", "no such word", [], {}, "9 ", b"x"]


@pytest.mark.parametrize("spec", GAMES)
def test_defaults_of_games(spec: GameSpec[Any]) -> None:
    """The options object has the common options; every default is allowed, alone too."""
    _, options = spec.configure({}, None)
    assert {"cut", "between", "vote_end", "rounds"} <= {item.name for item in fields(options)}
    for row in spec.option_rows:
        assert isinstance(row, OptionSpec)
        assert row.accepts(row.default), row.name


@pytest.mark.parametrize("spec", GAMES)
def test_strange_values_in_games(spec: GameSpec[Any]) -> None:
    """Refused with BadOptions, whatever they are; texts in both languages."""
    for row in spec.option_rows:
        for value in STRANGE:
            if row.accepts(value):
                continue
            with pytest.raises(BadOptions) as refused:
                spec.configure({row.name: value}, None)
            assert all(explain(spec.words, refused.value, lang) for lang in LANGUAGES)
    for seats in (-1, 0, 1, 7, 100, True, "4"):
        with pytest.raises(BadOptions):
            spec.configure({}, seats)  # type: ignore[arg-type]
