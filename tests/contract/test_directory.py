"""The contract of Directory."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from uuid import uuid4

import pytest

from kangtou_services.directory import Actor, Directory, Gateway, Heart, MemoryDirectory, RedisDirectory
from kangtou_services.directory import watch as watching
from kangtou_services.directory.base import ALIVE_MS

from ..conftest import Bound
from ..servers import client_of


@pytest.fixture(params=["memory", "valkey", "cluster"])
async def directory(request: pytest.FixtureRequest) -> AsyncIterator[Directory]:
    """Each of the twins."""
    if request.param == "memory":
        yield MemoryDirectory()
        return
    async with client_of(request.getfixturevalue(request.param)) as client:
        await client.flushdb()
        yield RedisDirectory(client)


@pytest.fixture
def actor() -> Actor:
    """One with an id of its own."""
    return Actor(uuid4().hex[:8], "unix:/run/红.sock", "node-1", 4711, tables=3, cap=100)


async def test_a_registered_actor_lives(directory: Directory, actor: Actor) -> None:
    assert await directory.living() == []
    assert not await directory.is_alive(actor.id)
    assert await directory.last_beat(actor.id) is None
    before = time.time_ns() // 1_000_000
    assert await directory.register(actor)
    assert await directory.living() == [actor]
    assert await directory.is_alive(actor.id)
    beat = await directory.last_beat(actor.id)
    assert beat is not None
    assert before <= beat <= time.time_ns() // 1_000_000
    busier = replace(actor, tables=4)
    assert await directory.register(busier)
    assert await directory.living() == [busier]


async def test_living_are_sorted_by_id(directory: Directory, actor: Actor) -> None:
    actors = [replace(actor, id=name) for name in "cab"]
    for one in actors:
        await directory.register(one)
    assert [one.id for one in await directory.living()] == ["a", "b", "c"]


async def test_who_leaves_is_no_death(directory: Directory, actor: Actor) -> None:
    await directory.register(actor)
    async with aclosing(directory.watch_dead()) as deaths:
        first = asyncio.ensure_future(anext(deaths))
        await asyncio.sleep(0.1)
        await directory.leave(actor.id)
        assert await directory.living() == []
        other = replace(actor, id="other")
        await directory.register(other)
        await directory.declare_dead("other")
        assert await asyncio.wait_for(first, 60) == "other"
    assert await directory.last_beat(actor.id) is not None
    assert await directory.register(actor)


async def test_declared_dead_is_told_to_all_and_final(directory: Directory, actor: Actor) -> None:
    await directory.register(actor)
    watches = [directory.watch_dead() for _ in range(3)]
    waiting = [asyncio.ensure_future(anext(watch)) for watch in watches]
    await asyncio.sleep(0.1)
    await directory.declare_dead(actor.id)
    await directory.declare_dead(actor.id)
    assert await asyncio.gather(*waiting) == [actor.id] * 3
    assert not await directory.is_alive(actor.id)
    assert await directory.living() == []
    assert not await directory.register(actor)
    assert await directory.living() == []
    assert await directory.last_beat(actor.id) is not None
    again = [asyncio.ensure_future(anext(watch)) for watch in watches]
    await asyncio.sleep(0.8)
    assert not any(one.done() for one in again)
    await _cancel(again)


async def test_a_death_is_announced(directory: Directory, actor: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    """A watch hears of it long before it looks by itself."""
    monkeypatch.setattr(watching, "LOOK_S", 600.0)
    await directory.register(actor)
    first = asyncio.ensure_future(anext(directory.watch_dead()))
    await asyncio.sleep(0.5)  # until it watches
    await directory.declare_dead(actor.id)
    assert await asyncio.wait_for(first, 60) == actor.id


async def test_old_deaths_are_not_told_to_new_watches(directory: Directory, actor: Actor) -> None:
    await directory.register(actor)
    await directory.declare_dead(actor.id)
    first = asyncio.ensure_future(anext(directory.watch_dead()))
    await asyncio.sleep(0.1)
    await directory.declare_dead("news")
    assert await asyncio.wait_for(first, 60) == "news"


async def test_silence_is_death_and_is_told_once(directory: Directory, actor: Actor, bound: Bound) -> None:
    deaths = directory.watch_dead()
    heart = Heart(lambda: directory.register(replace(actor, id="lively")))
    await heart.start()
    began = time.monotonic()
    await directory.register(actor)
    assert await asyncio.wait_for(anext(deaths), 60) == actor.id
    assert ALIVE_MS / 1000 - 0.1 <= time.monotonic() - began < ALIVE_MS / 1000 + bound(1.2)
    second = asyncio.ensure_future(anext(deaths))
    await asyncio.sleep(1.2)
    assert not second.done()
    assert [one.id for one in await directory.living()] == ["lively"]
    assert await directory.register(actor)  # it was only slow; its tables are elsewhere by now
    assert await directory.is_alive(actor.id)
    await heart.stop()
    await _cancel([second])


async def test_a_heart_stops_when_declared_dead(directory: Directory, actor: Actor) -> None:
    stopped = asyncio.Event()
    heart = Heart(lambda: directory.register(actor), stopped.set, every_s=0.05)
    await heart.start()
    await asyncio.sleep(0.12)
    assert not stopped.is_set()
    await directory.declare_dead(actor.id)
    await asyncio.wait_for(stopped.wait(), 60)
    assert await directory.living() == []
    await heart.stop()


async def test_gateways(directory: Directory) -> None:
    gateway = Gateway("g1", "127.0.0.1:7480", "node-1", 99)
    assert await directory.gateways() == []
    await directory.register_gateway(gateway)
    await directory.register_gateway(replace(gateway, id="g0"))
    assert [one.id for one in await directory.gateways()] == ["g0", "g1"]
    assert await directory.living() == []
    await directory.leave_gateway("g0")
    assert await directory.gateways() == [gateway]


async def _cancel(tasks: Sequence[asyncio.Future[str]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
