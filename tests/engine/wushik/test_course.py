"""Further cases of the course of play, in the format of the case files."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from kangtou_engine.actions import parse_action
from kangtou_engine.cards import HIDDEN, RANKS
from kangtou_engine.cases import run_case
from kangtou_engine.game import TooMany
from kangtou_engine.games.wushik import GAME
from kangtou_engine.games.wushik.variants import ALL
from kangtou_engine.shuffle import SeededChance
from kangtou_engine.words import say

from .hands import VARIANTS, WUSHIK, config_of, position

CASES: list[Mapping[str, Any]] = yaml.safe_load((Path(__file__).parent / "cases.yaml").read_text())


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_case(case: Mapping[str, Any]) -> None:
    """The case holds."""
    assert run_case(WUSHIK, case) == []


@pytest.mark.parametrize("variant", VARIANTS)
def test_leader_drew_the_lead_card_first(variant: str) -> None:
    """WK-2.4, from the pile itself."""
    config = config_of(variant)
    card = ALL[variant].lead_card
    for seed in range(30):
        chance = SeededChance(f"lead-{seed}", bytes(32), ())
        pile = chance.shuffle(GAME.pack(config), "pack", 1)
        state = WUSHIK.begin(config, chance)[1]
        dealer = state.sheet.dealer
        assert dealer is not None
        assert state.game.turn == (dealer if card is None else (dealer + pile.index(card)) % 4)
        assert state.game.first_lead is (card is not None)


def test_announced_cards_are_public() -> None:
    """WK-10.6, WK-13.4: others see them, also when some have been played; the rest of the hand stays hidden."""
    config = config_of("jiangnan")
    start = {"hands": ["S7 S7 H7 H7 C7 C7 D4", "C3", "C4 C5", "C6"]}
    state = GAME.cases.position(WUSHIK.before(config), start)
    chance = SeededChance("announce", bytes(32), ())
    assert WUSHIK.view(state, 1).game.hands[0] == (HIDDEN,) * 7
    for seat, text in enumerate(("show rank=7", "pass", "pass", "pass")):
        state = WUSHIK.step(state, seat, parse_action(text), chance)[1]
    state = WUSHIK.step(state, 0, parse_action("pass"), chance)[1]
    assert WUSHIK.view(state, 1).game.hands[0] == ("S7", "S7", "H7", "H7", "C7", "C7", HIDDEN)
    state = WUSHIK.step(state, 0, parse_action("play S7"), chance)[1]
    assert WUSHIK.view(state, None).game.hands[0] == ("S7", "H7", "H7", "C7", "C7", HIDDEN)


def test_too_many_says_what_is_legal() -> None:
    """WK-7.5: the constraint is in the catalogue, and the bots find a legal action all the same."""
    config = config_of("chengde2")
    hand = tuple(f"{suit}{rank}" for suit in "SHCD" for rank in RANKS[:6])
    starts: tuple[dict[str, Any], ...] = ({}, {"trick": {"by": 3, "cards": "S3 H4 C5 D6 S7"}})
    for start in starts:
        state = position(config, hand, **start)
        legal = WUSHIK.legal(state, 0, 200)
        assert isinstance(legal, TooMany)
        for lang in ("en", "zh"):
            assert say(GAME.words, legal.constraint, legal.params, lang)
        for number in range(40):
            WUSHIK.check(state, 0, GAME.random(state, 0, legal, partial(operator.mod, number)))
            WUSHIK.check(state, 0, GAME.greedy(state, 0, legal, lambda n: 0))
