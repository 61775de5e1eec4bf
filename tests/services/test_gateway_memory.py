"""What a gateway keeps of moves, streams and matches that are over: nothing, and without the garbage collector's help.

A process frees memory at once if nothing holds it in a circle. The collector comes when tens of thousands of objects
wait, which is megabytes of what moves have left: a gateway's memory would go up and down by as much.
"""

from __future__ import annotations

import asyncio
import gc
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import AsyncExitStack

import grpc
import pytest

from kangtou.internal.v1 import link_pb2 as lpb
from kangtou.v1 import play_pb2 as play
from kangtou_services.gateway import router as routing
from kangtou_services.gateway.auth import REMEMBER_S, Callers
from kangtou_services.gateway.commands import StreamCall
from kangtou_services.gateway.followers import Follower
from kangtou_services.gateway.outbox import Queue
from kangtou_services.gateway.requests import Requests
from kangtou_services.gateway.routes import Pending, Route, Subscription
from kangtou_services.gateway.streams import PlayStream
from tests.e2e.test_play_inprocess import NAMES, seat
from tests.inprocess import NamesAsTokens, Server, until, whole_server
from tests.services.raw import RawStream, raw_stream

KINDS = (StreamCall, Pending, lpb.Call, Follower, Subscription, Queue, PlayStream, Requests)


_BEFORE: Counter[str] = Counter()  # what other tests of this process still hold


@pytest.fixture(autouse=True)
def _before() -> Iterator[None]:
    gc.collect()
    _BEFORE.update(_held(KINDS))
    yield
    _BEFORE.clear()


@pytest.fixture
def uncollected(_before: None) -> Iterator[None]:
    """The collector does nothing during the test."""
    gc.disable()
    yield
    gc.enable()


def _held(kinds: Collection[type]) -> Counter[str]:
    return Counter(type(one).__name__ for one in gc.get_objects() if type(one) in kinds)


def living(*kinds: type) -> Counter[str]:
    """How many objects there are of each kind, beyond those that were there before; kinds that have any."""
    return _held(kinds) - _BEFORE


async def gone(server: Server, *kinds: type) -> None:
    """Wait until clients have gone and nothing is left of these kinds. Fails by saying what is."""
    await until(lambda: not len(server.gateways[0].streams) + server.gateways[0].streams.ending)
    for _ in range(100):
        if not living(*kinds):
            return
        await asyncio.sleep(0.05)
    assert not living(*kinds)


@pytest.mark.usefixtures("uncollected")
async def test_matches_leave_nothing_to_collect() -> None:
    """Five matches: no call, no subscription, no stream is left when they are over."""
    async with whole_server() as server:
        for number in range(5):
            await server.make(f"m{number}")
            await asyncio.wait_for(asyncio.gather(*(seat(server, f"m{number}", name) for name in NAMES)), 60)
        assert server.hosts[0].host.moves >= 5 * 40
        await gone(server, *KINDS)


@pytest.mark.usefixtures("uncollected")
async def test_a_move_leaves_nothing_to_collect_while_its_stream_goes_on() -> None:
    """Commands that were answered are gone though their stream is open, and so is a match that was left."""
    async with whole_server() as server, raw_stream(server.address, "ann") as stream:
        await server.make("m1")
        for number in range(30):
            await stream.attach("m1")
            await stream.command("m1", f"c{number}", 0, "play H3")
            await stream.answer(f"c{number}")
            await stream.send(play.PlayRequest(detach=play.Detach(match_id="m1", seat=0)))
            stream.seen.clear()
        await until(lambda: not any(one.followers for one in server.gateways[0].streams.all()))
        await until(lambda: not living(StreamCall, Pending, Follower, Subscription, Queue))


@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize("way", ["leaves", "says no more", "asks to the last", "sends garbage", "is told to go"])
async def test_a_stream_leaves_nothing_to_collect(way: str) -> None:
    """However it ends: nothing of it is left, so nothing of what gRPC has of it is either."""
    async with whole_server() as server, AsyncExitStack() as stack:
        await server.make("m1")
        channel = await stack.enter_async_context(grpc.aio.insecure_channel(server.address))
        for _ in range(10):
            stream = RawStream(channel, "ann")
            await stream.attach("m1")
            if way == "asks to the last":
                await stream.command("m1", "c1", 0, "play H3")
            elif way == "says no more":
                await stream.send(play.PlayRequest(detach=play.Detach(match_id="m1", seat=0)))
                await stream.call.done_writing()
                await stream.status()
            elif way == "sends garbage":
                await stream.send(b"\xff\xff")
                await stream.status()
            elif way == "is told to go":
                await server.gateways[0].streams.all().pop().drain(0.1)
                await stream.status()
            await stream.cancel()
        await gone(server, *KINDS)


async def test_matches_that_nobody_asks_for_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """A match is known while it is followed or asked for; soon after that it is not, and can be asked for again."""
    monkeypatch.setattr(routing, "IDLE_S", 0.2)
    async with whole_server() as server, raw_stream(server.address, "ann") as stream:
        router = server.gateways[0].parts.router
        await server.make("kept")
        await stream.attach("kept")
        for number in range(20):
            await server.make(f"m{number}")
            await router.open(f"m{number}")
        assert living(Route)["Route"] >= 1
        await until(lambda: set(router._routes) == {"kept"})
        assert {route.match for conn in router.links._conns.values() for route in conn.routes} == {"kept"}
        await asyncio.sleep(0.5)
        assert set(router._routes) == {"kept"}
        assert await router.open("m3")
        assert "m3" in router._routes


async def test_tokens_are_not_remembered_for_longer_than_they_are_trusted() -> None:
    """Those of clients that have gone make room as others come; one that is asked again is among the last to go."""
    now = 0.0
    callers = Callers(NamesAsTokens(), clock=lambda: now)
    for number in range(1_000):
        assert await callers.look(f"t-bot{number}") is not None
        assert await callers.look("t-ann") is not None
        now += REMEMBER_S / 100
    assert len(callers._known) <= 102
    before = len(callers._known)
    callers.forget("bot999")
    assert len(callers._known) == before - 1
    assert await callers.look("t-none-of-ours") is not None
    assert await callers.look("wrong") is None
    assert len(callers._known) <= 102
