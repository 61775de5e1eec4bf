"""What beats what: a strict order inside each kind, and the book's tables cell by cell. WK-4, WK-8.3, WK-9.4."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest

from kangtou_engine.cards import parse_cards
from kangtou_engine.games.wushik.rules import Rules, as_lead, beats, readings_of, rules_of

from . import naive
from .hands import HOUSES, VARIANTS, config_of, naive_of

TABLES = [(variant, house) for variant in VARIANTS for house in HOUSES[variant]]


def _rules(variant: str, house: dict[str, object]) -> Rules:
    return rules_of(config_of(variant, **house).options)


@pytest.mark.parametrize(("variant", "house"), TABLES, ids=str)
def test_strict_order_inside_each_kind(variant: str, house: dict[str, object]) -> None:
    """WK-4.1: irreflexive and transitive (so asymmetric), and total but for equal ones."""
    rules = _rules(variant, house)
    kinds: dict[Any, list[Any]] = defaultdict(list)
    for reading in rules.readings.values():
        kinds["bomb" if reading.bomb else (reading.kind, reading.n)].append(reading)
    for group in kinds.values():
        below = {reading: {other for other in group if beats(rules, reading, other)} for reading in group}
        for reading, lower in below.items():
            assert reading not in lower
            assert all(below[other] <= lower for other in lower)


@pytest.mark.parametrize(("variant", "house"), TABLES, ids=str)
def test_every_pair_as_the_book_says(variant: str, house: dict[str, object]) -> None:
    """WK-4.2 … WK-4.6 for all pairs of readings."""
    rules = _rules(variant, house)
    options = rules.options
    every = [(reading, naive_of(reading)) for reading in rules.readings.values()]
    for new, said_new in every:
        wins = {old.combo for old, _ in every if beats(rules, new, old)}
        assert wins == {old.combo for old, said in every if naive.beats(said_new, said, options)}, new.combo


# One or two combinations of each line, low to high; those of one line are equal unless a mark `<` parts them.
LADDERS = {
    "chengde1": [
        "H5 HT CK | S5 ST DK",
        "D5 DT DK < C5 CT CK < H5 HT HK < S5 ST SK",
        "S3 H3 C3 D3 < S4 H4 C4 D4 < SA HA CA DA < S2 H2 C2 D2",
    ],
    "chengde2": [
        "H5 HT CK | S5 ST DK",
        "D5 DT DK < C5 CT CK < H5 HT HK < S5 ST SK",
        "S3 H3 C3 D3 < S2 S2 H2 H2",
        "S3 S3 H3 C3 D3 < S2 S2 H2 C2 D2",
        "S3 S3 H3 H3 C3 D3 < S2 S2 H2 H2 C2 D2",
        "S3 S3 H3 H3 C3 C3 D3 < S2 S2 H2 H2 C2 C2 D2",
        "S3 S3 H3 H3 C3 C3 D3 D3 < S2 S2 H2 H2 C2 C2 D2 D2",
    ],
    "liaoning": [
        "S3 H3 C3 < S2 H2 C2",
        "H5 HT CK | S5 ST DK",
        "BJ RJ",
        "S3 H3 C3 D3 < S2 H2 C2 D2",
        "D5 DT DK | S5 ST SK",
    ],
    "jiangnan": [
        "H5 HT CK | S5 ST DK",
        "D5 DT DK | S5 ST SK",
        "S3 H3 C3 D3 < S2 S2 H2 H2",
        "S3 S3 H3 C3 D3 < S2 S2 H2 C2 D2",
        "BJ BJ RJ | BJ RJ RJ",
        "S3 S3 H3 H3 C3 D3 < S2 S2 H2 H2 C2 D2",
        "S3 S3 H3 H3 C3 C3 D3 < S2 S2 H2 H2 C2 C2 D2",
        "S3 S3 H3 H3 C3 C3 D3 D3 < S2 S2 H2 H2 C2 C2 D2 D2",
        "BJ BJ RJ RJ",
    ],
    "jinzhou": [
        "S3 H3 C3 < S2 H2 H2",
        "H5 HT CK | S5 ST DK",
        "BJ RJ",
        "D5 DT DK < C5 CT CK < H5 HT HK < S5 ST SK",
        "BJ BJ",
        "RJ RJ",
        "S3 H3 C3 D3 < S2 S2 H2 H2",
        "S3 S3 H3 C3 D3 < S2 S2 H2 C2 D2",
        "BJ BJ RJ | BJ RJ RJ",
        "S3 S3 H3 H3 C3 D3 < S2 S2 H2 H2 C2 D2",
        "S3 S3 H3 H3 C3 C3 D3 < S2 S2 H2 H2 C2 C2 D2",
        "BJ BJ RJ RJ",
        "S3 S3 H3 H3 C3 C3 D3 D3 < S2 S2 H2 H2 C2 C2 D2 D2",
    ],
}


def _reading(rules: Rules, text: str) -> Any:
    found = readings_of(rules, parse_cards(text))
    assert found, text
    return as_lead(found)


@pytest.mark.parametrize("variant", VARIANTS)
def test_ladder_of_bombs(variant: str) -> None:
    """WK-4.6, WK-8.3, WK-9.3, WK-10.4, WK-11.3, with cards."""
    rules = _rules(variant, {})
    steps: list[list[Any]] = []
    for line in LADDERS[variant]:
        steps += [[_reading(rules, cards) for cards in step.split(" | ")] for step in line.split(" < ")]
    for high, upper in enumerate(steps):
        for low, lower in enumerate(steps):
            for new in upper:
                for old in lower:
                    assert beats(rules, new, old) is (high > low), (new.combo, old.combo)


PLAIN = {
    "single": "S2",
    "pair": "S2 H2",
    "triple": "S2 H2 C2",
    "straight": "ST HJ CQ SK SA",
    "pairrun": "SQ HQ SK HK SA HA",
    "triplerun": "SQ HQ CQ SK HK CK SA HA CA",
    "quadrun": "SK HK CK DK SA HA CA DA",
    "triple1": "S2 H2 C2 S3",
    "triple2": "S2 H2 C2 S3 H3",
    "triplerun1": "SK HK CK SA HA CA S3 S4",
    "triplerun2": "SK HK CK SA HA CA S3 S4 S6 S7",
}
ALL_BOMBS = 0
GUARDED = {  # the first line of the ladder that beats the kind; None: no bomb does
    ("liaoning", "pairrun"): 3,
    ("liaoning", "triplerun"): None,
    ("liaoning", "quadrun"): None,
    ("jinzhou", "pairrun"): 6,
    ("jinzhou", "triplerun"): 9,
}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("kind", PLAIN)
def test_bombs_on_plain_kinds(variant: str, kind: str) -> None:
    """WK-4.3, WK-4.5, WK-9.4, WK-11.4."""
    rules = _rules(variant, {})
    found = [r for r in readings_of(rules, parse_cards(PLAIN[kind])) if r.kind == kind and not r.bomb]
    if not found:
        assert kind not in {form.kind for form in rules.forms}
        return
    first = GUARDED.get((variant, kind), ALL_BOMBS)
    for place, line in enumerate(LADDERS[variant]):
        for cards in line.replace(" | ", " < ").split(" < "):
            bomb = _reading(rules, cards)
            assert beats(rules, bomb, found[0]) is (first is not None and place >= first), (kind, cards)
            assert not beats(rules, found[0], bomb)


def test_liaoning_table() -> None:
    """WK-9.4, the table as printed: row beats column."""
    rules = _rules("liaoning", {})
    columns = {
        "plain": ["S3", "S3 H3", "S3 H4 C5"],
        "pairrun": ["S3 H3 S4 H4 S5 H5"],
        "longruns": ["S3 H3 C3 S4 H4 C4", "S3 H3 C3 D3 S4 H4 C4 D4"],
        "triple": ["S7 H7 C7"],
        "fake": ["S5 HT DK"],
        "jokers": ["BJ RJ"],
        "bomb4": ["S7 H7 C7 D7"],
        "true": ["C5 CT CK"],
    }
    table = {
        "S8 H8 C8": "yes no no yes no no no no",
        "S6 H6 C6": "yes no no no no no no no",
        "H5 HT CK": "yes no no yes no no no no",
        "BJ RJ": "yes no no yes yes no no no",
        "S8 H8 C8 D8": "yes yes no yes yes yes yes no",
        "S6 H6 C6 D6": "yes yes no yes yes yes no no",
        "S5 ST SK": "yes yes no yes yes yes yes no",
    }
    for row, cells in table.items():
        for olds, cell in zip(columns.values(), cells.split(), strict=True):
            for old in olds:
                assert beats(rules, _reading(rules, row), _reading(rules, old)) is (cell == "yes"), (row, old)
