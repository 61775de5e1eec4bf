"""Duplicate sets: everybody holds every hand once, and over the sets everybody sits everywhere."""

from __future__ import annotations

from collections import Counter

import pytest

from bench._sets import Field, play_sets
from kangtou_engine.registry import REGISTRY
from kangtou_services.tournament.model import Unit
from kangtou_services.tournament.sets import Sides, arrangements, config_of, patterns, sides_of, table_sizes

from .made import spec_of

GAMES = [
    (name, seats, {"variant": variant} if variant else {})
    for name in REGISTRY.names()
    for seats in REGISTRY.game(name).spec.seats_allowed
    for variant in (("chengde1", "liaoning") if name == "wushik" else ("",))
    if not (seats == 3 and variant == "chengde1")
]


@pytest.mark.parametrize(("game", "seats", "options"), GAMES)
def test_everybody_holds_every_hand_once(game: str, seats: int, options: dict[str, str]) -> None:
    spec = spec_of(6, game, seats=seats, options=options)
    for size in table_sizes(config_of(spec), Unit.SINGLE):
        encounter = (5, 3, 1, 0, 2, 4)[:size]
        for number in range(2 * len(patterns(config_of(spec), size))):
            games = arrangements(spec, encounter, number)
            times = len(games) // size
            for seat in range(seats):
                held = Counter(seated[seat] for seated in games)
                assert held == dict.fromkeys(encounter, times), (size, number, seat)


@pytest.mark.parametrize(("game", "seats", "options"), GAMES)
def test_partners_of_fixed_sides_are_one_entrant(game: str, seats: int, options: dict[str, str]) -> None:
    spec = spec_of(2, game, seats=seats, options=options)
    config = config_of(spec)
    if sides_of(config) is not Sides.FIXED:
        assert table_sizes(config, Unit.PAIR) == ()
        return
    assert table_sizes(config, Unit.PAIR) == (2,)
    assert arrangements(spec, (0, 1)) == ((0, 1, 0, 1), (1, 0, 1, 0))


def test_hidden_sides_pair_everybody_with_everybody() -> None:
    spec = spec_of(4)
    assert len(set(arrangements(spec, (0, 1)))) == 6, "all placements of two copies each"
    for encounter, sets in (((0, 1), 1), ((0, 1, 2, 3), 6)):
        together: Counter[tuple[int, int, int, int]] = Counter()
        for number in range(sets):
            for seated in arrangements(spec, encounter, number):
                for one in range(4):
                    for other in range(one):
                        together[one, other, seated[one], seated[other]] += 1
        if len(encounter) == 4:  # each two entrants at each two seats, equally often
            assert len(together) == 6 * 12
            assert len(set(together.values())) == 1
        else:  # opponents at each two seats twice as often as copies of one of them
            assert set(together.values()) == {1, 2}


def test_cross_boards_go_through_the_seats() -> None:
    spec = spec_of(4, rotation="cross")
    seated = [arrangements(spec, (2, 7, 1, 0), number) for number in range(24)]
    assert all(len(games) == 1 for games in seated)
    for seat in range(4):
        assert Counter(games[0][seat] for games in seated) == {2: 6, 7: 6, 1: 6, 0: 6}


def test_boards_force_what_would_change_the_deals() -> None:
    for name in REGISTRY.names():
        options = config_of(spec_of(2, name, options={"rounds": 2})).options
        assert (options.cut, options.between, options.vote_end, options.rounds) == (False, False, False, 2)
        assert config_of(spec_of(2, name)).options.rounds == 1


@pytest.mark.parametrize("game", REGISTRY.names())
def test_the_same_bot_twice_is_level_in_every_set(game: str) -> None:
    """Played by the engine: one deterministic bot against itself. Single games are luck, a set is none."""
    scores = play_sets(Field(game, bots=("greedy", "greedy")), 6, workers=1)
    assert [score.edge(0, 1) for score in scores] == [0.0] * 6
    assert any(one != other for score in scores for one, other in score.games)
