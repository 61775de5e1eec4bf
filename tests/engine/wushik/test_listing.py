"""Listings: equal to all subsets of the hand, each once, TooMany exactly beyond the limit. WK-7."""

from __future__ import annotations

import random
from typing import Any

import pytest

from kangtou_engine.actions import Action, parse_action
from kangtou_engine.cards import Cards, in_order
from kangtou_engine.errors import IllegalAction
from kangtou_engine.game import TooMany
from kangtou_engine.games.wushik import GAME
from kangtou_engine.games.wushik.rules import as_lead, readings_of, rules_of
from tests.conftest import Counts

from . import naive
from .hands import HOUSES, VARIANTS, WUSHIK, config_of, naive_of, position, rich_hand


def _old(chance: random.Random, config: Any) -> Cards | None:
    """A play to beat from another hand, or None for a lead."""
    if chance.random() < 0.3:
        return None
    rules = rules_of(config.options)
    hand = rich_hand(chance, config, 9)
    for _ in range(60):
        cards = in_order(chance.sample(hand, chance.choice((1, 2, 3, 3, 4, 5, 6, 8, 9))))
        if readings_of(rules, cards):
            return cards
    return None


def _size(chance: random.Random) -> int:
    return chance.choice((1, 3, 5, 6, 7, 8, 8, 9, 9)) if chance.random() < 0.97 else 12


def _found(state: Any, limit: int = 10**9) -> list[str] | None:
    legal = WUSHIK.legal(state, 0, limit)
    if isinstance(legal, TooMany):
        return None
    return [str(action) for action in legal]


@pytest.mark.parametrize("variant", VARIANTS)
def test_legal_is_every_subset(variant: str, counts: Counts) -> None:
    """WK-7.1, WK-7.2, WK-7.4, WK-10.8."""
    chance = random.Random(f"subsets {variant}")
    hit = 0
    for number in range(counts(120, 3000)):
        config = config_of(variant, **HOUSES[variant][number % len(HOUSES[variant])])
        rules = rules_of(config.options)
        hand, old = rich_hand(chance, config, _size(chance)), _old(chance, config)
        shown = "".join(chance.sample("3456789TJQKA2", 4)) if variant == "jiangnan" else ""
        start: dict[str, Any] = {"shown": {0: shown}} if shown else {}
        if old is not None:
            start["trick"] = {"by": 3, "cards": " ".join(old)}
        state = position(config, hand, **start)
        reading = None if old is None else naive_of(as_lead(readings_of(rules, old)))
        wanted = naive.plays(hand, reading, config.options, shown)
        found = _found(state)
        if found is None:
            assert len(wanted) > 2000 - (old is not None), (hand, old)
            continue
        assert len(found) == len(set(found)), (hand, old)
        assert all(str(GAME.canonical(parse_action(text))) == text for text in found)
        plays = {" ".join(sorted(text.split()[1:])) for text in found if text != "pass"}
        assert plays == wanted, (hand, old, plays ^ wanted)
        assert ("pass" in found) == (old is not None)
        hit += len(wanted) > 0
    assert hit > 50


@pytest.mark.parametrize("variant", VARIANTS)
def test_decide_takes_what_is_listed(variant: str, counts: Counts) -> None:
    """WK-7: every listed action is canonical and accepted, every other subset is refused."""
    chance = random.Random(f"decide {variant}")
    for number in range(counts(25, 600)):
        config = config_of(variant, **HOUSES[variant][number % len(HOUSES[variant])])
        hand, old = rich_hand(chance, config, 8), _old(chance, config)
        start = {} if old is None else {"trick": {"by": 3, "cards": " ".join(old)}}
        state = position(config, hand, **start)
        listed = set(_found(state) or ())
        for bits in range(1, 1 << len(hand)):
            cards = tuple(card for place, card in enumerate(hand) if bits >> place & 1)
            action = GAME.canonical(Action("play", tuple(reversed(cards))))
            assert _accepts(state, action) == (str(action) in listed), (hand, old, cards)


def _accepts(state: Any, action: Any) -> bool:
    try:
        WUSHIK.check(state, 0, action)
    except IllegalAction:
        return False
    return True


@pytest.mark.parametrize("variant", VARIANTS)
def test_too_many_is_exact(variant: str, counts: Counts) -> None:
    """WK-7.5: TooMany if and only if there are more than were asked for, or than 2,000."""
    chance = random.Random(f"limits {variant}")
    for number in range(counts(40, 1000)):
        config = config_of(variant, **HOUSES[variant][number % len(HOUSES[variant])])
        state = position(config, rich_hand(chance, config, chance.randrange(8, 14)))
        found = _found(state)
        if found is None:
            assert _found(state, 2000) is None
            continue
        assert _found(state, len(found)) == found
        assert _found(state, len(found) - 1) is None
        assert _found(state, 200) == (found if len(found) <= 200 else None)


LEAD_CARDS = {"chengde1": "S3", "chengde2": "S3", "liaoning": "H3", "jinzhou": "HA"}


@pytest.mark.parametrize("variant", LEAD_CARDS)
def test_lead_card(variant: str, counts: Counts) -> None:
    """WK-14.7: with the option exactly the plays with the lead card."""
    chance = random.Random(f"lead card {variant}")
    card = LEAD_CARDS[variant]
    for _ in range(counts(30, 500)):
        config = config_of(variant, lead_card=True)
        hand = rich_hand(chance, config, chance.randrange(4, 9))
        if hand.count(card) < (2 if variant.endswith(("2", "u")) else 1):
            hand = in_order((*hand, card))
        state = position(config, hand, first_lead=True)
        found = _found(state)
        assert found is not None
        assert {" ".join(sorted(text.split()[1:])) for text in found} == naive.plays(
            hand, None, config.options, must=card
        )
        assert len(found) == len(set(found))
        assert all(str(GAME.canonical(parse_action(text))) == text for text in found)
        assert str(WUSHIK.default(state, 0)) == f"play {card}"
