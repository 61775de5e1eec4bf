"""A conductor whose games end as they start: what its owner wishes is heard all the same. Issue: tournaments, 4."""

from __future__ import annotations

import asyncio
import time
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kangtou_engine.boards import tournament_commitment
from kangtou_services.observe.runner import RunnerMeter
from kangtou_services.tournament import conductor
from kangtou_services.tournament.events import Flight, State, fold, submitted
from kangtou_services.tournament.game_run import Done, Terms
from kangtou_services.tournament.memory import MemoryTournamentStore
from kangtou_services.tournament.model import Entrant, Format, Result, Spec
from kangtou_services.tournament.parts import Parts

TOURNAMENT = "t_conducted123"
SEED = bytes(range(32))
GAME_S = 0.02  # far below the time in which wishes are looked for


class Played:
    """A GameRun that is soon over: a tie."""

    def __init__(self, parts: Parts, terms: Terms, flight: Flight, tokens: dict[int, str]) -> None:
        self.flight = flight

    async def run(self) -> Done:
        """Play it."""
        await asyncio.sleep(GAME_S)
        game = self.flight.game
        seats = len(game.entrants)
        return Done(self.flight, Result(game, self.flight.match, (0,) * seats, (1,) * seats, ("",) * seats))


class Store(MemoryTournamentStore):
    """Of one ladder, which goes on until somebody ends it. `asked`: how often its wish was looked for."""

    asked = 0

    async def wished(self, tournament: str) -> str:
        """See TournamentStore."""
        self.asked += 1
        return await super().wished(tournament)

    async def looked(self) -> None:
        """Wait until a wish that is there, or an outage, has been met, and what follows from it has begun."""
        before = self.asked
        while self.asked < before + 3:  # noqa: ASYNC110
            await asyncio.sleep(GAME_S)

    async def begin(self) -> None:
        """Submit it."""
        entrants = tuple(Entrant(name, bot="greedy") for name in "ABC")
        spec = Spec("ladder", "hongshi", entrants, format=Format.LADDER, concurrency=4)
        first = submitted(spec, "ann", tournament_commitment(TOURNAMENT, SEED), 1)
        await self.create(TOURNAMENT, SEED, first.to_text())

    async def state(self) -> State:
        """As its log says."""
        return fold(TOURNAMENT, await self.read(TOURNAMENT))

    async def done(self, least: int) -> State:
        """Once so many games are over."""
        while len((state := await self.state()).results) < least:  # noqa: ASYNC110
            await asyncio.sleep(GAME_S)
        return state


class World:
    """Nothing is lost."""

    async def look(self) -> str:
        """Of the world."""
        return "all there"


@pytest.fixture
def conducted(monkeypatch: pytest.MonkeyPatch) -> tuple[Store, conductor.Conductor]:
    """A ladder and who conducts it."""
    monkeypatch.setattr(conductor, "GameRun", Played)
    store = Store()
    parts = SimpleNamespace(
        store=store,
        commands=SimpleNamespace(isolated=True),
        world=World(),
        meter=RunnerMeter(),
        now_ms=lambda: 1,
        elapsed_s=time.monotonic,
    )
    return store, conductor.Conductor(TOURNAMENT, cast("Any", parts), 1)


async def test_a_wish_is_heard_while_games_keep_ending(conducted: tuple[Store, conductor.Conductor]) -> None:
    """Paused, resumed and cancelled, though there is never half a second without an end of a game."""
    store, one = conducted
    await store.begin()
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        running = group.create_task(one.run())
        await store.done(5)
        await store.wish(TOURNAMENT, "pause")
        while (state := await store.state()).flights:  # noqa: ASYNC110
            await asyncio.sleep(GAME_S)
        before = len(state.results)
        await store.wish(TOURNAMENT, "")
        await store.done(before + 5)
        await store.wish(TOURNAMENT, "cancel")
        await running
    assert (await store.state()).cause == "cancelled"


async def test_a_pause_outlasts_an_outage_of_the_store(conducted: tuple[Store, conductor.Conductor]) -> None:
    """A wish that cannot be read is what it was."""
    store, one = conducted
    await store.begin()
    await store.wish(TOURNAMENT, "pause")
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        running = group.create_task(one.run())
        await store.looked()
        store.reached = False
        await store.looked()
        store.reached = True
        await store.looked()
        state = await store.state()
        await store.wish(TOURNAMENT, "cancel")
        await running
    assert (state.results, state.flights) == ([], {})
