"""What a set of cards is, and how it is written. WK-3."""

from __future__ import annotations

import random

import pytest

from kangtou_engine.cards import in_order, parse_cards
from kangtou_engine.games.wushik.combos import combo_text
from kangtou_engine.games.wushik.rules import as_follow, as_lead, readings_of, rules_of
from tests.conftest import Counts

from . import naive
from .hands import HOUSES, VARIANTS, config_of, naive_of, rich_hand

LEADS = [
    # rule, variant, cards, as a lead ("" if it is none)
    ("WK-3.3", "chengde1", "S2", "single n=1 top=2"),
    ("WK-3.3", "liaoning", "RJ", "single n=1 top=RJ"),
    ("WK-3.4", "chengde2", "S9 S9", "pair n=2 top=9"),
    ("WK-3.4", "jiangnan", "BJ BJ", "pair n=2 top=BJ"),
    ("WK-3.4", "jiangnan", "BJ RJ", ""),
    ("WK-3.4", "jinzhou", "BJ BJ", "jokers n=2 kind=small"),
    ("WK-3.5", "chengde1", "S9 H9 C9", "triple n=3 top=9"),
    ("WK-3.5", "jiangnan", "S9 H9 C9", ""),
    ("WK-3.6", "jiangnan", "S3 H4 C5 D6", ""),
    ("WK-3.6", "liaoning", "S3 H4 C5", "straight n=3 top=5"),
    ("WK-3.6", "liaoning", "SA H2 C3", ""),
    ("WK-3.2", "chengde1", "SA H2 C3", "straight n=3 top=3"),
    ("WK-3.2", "chengde1", "SQ HK CA", "straight n=3 top=A"),
    ("WK-3.2", "chengde1", "SK HA C2", ""),
    ("WK-3.2", "chengde1", "S3 S4 S5 S6 S7 S8 S9 ST SJ SQ SK HA H2", "straight n=13 top=A"),
    ("WK-3.2", "chengde1", "S3 S4 S5 S6 S7 S8 S9 ST SJ SQ SK SA S2", "straight n=13 top=A flush=yes"),
    ("WK-3.2", "chengde1", "S3 S4 S5 S6 S7 S8 S9 ST SJ SQ HA H2", "straight n=12 top=Q"),
    ("WK-3.2", "chengde2", "S3 S4 S5 S6 S7 S8 S9 ST SJ SQ SK HA SA H2", ""),
    ("WK-3.7", "chengde1", "H5 H6 H7", "straight n=3 top=7 flush=yes"),
    ("WK-3.7", "jinzhou", "H5 H6 H7", "straight n=3 top=7"),
    ("WK-3.8", "chengde1", "S3 H3 S4 H4", "pairrun n=4 top=4"),
    ("WK-3.8", "jinzhou", "S3 H3 S4 H4", ""),
    ("WK-3.9", "liaoning", "S3 H3 C3 D3 S4 H4 C4 D4", "quadrun n=8 top=4"),
    ("WK-3.9", "liaoning", "S3 H3 C3 S4 H4 C4 D4", ""),
    ("WK-3.9", "jinzhou", "S3 H3 C3 S4 H4 C4", ""),
    ("WK-3.9", "chengde1", "SA HA CA S2 H2 C2", ""),
    ("WK-3.10", "chengde1", "S9 H9 C9 D4", "triple1 n=4 top=9"),
    ("WK-3.10", "chengde1", "S9 H9 C9 D4 D5", "triple2 n=5 top=9"),
    ("WK-3.10", "chengde1", "S9 H9 C9 D9 D5", ""),
    ("WK-3.10", "chengde1", "S3 H3 C3 D3 S4 H4 C4 S5", ""),
    ("WK-3.10", "chengde1", "S3 H3 C3 S4 H4 C4 D9 H9", "triplerun1 n=8 top=4"),
    ("WK-3.10", "chengde1", "S3 H3 C3 S4 H4 C4 D9 H9 C9 S9", "triplerun2 n=10 top=4"),
    ("WK-3.10", "jiangnan", "S9 H9 C9 D4 D5", ""),
    ("WK-3.10", "jiangnan", "S9 H9 C9 RJ RJ", "triple2 n=5 top=9"),
    ("WK-3.10", "jiangnan", "S9 S9 H9 H9 C9", "bomb n=5 top=9"),
    ("WK-3.11", "chengde1", "S5 ST HK", "fake n=3"),
    ("WK-3.11", "jiangnan", "H5 HT HK", "true n=3 suit=H"),
    ("WK-3.11", "chengde2", "S3 S3 H3 H3 C3 C3 D3 D3", "bomb n=8 top=3"),
    ("WK-3.11", "liaoning", "BJ RJ", "jokers n=2 kind=mixed"),
    ("WK-3.11", "jinzhou", "RJ RJ", "jokers n=2 kind=big"),
    ("WK-3.11", "jiangnan", "BJ RJ RJ", "jokers n=3"),
    ("WK-3.11", "jinzhou", "BJ BJ RJ RJ", "jokers n=4"),
    ("WK-3.12", "chengde1", "S3 H3 C3 S4 H4 C4 S5 H5 C5 S6 H6 C6", "triplerun n=12 top=6"),
    ("WK-3.12", "chengde1", "S3 H3 C3 S4 H4 C4 S5 H5 C5 S7 H7 C7", "triplerun1 n=12 top=5"),
    ("WK-3.12", "chengde1", "S3 H3 C3 S4 H4 C4 S5 H5 C5 S7", "triplerun2 n=10 top=5"),
]


@pytest.mark.parametrize(("rule", "variant", "cards", "combo"), LEADS)
def test_lead(rule: str, variant: str, cards: str, combo: str) -> None:
    """The reading of a lead. WK-3.12, WK-3.13."""
    found = readings_of(rules_of(config_of(variant).options), parse_cards(cards))
    assert (combo_text(as_lead(found).combo) if found else "") == combo, rule


FOLLOWS = [
    # the play to beat, the cards, as what they beat it
    ("S7 H7 C7 S8 H8 C8 S9 H9 C9 DJ DQ D2", "ST HT CT SJ HJ CJ SQ HQ CQ SK HK CK", "triplerun1 n=12 top=K"),
    ("S3 H3 C3 S4 H4 C4 S5 H5 C5 DJ DQ D2", "S4 H4 C4 S5 H5 C5 S6 H6 C6 S7 H7 C7", "triplerun1 n=12 top=7"),
    ("S3 H3 C3 S4 H4 C4 D7 D8 D9 DJ", "S5 H5 C5 S6 H6 C6 S7 H7 C7 D9", "triplerun2 n=10 top=7"),
    ("S3 H3 C3 S4 H4 C4 S5 H5 C5 S6 H6 C6", "S4 H4 C4 S5 H5 C5 S6 H6 C6 S7 H7 C7", "triplerun n=12 top=7"),
    ("S9 H9 C9 ST HT CT SJ HJ CJ SQ HQ CQ", "S4 H4 C4 S5 H5 C5 S6 H6 C6 S7 H7 C7", ""),
]


@pytest.mark.parametrize(("old", "new", "combo"), FOLLOWS)
def test_follow(old: str, new: str, combo: str) -> None:
    """WK-3.12: of the readings that beat, the one with the highest top."""
    rules = rules_of(config_of("chengde1").options)
    below = as_lead(readings_of(rules, parse_cards(old)))
    reading = as_follow(rules, readings_of(rules, parse_cards(new)), below)
    assert (combo_text(reading.combo) if reading else "") == combo


@pytest.mark.parametrize("variant", VARIANTS)
def test_random_sets(variant: str, counts: Counts) -> None:
    """WK-3: the readings of any set of cards are those of the book, written down a second time."""
    chance = random.Random(f"readings {variant}")
    hit = 0
    for number in range(counts(3_000, 60_000)):
        config = config_of(variant, **HOUSES[variant][number % len(HOUSES[variant])])
        hand = rich_hand(chance, config, 13)
        cards = in_order(chance.sample(hand, chance.choice((1, 2, 3, 3, 4, 5, 6, 8, 9, 10, 12))))
        found = readings_of(rules_of(config.options), cards)
        assert len(found) == len(set(found))
        assert set(map(naive_of, found)) == naive.readings(cards, config.options), cards
        assert all(rules_of(config.options).readings[reading.combo] == reading for reading in found)
        hit += bool(found)
    assert hit > 300
