"""A faulting side never gains: its penalty is worse than any score that a match can bring. docs/tournaments.md."""

from __future__ import annotations

import random

import pytest

from kangtou_engine.match.match import Game as Engine
from kangtou_engine.match.state import Config
from kangtou_engine.registry import REGISTRY
from kangtou_engine.shuffle import SeededChance
from kangtou_services.tournament.forfeits import forfeited, penalty, places
from kangtou_services.tournament.sets import board_options

from ..conftest import Counts

VARIANTS = [
    (name, variant)
    for name in REGISTRY.names()
    for variant in next((row.words for row in REGISTRY.game(name).spec.option_rows if row.name == "variant"), ("",))
]


def scores_of(engine: Engine, config: Config, number: int, policy: str) -> tuple[int, ...]:
    """A whole match, played at random or greedily."""
    chance = SeededChance(f"m{number}", number.to_bytes(32, "big"), ())
    pick = random.Random(number).randrange
    _, state = engine.begin(config, chance)
    choose = getattr(engine.spec, policy)
    while engine.to_act(state):
        seat = engine.to_act(state)[0]
        legal = engine.legal(state, seat)
        _, state = engine.step(state, seat, choose(engine.view(state, seat), seat, legal, pick), chance)
    return tuple(state.sheet.scores)


@pytest.mark.parametrize(("name", "variant"), VARIANTS)
def test_no_score_is_worse_than_a_fault(name: str, variant: str, counts: Counts) -> None:
    """Of matches on boards, by good and by random play."""
    engine = REGISTRY.game(name)
    config = engine.config(board_options(name, {"variant": variant} if variant else {}))
    worst = penalty(config)
    better = engine.spec.better
    for number in range(counts(10, 400)):
        for score in scores_of(engine, config, number, ("random", "greedy")[number % 2]):
            assert better * score > better * worst


@pytest.mark.parametrize("name", REGISTRY.names())
def test_the_guilty_lose_with_all_their_seats(name: str) -> None:
    """Others get nothing for it, and are in front."""
    config = REGISTRY.game(name).config(board_options(name, {}))
    entrants = tuple(seat % 2 for seat in range(config.seats))
    scores = forfeited(config, entrants, {1})
    assert scores == tuple(penalty(config) if entrant else 0 for entrant in entrants)
    placed = places(config, scores)
    assert all(place == 1 for place, entrant in zip(placed, entrants, strict=True) if not entrant)
    assert all(place > 1 for place, entrant in zip(placed, entrants, strict=True) if entrant)
