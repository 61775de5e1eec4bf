"""The bots: always legal, and greedy clearly better than random, on the same deals from both sides."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from kangtou_engine.games.wushik import GAME
from kangtou_engine.games.wushik.variants import ALL
from kangtou_engine.shuffle import SeededChance
from tests.conftest import Counts

from .hands import VARIANTS, WUSHIK

# Points by which greedy wins a deal played from both sides: less than half of what long runs give.
MARGIN = {"chengde1": 70, "chengde2": 120, "liaoning": 25, "jiangnan": 150, "jinzhou": 30}


def margin(variant: str, deal: int, greedy: int) -> int:
    """What the seats of this parity, played by greedy, score more than the others, in one round."""
    rng = Random(deal)
    config = WUSHIK.config({"variant": variant, "rounds": 1, "target": 0})
    chance = SeededChance(f"duel-{deal}", bytes(32), ())
    state: Any = WUSHIK.begin(config, chance)[1]
    while state.phase != "over":
        seat = WUSHIK.to_act(state)[0]
        view = WUSHIK.view(state, seat)
        bot = GAME.greedy if seat % 2 == greedy else GAME.random
        action = bot(view, seat, WUSHIK.legal(view, seat, 200), lambda n: int(rng.random() * n))
        assert GAME.canonical(action) == action
        state = WUSHIK.step(state, seat, action, chance)[1]
    scores: tuple[int, ...] = state.sheet.scores
    return sum(score if seat % 2 == greedy else -score for seat, score in enumerate(scores)) // 2


@pytest.mark.parametrize("variant", VARIANTS)
def test_greedy_beats_random(variant: str, counts: Counts) -> None:
    """Each deal twice, the sides changed."""
    deals = counts(12, 200)
    results = [margin(variant, deal, 0) + margin(variant, deal, 1) for deal in range(deals)]
    assert sum(results) > MARGIN[variant] * deals
    assert sum(result > 0 for result in results) > 0.75 * deals


def test_every_variant_has_a_margin() -> None:
    """A sixth variant is measured too."""
    assert set(MARGIN) == set(ALL)
