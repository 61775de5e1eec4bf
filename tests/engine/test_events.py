"""Events: one text and one field form, both round-trip; nothing is shown by oversight."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kangtou_engine.cards import DECK54, HIDDEN, Cards, Seat
from kangtou_engine.errors import BadText
from kangtou_engine.events import Event, PublicEvent, fields_of, from_fields, from_text, kind_of, kinds, to_text


@dataclass(frozen=True, slots=True)
class EverythingHappened(PublicEvent):
    """One field of every type."""

    seat: Seat
    flag: bool
    word: str
    numbers: tuple[int, ...]
    cards: Cards
    hands: tuple[Cards, ...]
    result: Mapping[str, Any]
    maybe: int | None = None
    perhaps: bool | None = None
    named: str | None = None
    shown: Cards | None = None
    several: tuple[Cards, ...] | None = None


@dataclass(frozen=True, slots=True)
class Secret(Event):
    """Says nothing about who may see it."""

    card: str


@dataclass(frozen=True, slots=True)
class Nothing(PublicEvent):
    """No fields."""


TABLE = kinds((EverythingHappened, Nothing, Secret))
CARDS = st.lists(st.sampled_from((*DECK54, HIDDEN, "BJ=D8")), max_size=6).map(tuple)
HANDS = st.lists(CARDS, min_size=2, max_size=5).map(tuple) | st.just(())
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
EVENTS = st.builds(
    EverythingHappened,
    seat=st.integers(-3, 9),
    flag=st.booleans(),
    word=st.text(max_size=12),
    numbers=st.lists(st.integers(-999, 999), max_size=5).map(tuple),
    cards=CARDS,
    hands=HANDS,
    result=st.dictionaries(st.text(max_size=5), JSON, max_size=4),
    maybe=st.none() | st.integers(),
    perhaps=st.none() | st.booleans(),
    named=st.none() | st.text(max_size=5),
    shown=st.none() | CARDS,
    several=st.none() | HANDS,
)


@given(EVENTS)
def test_text_round_trip(event: EverythingHappened) -> None:
    """One line, read back to an equal event of equal text."""
    line = to_text(event)
    assert "\n" not in line
    again = from_text(TABLE, line)
    assert again == event
    assert to_text(again) == line == str(event)


@given(EVENTS)
def test_field_round_trip(event: EverythingHappened) -> None:
    """The same through fields."""
    assert from_fields(TABLE, kind_of(type(event)), fields_of(event)) == event


def test_text_by_example() -> None:
    """How it looks."""
    event = EverythingHappened(
        3, True, "as ten", (1, -2), ("H6", "??"), (("H6",), (), ("??", "BJ=D8")), {"b": 1, "a": (2, None)}
    )
    assert to_text(event) == (
        'everything_happened seat=3 flag=true word="as\\u0020ten" numbers=1,-2 cards=H6,?? hands=H6/-/??,BJ=D8 '
        'result={"a":[2,null],"b":1}'
    )
    assert to_text(Nothing()) == "nothing"
    assert from_text(TABLE, "nothing") == Nothing()


GOOD = "everything_happened seat=3 flag=true word=x numbers=- cards=- hands=- result={}"


@pytest.mark.parametrize(
    "line",
    [
        "",
        "unheard_of",
        "Nothing",
        " nothing",
        "nothing ",
        "nothing x=1",
        "nothing x",
        "everything_happened",
        GOOD.replace("seat=3", "seat=03"),
        GOOD.replace("seat=3", "seat=three"),
        GOOD.replace("seat=3", "seat=3 seat=3"),
        GOOD.replace("seat=3 ", ""),
        GOOD.replace("flag=true", "flag=yes"),
        GOOD.replace("word=x", 'word="x"'),
        GOOD.replace("word=x", 'word="x'),
        GOOD.replace("numbers=-", "numbers=1,x"),
        GOOD.replace("numbers=-", "numbers="),
        GOOD.replace("result={}", "result=[]"),
        GOOD.replace("result={}", "result={ }"),
        GOOD.replace("result={}", 'result={"b":1,"a":1}'),
        GOOD.replace("result={}", "result=" + "[" * 5000),
        GOOD.replace("seat=3 flag=true", "flag=true seat=3"),
        GOOD + " maybe=null",
    ],
    ids=lambda line: line[:50],
)
def test_bad_lines(line: str) -> None:
    """Whatever `to_text` would not have written is refused with BadText."""
    assert to_text(from_text(TABLE, GOOD)) == GOOD
    with pytest.raises(BadText):
        from_text(TABLE, line)


@pytest.mark.parametrize(
    ("kind", "fields"), [("unheard_of", {}), ("nothing", {"x": 1}), ("secret", {}), ("secret", {"card": None})]
)
def test_bad_fields(kind: str, fields: dict[str, Any]) -> None:
    """Unknown kinds and fields, and lacking ones."""
    with pytest.raises(BadText):
        from_fields(TABLE, kind, fields)


def test_kinds_are_unique() -> None:
    """Two events of one kind cannot be told apart."""
    with pytest.raises(ValueError, match="two events"):
        kinds((Nothing, Nothing))


def test_no_default_view() -> None:
    """An event must say what may be seen of it."""
    with pytest.raises(NotImplementedError):
        Secret("H6").seen_by(0)
    assert Nothing().seen_by(None) == Nothing()
