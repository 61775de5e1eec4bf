"""Clients that mean harm: they flood, read nothing, or open and drop streams. The others play on, and nothing is left.

The same on a real server under load, with figures: `python -m bench.hostile`.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
from collections import Counter
from typing import Any

import grpc
import psutil
import pytest

from kangtou.v1 import play_pb2 as play
from kangtou_services.gateway import limits
from kangtou_services.gateway.throttle import Rate
from tests.conftest import Counts
from tests.inprocess import Server, until, whole_server
from tests.services.raw import METHOD, bearer, raw_stream, stub_of
from tests.services.test_gateway_slow import reading, self_play

Code = grpc.StatusCode

SMALL = (("grpc.http2.bdp_probe", 0), ("grpc.http2.lookahead_bytes", 65_536), ("grpc.use_local_subchannel_pool", 1))
ATTACH = play.PlayRequest(attach=play.Attach(match_id="m1", spectate=True)).SerializeToString()
BAD = play.PlayRequest(command=play.Command(match_id="*" * 60, command_id="c" * 60)).SerializeToString()
DROP_AT_ONCE = 25


def tasks() -> Counter[str]:
    """Those of the event loop, by what they do."""
    return Counter(getattr(task.get_coro(), "__qualname__", "") for task in asyncio.all_tasks())


async def flood(call: Any) -> None:
    """As fast as it can, until it is cancelled."""
    while True:
        await call.write(BAD)


def held(server: Server) -> tuple[int, int, int, int, int]:
    """What clients have of the server: streams, ends that are not taken, subscriptions at gateway, link and table."""
    gateway = server.gateways[0]
    router = gateway.parts.router
    subscribed = sum(len(conn._subs) + len(conn._pending) for conn in router.links._conns.values())
    routes = sum(len(route.subs) + len(route.waiting) for route in router._routes.values())
    watchers = sum(len(slot.watchers) + len(slot.seats) for slot in server.hosts[0].host.slots.values())
    return len(gateway.streams), gateway.streams.ending, routes, subscribed, watchers


async def test_dropped_streams_leave_nothing(counts: Counts) -> None:
    """Opened, and dropped at once, after the server's first word, or in the middle of a view."""
    drops = counts(400, 20_000)
    async with whole_server() as server, grpc.aio.insecure_channel(server.address) as channel:
        await server.make("m1")
        first: Any = channel.stream_stream(METHOD)(metadata=bearer("first"))
        await first.write(ATTACH)
        await first.read()
        numbers = iter(range(drops))

        async def drop() -> None:
            for number in numbers:
                call: Any = channel.stream_stream(METHOD)(metadata=bearer(f"w{number % 100}"))
                with contextlib.suppress(grpc.aio.AioRpcError):  # beyond what one account may open
                    await call.write(ATTACH)
                    if number % 3:
                        await (call.initial_metadata() if number % 3 == 1 else call.read())
                call.cancel()

        gc.collect()
        before, descriptors, things = tasks(), psutil.Process().num_fds(), held(server)
        await asyncio.gather(*(drop() for _ in range(DROP_AT_ONCE)))
        await until(lambda: held(server) == things)
        await until(lambda: not tasks() - before)
        gc.collect()
        assert psutil.Process().num_fds() <= descriptors
        await self_play(server, "m1", 5)
        first.cancel()


async def test_an_account_opens_streams_at_a_rate() -> None:
    """Beyond it RESOURCE_EXHAUSTED; other accounts open theirs."""
    async with whole_server() as server, grpc.aio.insecure_channel(server.address) as channel:
        server.gateways[0].streams._openings = Rate(20.0, 3.0, lambda: 0.0)
        codes = []
        for _ in range(5):
            call: Any = channel.stream_stream(METHOD)(metadata=bearer("eve"))
            await call.done_writing()
            codes.append(await reading(call))
        assert codes == [Code.OK] * 3 + [Code.RESOURCE_EXHAUSTED] * 2
        async with raw_stream(server.address, "ann") as ann:
            await server.make("m1")
            await ann.attach("m1")


@pytest.mark.parametrize("seated", [True, False])
async def test_who_never_reads_is_ended_and_nobody_waits(seated: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Within the time for seats or spectators; what gRPC holds for it counts as its stream until it leaves."""
    monkeypatch.setattr(limits, "STALL_S" if seated else "WATCHER_STALL_S", 0.2)
    monkeypatch.setattr(limits, "LOOK_S", 0.05)
    async with whole_server(max_streams_per_account=2) as server:
        await server.make("m1", ("eve", "bob", "cat", "dan"), options={"rounds": 50})
        async with raw_stream(server.address, "ann") as ann:
            await ann.attach("m1", spectate=True)
            before, things = tasks(), held(server)
            eve, streams = "eve" if seated else "mal", server.gateways[0].streams
            attach = play.PlayRequest(attach=play.Attach(match_id="m1", spectate=not seated)).SerializeToString()
            async with grpc.aio.insecure_channel(server.address, options=SMALL) as channel:
                calls: list[Any] = []  # kept, and their writers not cancelled yet: that ends a call
                floods: list[asyncio.Task[None]] = []
                for number in (1, 2):
                    call: Any = channel.stream_stream(METHOD)(metadata=bearer(eve))
                    calls.append(call)
                    await call.write(attach)
                    floods.append(asyncio.create_task(flood(call)))
                    await self_play(server, "m1", 10)
                    await until(lambda number=number: streams.ending == number)  # type: ignore[misc]
                    assert len(streams) == 1
                third: Any = channel.stream_stream(METHOD)(metadata=bearer(eve))
                assert await reading(third) is Code.RESOURCE_EXHAUSTED
                assert "2 streams" in await third.details()
                seq = server.hosts[0].host.slots["m1"].table.seq
                await ann.first(lambda one: one.HasField("entry") and one.entry.seq == seq, seconds=60)
                for one in floods:
                    one.cancel()
                await asyncio.gather(*floods, return_exceptions=True)
            await until(lambda: held(server) == things)
            await until(lambda: not tasks() - before)


async def test_a_flood_is_held_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream is read at its account's rate: the client's writes wait. Unary calls beyond it are refused."""
    monkeypatch.setattr(limits, "MESSAGES_BURST", 5.0)
    async with whole_server(messages_per_s=10) as server:
        await server.make("m1", options={"rounds": 50})
        loop, gateway = asyncio.get_running_loop(), server.gateways[0]
        async with raw_stream(server.address, "zoe") as zoe, raw_stream(server.address, "eve") as eve:
            await zoe.attach("m1", spectate=True)
            began = loop.time()
            flooding = asyncio.create_task(flood(eve.call))
            while gateway.parts.meter.held < 5:
                await self_play(server, "m1", 1)
                await asyncio.sleep(0.02)
            answered = sum(one.HasField("answer") for one in eve.seen)
            assert answered <= 5 + 10 * (loop.time() - began) + 1
            eve_owes = gateway.streams.messages.owed("eve")
            assert 0 < eve_owes < 1
            flooding.cancel()
            await asyncio.gather(flooding, return_exceptions=True)
            seq = server.hosts[0].host.slots["m1"].table.seq
            await zoe.first(lambda one: one.HasField("entry") and one.entry.seq == seq, seconds=60)
            async with stub_of(server.address) as stub:
                request = play.ActRequest(command=play.Command(match_id="m1", command_id="c"))
                reply = await stub.Act(request, metadata=bearer("eve"))
                assert reply.answer.refused.code == "rate_limited"
                monkeypatch.setattr(gateway.parts.router, "call", None)
                reply = await stub.Act(request, metadata=bearer("eve"))
                assert reply.answer.refused.code == "rate_limited"


async def test_questions_beyond_the_rate_are_refused() -> None:
    """RESOURCE_EXHAUSTED, for that account alone."""
    async with whole_server() as server, stub_of(server.address) as stub:
        await server.make("m1")
        server.gateways[0].streams.questions = limits.questions(lambda: 0.0)
        codes: Counter[grpc.StatusCode] = Counter()
        for _ in range(int(limits.QUESTIONS_BURST) + 5):
            try:
                await stub.Legal(play.LegalRequest(match_id="m1"), metadata=bearer("ann"))
                codes[Code.OK] += 1
            except grpc.aio.AioRpcError as error:
                codes[error.code()] += 1
        assert codes == {Code.OK: limits.QUESTIONS_BURST, Code.RESOURCE_EXHAUSTED: 5}
        await stub.Legal(play.LegalRequest(match_id="m1"), metadata=bearer("bob"))


def test_a_rate_with_debts() -> None:
    """What is read in spite of it is owed, and paid off with time; seats add to the rate."""
    now = [0.0]
    rate = Rate(10.0, 2.0, lambda: now[0])
    assert [rate.owed("ann") for _ in range(4)] == pytest.approx([0.0, 0.0, 0.1, 0.2])
    assert rate.owed("bob") == 0.0
    now[0] = 0.3
    assert rate.owed("ann") == pytest.approx(0.0)
    assert rate.owed("ann", more=10.0) == pytest.approx(0.05)
    assert not rate.allowed("ann")


async def test_who_opens_too_fast_waits_for_the_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those who go meanwhile leave nothing; when too many wait, the next are told at once; others come in as ever."""
    monkeypatch.setattr(limits, "OPENINGS_BURST", 1.0)
    monkeypatch.setattr(limits, "OPENINGS_S", 1e-3)
    monkeypatch.setattr(limits, "HASTY_S", 600.0)
    monkeypatch.setattr(limits, "HASTY_MOST", 2)
    async with whole_server() as server, grpc.aio.insecure_channel(server.address) as channel:
        await server.make("m1")
        streams = server.gateways[0].streams

        def opened(name: str) -> Any:
            return channel.stream_stream(METHOD)(metadata=bearer(name))

        first = opened("mal")
        await first.write(ATTACH)
        assert await first.read()
        waiting = [opened("mal"), opened("mal")]
        await until(lambda: streams._hasty == 2)
        assert await reading(opened("mal")) is Code.RESOURCE_EXHAUSTED
        async with raw_stream(server.address, "ann") as ann:
            await ann.attach("m1")
        for call in waiting:
            call.cancel()
        await until(lambda: streams._hasty == 0)
        monkeypatch.setattr(limits, "HASTY_S", 0.0)
        late = opened("mal")
        assert await reading(late) is Code.RESOURCE_EXHAUSTED
        assert "too fast" in await late.details()
        first.cancel()
