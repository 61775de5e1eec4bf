"""Which matches count, as what; what the model does with them."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openskill.models import PlackettLuce

from kangtou_engine.errors import BadOptions
from kangtou_engine.record import Head, Outcome, Place, Terms
from kangtou_engine.registry import REGISTRY
from kangtou_services.ratings import Ladder, Result, Standing, result_of
from kangtou_services.ratings.model import rate
from kangtou_services.ratings.values import NEW, SURE_SIGMA, shown

LADDER = Ladder("hongshi", "", "human")


def head(game: str = "hongshi", places: tuple[int, ...] | None = (2, 1, 2, 4), **given: Any) -> Head:
    """Of a rated match of people that the rules ended."""
    seats = given.pop("accounts", "abcd"[: len(places or "abcd")])
    kinds = given.pop("kinds", ["human"] * len(seats))
    terms = Terms(
        match="m1",
        game=game,
        version=1,
        options=given.pop("options", {}),
        seats=tuple(map(Place, seats, kinds)),
        seed_commitment="",
        turn_ms=1,
        window_ms=1,
        rated=given.pop("rated", True),
        created_ms=1,
    )
    cause = given.pop("cause", "rules")
    outcome = Outcome(started_ms=1, ended_ms=9, cause=cause, rounds=1, moves=1, scores=(0,) * len(seats), places=places)
    assert not given
    return Head(terms, outcome, "0")


SIDES = [
    # game, options, places by seat, ladder, sides, places by side
    ("hongshi", {}, (2, 1, 2, 4), "hongshi:human", "a b c d", (2, 1, 2, 4)),  # hidden partners: by points
    ("duizhu", {}, (3, 1, 3, 1), "duizhu:human", "ac bd", (3, 1)),
    ("duizhu", {}, (1, 1, 1, 1), "duizhu:human", "ac bd", (1, 1)),
    ("erbaiwu", {}, (1, 2), "erbaiwu:human", "a b", (1, 2)),
    ("erbaiwu", {"limit": 100}, (1, 2, 3, 3, 5, 6), "erbaiwu:human", "a b c d e f", (1, 2, 3, 3, 5, 6)),
    ("wushik", {}, (1, 3, 1, 3), "wushik/chengde1:human", "ac bd", (1, 3)),
    ("wushik", {"variant": "liaoning"}, (1, 2, 3), "wushik/liaoning:human", "a b c", (1, 2, 3)),
]


@pytest.mark.parametrize(("game", "options", "places", "ladder", "sides", "by_side"), SIDES)
def test_sides(
    game: str, options: dict[str, object], places: tuple[int, ...], ladder: str, sides: str, by_side: tuple[int, ...]
) -> None:
    accounts = "abcdef"[: len(places)]
    found = result_of(head(game, places, options=options, accounts=accounts), REGISTRY)
    assert found is not None
    assert found.ladder.id == ladder
    assert found.sides == tuple(map(tuple, sides.split(" ")))
    assert found.places == by_side
    assert (found.match_id, found.ended_ms) == ("m1", 9)


COUNTS_NOT: list[dict[str, Any]] = [
    {"rated": False},
    *({"cause": cause, "places": None} for cause in ("abandoned", "operator", "forfeit", "faulted")),
    {"cause": "operator"},
    {"kinds": ["human", "human", "bot", "human"]},
    {"accounts": "abca"},
]


@pytest.mark.parametrize("given", COUNTS_NOT, ids=str)
def test_what_does_not_count(given: dict[str, Any]) -> None:
    assert result_of(head(**given), REGISTRY) is None


def test_bots_have_ladders_of_their_own() -> None:
    found = result_of(head(kinds=["bot"] * 4), REGISTRY)
    assert found is not None
    assert found.ladder == Ladder("hongshi", "", "bot")


def test_a_game_that_is_not_played_here_is_named() -> None:
    with pytest.raises(BadOptions):
        result_of(head("mahjong"), REGISTRY)


def played(places: tuple[int, ...], size: int = 1) -> Result:
    """Sides of `size`."""
    sides = tuple(tuple(f"{side}.{number}" for number in range(size)) for side in range(len(places)))
    return Result("m", LADDER, sides, places, 5)


standings = st.builds(Standing, st.floats(0, 50), st.floats(0.5, 9), st.integers(0, 99), st.just(0))


@given(st.lists(st.integers(1, 6), min_size=2, max_size=6), st.integers(1, 2))
def test_newcomers_move_by_their_places(places: list[int], size: int) -> None:
    """Better places end above, equal places of equals end equal, partners move alike, and everybody is surer."""
    result = played(tuple(places), size)
    after = rate({}, result)
    firsts = [after[side[0]] for side in result.sides]
    for side in result.sides:
        assert len({after[account] for account in side}) == 1
    for one, mine in zip(places, firsts, strict=True):
        for other, theirs in zip(places, firsts, strict=True):
            assert (one < other) <= (mine.mu > theirs.mu)
            assert (one == other) <= (abs(mine.mu - theirs.mu) < 1e-9)
    assert all(standing.sigma < NEW.sigma and standing.games == 1 and standing.last_ms == 5 for standing in firsts)


@given(standings, standings)
def test_a_win_never_lowers(winner: Standing, loser: Standing) -> None:
    after = rate({"0.0": winner, "1.0": loser}, played((1, 2)))
    assert after["0.0"].mu >= winner.mu
    assert after["1.0"].mu <= loser.mu
    assert after["0.0"].games == winner.games + 1


def test_why_it_is_not_plackett_luce() -> None:
    """The library's default takes a tie for the first place as if one of the two had not been there."""
    model = PlackettLuce()
    rated = model.rate([[model.rating()] for _ in range(4)], ranks=[1, 1, 2, 3])
    assert rated[0][0].mu == rated[2][0].mu
    ours = rate({}, played((1, 1, 2, 3)))
    assert ours["0.0"].mu > ours["2.0"].mu + 1


def test_a_win_against_the_better_counts_more() -> None:
    won = [rate({"1.0": Standing(mu, 2.0)}, played((1, 2)))["0.0"].mu for mu in (15.0, 25.0, 35.0)]
    assert won == sorted(won)
    assert won[0] < won[2]


def test_who_wins_most_is_found() -> None:
    """Three of four are equal, one comes first seven times in ten: it leads, and nobody is provisional any more."""
    chance = random.Random(5)
    held: dict[str, Standing] = {}
    for number in range(60):
        others = chance.sample((2, 3, 4), 3)
        places = (1, *others) if number % 10 < 7 else (4, *(place - 1 for place in others))
        held.update(rate(held, played(places)))
    assert max(held, key=lambda name: held[name].mu) == "0.0"
    assert all(standing.sigma < SURE_SIGMA and not standing.provisional for standing in held.values())
    assert NEW.provisional


def test_texts_come_back_to_the_bit() -> None:
    standing = Standing(0.1 + 0.2, 1 / 3, 4, 5)
    assert Standing.from_text(standing.to_text()) == standing
    assert (shown(NEW.mu), shown(NEW.floor)) == (1500, 500)
    assert not replace(standing, games=9).listed
    assert replace(standing, games=10).listed
