"""The store of tournaments, on all twins: memory, Valkey, a cluster."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator

import pytest

from kangtou_services.tournament.ids import is_tournament, match_id, tournament_id, tournament_of
from kangtou_services.tournament.memory import MemoryTournamentStore
from kangtou_services.tournament.redis import RedisTournamentStore
from kangtou_services.tournament.store import Overtaken, TournamentStore

from ..servers import client_of

SEED = bytes(range(32))


@pytest.fixture(params=["memory", "valkey", "cluster"])
async def store(request: pytest.FixtureRequest) -> AsyncIterator[TournamentStore]:
    """Each of the twins; nobody is the runner."""
    if request.param == "memory":
        yield MemoryTournamentStore()
        return
    async with client_of(request.getfixturevalue(request.param)) as client:
        await client.delete("{runner}:lease")
        yield RedisTournamentStore(client)


@pytest.fixture
def tournament() -> str:
    """A new id."""
    return tournament_id("ann", "")


async def test_created_once(store: TournamentStore, tournament: str) -> None:
    """The seed and the first event are those of the first; it is listed and active until it is retired."""
    assert await store.read(tournament) == []
    assert await store.seed(tournament) is None
    assert await store.create(tournament, SEED, "first")
    assert not await store.create(tournament, secrets.token_bytes(32), "another")
    assert (await store.seed(tournament), await store.read(tournament)) == (SEED, ["first"])
    assert tournament in await store.tournaments()
    assert tournament in await store.active()
    await store.retire(tournament)
    assert tournament not in await store.active()
    assert (await store.tournaments())[0] == tournament


async def test_append_by_length_and_fence(store: TournamentStore, tournament: str) -> None:
    """At its length only; a repeat is taken as done; a runner of an older lease is told that it is overtaken."""
    await store.create(tournament, SEED, "first")
    await store.append(tournament, 5, 1, ["a", "b"])
    await store.append(tournament, 5, 1, ["a", "b"])
    assert await store.read(tournament, 1) == ["a", "b"]
    with pytest.raises(Overtaken):
        await store.append(tournament, 5, 1, ["a", "c"])
    with pytest.raises(Overtaken):
        await store.append(tournament, 5, 2, ["c"])
    await store.append(tournament, 6, 3, ["c"])
    with pytest.raises(Overtaken):
        await store.append(tournament, 5, 4, ["d"])
    assert await store.read(tournament) == ["first", "a", "b", "c"]


async def test_only_one_of_two_writers_gets_in(store: TournamentStore, tournament: str) -> None:
    """Ten append at the same length at once."""
    await store.create(tournament, SEED, "first")
    tries = (store.append(tournament, 1, 1, [f"event {number}"]) for number in range(10))
    done = await asyncio.gather(*tries, return_exceptions=True)
    assert sum(one is None for one in done) == 1
    assert all(one is None or isinstance(one, Overtaken) for one in done)
    assert len(await store.read(tournament)) == 2


async def test_withheld_until_released(store: TournamentStore, tournament: str) -> None:
    """With the very append that starts or completes them."""
    await store.create(tournament, SEED, "first")
    one, two = match_id(tournament, "1-1-1.0", 0), match_id(tournament, "1-1-1.1", 0)
    assert not await store.withheld(one)
    await store.append(tournament, 1, 1, ["started"], [one, two])
    assert await store.withheld(one)
    assert await store.withheld(two)
    await store.append(tournament, 1, 2, ["ended"], (), [one])
    assert not await store.withheld(one)
    assert await store.withheld(two)
    assert not await store.withheld("some-other-match")


async def test_wishes(store: TournamentStore, tournament: str) -> None:
    """The last one counts."""
    await store.create(tournament, SEED, "first")
    assert await store.wished(tournament) == ""
    await store.wish(tournament, "pause")
    await store.wish(tournament, "cancel")
    assert await store.wished(tournament) == "cancel"


async def test_one_runner_at_a_time(store: TournamentStore) -> None:
    """Its number stays while it holds the lease and grows with every other one."""
    first = await store.lease("a", 60_000)
    assert first > 0
    assert await store.lease("a", 60_000) == first
    assert await store.lease("b", 60_000) == 0
    await store.leave("b")
    assert await store.lease("b", 60_000) == 0
    await store.leave("a")
    second = await store.lease("b", 50)
    assert second > first
    await asyncio.sleep(0.08)
    assert await store.lease("c", 60_000) > second


def test_ids_follow_from_one_another() -> None:
    """The same again; matches name their tournament."""
    tournament = tournament_id("ann", "c1")
    assert tournament == tournament_id("ann", "c1") != tournament_id("ann", "c2")
    assert is_tournament(tournament)
    match = match_id(tournament, "1-1-1.0", 3)
    assert tournament_of(match) == tournament
    assert match != match_id(tournament, "1-1-1.1", 3)
    assert tournament_of("abcdefgh12345678") == ""
