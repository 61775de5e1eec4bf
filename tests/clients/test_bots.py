"""The bots: by name, in a match, and what the search promises."""

from __future__ import annotations

import asyncio
from random import Random

import pytest

from kangtou_clients.api import Ending, Match, connect
from kangtou_clients.bots.bot import Bot, Observation
from kangtou_clients.bots.player import Tally, dice, play
from kangtou_clients.bots.policies import POLICIES, bot_named, is_bot
from kangtou_clients.bots.search import Budget, Search, think
from kangtou_engine.actions import Action
from kangtou_engine.events import Event
from kangtou_engine.match.match import AnyState
from kangtou_engine.registry import REGISTRY
from tests.engine.tables import chance_of, pick_of
from tests.inprocess import whole_server

GAMES: tuple[tuple[str, dict[str, object]], ...] = (
    ("hongshi", {}),
    ("duizhu", {}),
    ("erbaiwu", {}),
    ("wushik", {"variant": "chengde1"}),
)


def test_bots_by_name() -> None:
    """A budget is part of the name; what is no bot is refused."""
    assert all(is_bot(name) for name in POLICIES)
    search = bot_named("search:200ms")
    assert isinstance(search, Search)
    assert search.budget == Budget(ms=200)
    assert Budget.parse("64") == Budget(playouts=64)
    for name in ("", "search:", "search:0", "search:5s", "greedy:3", "nobody"):
        assert not is_bot(name), name


@pytest.mark.parametrize(("name", "options"), GAMES, ids=lambda value: str(value))
def test_a_search_by_playouts_repeats_itself_and_is_legal(name: str, options: dict[str, object]) -> None:
    """The same view and the same chance give the same move, at every place of a round."""
    game, chance = REGISTRY.game(name), chance_of(3)
    _, state = game.begin(game.config({**options, "rounds": 1}), chance)
    thought = 0
    while state.phase not in ("between", "over"):
        seat = game.to_act(state)[0]
        view = game.view(state, seat)
        legal = game.legal(view, seat, 200)
        moves = [think(game, view, seat, legal, pick_of(Random(5)), budget=Budget(playouts=8)) for _ in range(2)]
        assert moves[0] == moves[1]
        game.check(state, seat, moves[0])
        thought += not isinstance(legal, tuple) or len(legal) > 1
        _, state = game.step(state, seat, moves[0], chance)
    assert thought >= 10


def test_a_search_keeps_to_its_budget() -> None:
    """By a clock that goes 1 ms a look, a budget of 50 ms is never overdrawn by more than a playout and its looks."""
    game, chance = REGISTRY.game("hongshi"), chance_of(1)
    _, state = game.begin(game.config({"rounds": 1, "cut": False, "reveal": False, "lightning": False}), chance)
    looks = 0

    def clock() -> float:
        nonlocal looks
        looks += 1
        return looks / 1000

    seat = game.to_act(state)[0]
    while len(game.legal(state, seat)) < 4:  # type: ignore[arg-type]
        _, state = game.step(state, seat, game.default(state, seat), chance)
        seat = game.to_act(state)[0]
    view = game.view(state, seat)
    think(game, view, seat, game.legal(view, seat, 200), pick_of(Random(1)), budget=Budget(ms=50), clock=clock)
    assert 20 < looks <= 60


class Noting(Bot):
    """Plays the default and notes what it is told."""

    slow = True

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.asked: list[Observation] = []
        self.places: tuple[int, ...] = ()

    def act(self, seen: Observation) -> Action:
        """See Bot."""
        self.asked.append(seen)
        assert seen.is_legal(seen.default)
        assert not seen.is_legal(Action("fly"))
        assert seen.default in seen.listed() or not seen.listed()
        assert seen.text()
        return seen.default

    def saw(self, view: AnyState, event: Event) -> None:
        """See Bot."""
        self.events.append(event)

    def ended(self, scores: tuple[int, ...], places: tuple[int, ...]) -> None:
        """See Bot."""
        self.places = places


async def test_a_bot_of_ones_own_plays_a_match_beside_the_search() -> None:
    """One observation, one method; it is told what happens and how it ends."""
    names, noting, tally = ("ann", "bob", "cat", "dan"), Noting(), Tally()

    async def seat(name: str, bot: str | Bot) -> Ending:
        async with connect(server.address, f"t-{name}") as client, client.play() as session:
            match = await session.attach("m1")
            assert isinstance(match, Match)
            ending = await play(match, bot, dice(1), tally)
            assert isinstance(ending, Ending)
            return ending

    async with whole_server() as server:
        await server.make("m1", names, "hongshi", turn_ms=20_000, options={"rounds": 1})
        bots: tuple[str | Bot, ...] = (noting, "search:8", "greedy", "random")
        async with asyncio.timeout(60):
            endings = await asyncio.gather(*[seat(name, bot) for name, bot in zip(names, bots, strict=True)])
    assert {ending.scores for ending in endings} == {endings[0].scores}
    assert noting.places == endings[0].places
    assert len(noting.events) > 20
    assert {seen.seat for seen in noting.asked} == {0}
    assert any(seen.known.gone for seen in noting.asked)
    assert (tally.matches, tally.refused) == (4, 0)
