"""Around the play stream: who may call, limits, unary twins, health, reflection, status, draining."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from kangtou.v1 import admin_pb2, admin_pb2_grpc
from kangtou.v1 import play_pb2 as play
from kangtou_services.gateway.auth import Callers
from kangtou_services.gateway.throttle import Rate
from kangtou_services.identity import StoreUnavailable
from tests.inprocess import NamesAsTokens, until, whole_server
from tests.servers import free_port
from tests.services.raw import action_pb, bearer, raw_stream, stub_of

Code = grpc.StatusCode


# ---- who calls ----


@pytest.mark.parametrize(
    "metadata",
    [(), (("authorization", "Bearer "),), (("authorization", "Bearer nobody"),), (("authorization", "Basic t-ann"),)],
)
async def test_without_a_good_token(metadata: tuple[tuple[str, str], ...]) -> None:
    """UNAUTHENTICATED with a text, for the stream and for unary calls."""
    async with whole_server() as server, stub_of(server.address) as stub:
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await stub.GetView(play.GetViewRequest(match_id="m1"), metadata=metadata)
        assert raised.value.code() is Code.UNAUTHENTICATED
        assert "token" in (raised.value.details() or "")
        call = stub.Play(metadata=metadata)
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await call.read()
        assert raised.value.code() is Code.UNAUTHENTICATED


async def test_a_token_that_ends_ends_its_open_streams() -> None:
    """Others go on; a store that cannot be reached ends nobody."""
    async with whole_server() as server, AsyncExitStack() as stack:
        await server.make("m1")
        ann = await stack.enter_async_context(raw_stream(server.address, "ann"))
        bob = await stack.enter_async_context(raw_stream(server.address, "bob"))
        await ann.attach("m1")
        await bob.attach("m1")
        server.identity.ended.add("t-ann")
        streams = server.gateways[0].streams
        server.identity.reached = False
        await streams.check_tokens()
        assert len(streams) == 2
        server.identity.reached = True
        await streams.check_tokens()
        assert (await ann.status())[0] is Code.UNAUTHENTICATED
        await until(lambda: len(streams) == 1)
        assert not bob.call.done()


async def test_answers_about_tokens_are_remembered_for_seconds() -> None:
    """A good token is not asked about for a while; a bad one always."""
    identity, now = NamesAsTokens(), [0.0]
    callers = Callers(identity, clock=lambda: now[0])
    assert await callers.look("t-ann") is not None
    identity.ended.add("t-ann")
    assert await callers.look("t-ann") is not None
    assert await callers.look("t-ann", afresh=True) is None
    assert await callers.look("t-ann") is None
    identity.ended.clear()
    assert await callers.look("t-ann") is not None
    identity.ended.add("t-ann")
    now[0] = 6.0
    assert await callers.look("t-ann") is None
    identity.reached = False
    with pytest.raises(StoreUnavailable):
        await callers.look("t-bob")


# ---- limits ----


async def test_streams_of_an_account_are_bounded() -> None:
    """One too many is refused; when one ends another may come."""
    async with whole_server(max_streams_per_account=2) as server, AsyncExitStack() as stack:
        await server.make("m1")
        streams = [await stack.enter_async_context(raw_stream(server.address, "eve")) for _ in range(2)]
        for stream in streams:
            await stream.attach("m1", spectate=True)
        third = await stack.enter_async_context(raw_stream(server.address, "eve"))
        code, text = await third.status()
        assert code is Code.RESOURCE_EXHAUSTED
        assert "2 streams" in text
        await streams[0].cancel()
        await until(lambda: len(server.gateways[0].streams) == 1)
        again = await stack.enter_async_context(raw_stream(server.address, "eve"))
        await again.attach("m1", spectate=True)


def test_questions_are_counted_by_account() -> None:
    """A burst, then a steady rate."""
    now = [0.0]
    rate = Rate(50.0, 200.0, lambda: now[0])
    assert all(rate.allowed("ann") for _ in range(200))
    assert not rate.allowed("ann")
    assert rate.allowed("bob")
    now[0] = 0.1
    assert [rate.allowed("ann") for _ in range(6)] == [True] * 5 + [False]


# ---- unary twins ----


async def test_unary_twins() -> None:
    """View, legal actions, check and act of one's own seat."""
    async with whole_server() as server, stub_of(server.address) as stub:
        await server.make("m1", ("ann",) * 4)
        meta = bearer("ann")
        view = await stub.GetView(play.GetViewRequest(match_id="m1", seat=0), metadata=meta)
        assert view.match.choice.game == "parrot"
        seat = view.to_act[0]
        mine = await stub.GetView(play.GetViewRequest(match_id="m1", seat=seat), metadata=meta)
        legal = (await stub.Legal(play.LegalRequest(match_id="m1", seat=seat), metadata=meta)).legal
        assert list(mine.prompt.legal) == list(legal)
        good = await stub.Check(play.CheckRequest(match_id="m1", seat=seat, action=legal[0]), metadata=meta)
        assert not good.HasField("refused")
        bad = play.CheckRequest(match_id="m1", seat=seat, action=action_pb("dance").action)
        assert (await stub.Check(bad, metadata=meta)).refused.code == "unknown_verb"
        command = play.Command(match_id="m1", command_id="c1", prompt=mine.prompt.number, action=legal[0], seat=seat)
        answers = [(await stub.Act(play.ActRequest(command=command), metadata=meta)).answer for _ in range(2)]
        assert answers[0].accepted.seq > 0
        assert answers[0] == answers[1]


async def test_unary_refusals() -> None:
    """Act refuses by value; questions that nobody can answer end with a status that says why."""
    async with whole_server() as server, stub_of(server.address) as stub:
        await server.make("m1")
        meta = bearer("eve")
        for match, code in (("nowhere", "unknown_match"), ("*", "unknown_match"), ("m1", "not_seated")):
            command = play.Command(match_id=match, command_id="c1", prompt=1)
            answer = (await stub.Act(play.ActRequest(command=command), metadata=meta)).answer
            assert (answer.command_id, answer.refused.code) == ("c1", code)
        for match, status in (("nowhere", Code.NOT_FOUND), ("*", Code.NOT_FOUND), ("m1", Code.PERMISSION_DENIED)):
            with pytest.raises(grpc.aio.AioRpcError) as raised:
                await stub.Legal(play.LegalRequest(match_id=match), metadata=meta)
            assert raised.value.code() is status


async def test_garbage_in_a_unary_call() -> None:
    """INVALID_ARGUMENT; too large: RESOURCE_EXHAUSTED. The server goes on."""
    async with whole_server() as server, grpc.aio.insecure_channel(server.address) as channel:
        act: Any = channel.unary_unary("/kangtou.v1.PlayService/Act")
        for raw, status in ((b"\xff\xff", Code.INVALID_ARGUMENT), (bytes(70_000), Code.RESOURCE_EXHAUSTED)):
            with pytest.raises(grpc.aio.AioRpcError) as raised:
                await act(raw, metadata=bearer("ann"))
            assert raised.value.code() is status
        assert await act(b"", metadata=bearer("ann"))


async def test_a_fault_in_a_call_is_contained(monkeypatch: pytest.MonkeyPatch) -> None:
    """INTERNAL, without a word of what went wrong; the next call works."""
    async with whole_server() as server, stub_of(server.address) as stub:
        await server.make("m1")
        router = server.gateways[0].parts.router
        call = router.call
        monkeypatch.setattr(router, "call", lambda given: 1 / 0)
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await stub.GetView(play.GetViewRequest(match_id="m1"), metadata=bearer("ann"))
        assert raised.value.code() is Code.INTERNAL
        assert "division" not in (raised.value.details() or "")
        monkeypatch.setattr(router, "call", call)
        view = await stub.GetView(play.GetViewRequest(match_id="m1"), metadata=bearer("ann"))
        assert view.seat == 0


# ---- for operators ----


async def test_health_follows_the_log() -> None:
    """SERVING while the log can be reached, for the server and for each service."""
    async with whole_server() as server, grpc.aio.insecure_channel(server.address) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)  # type: ignore[no-untyped-call,arg-type,unused-ignore]

        async def status(service: str) -> int:
            checked = await stub.Check(health_pb2.HealthCheckRequest(service=service))
            return int(checked.status)

        for service in ("", "kangtou.v1.PlayService"):
            assert await status(service) == health_pb2.HealthCheckResponse.SERVING
        readiness = server.gateways[0].readiness
        with server.backend.log.server.outage():  # type: ignore[attr-defined]
            await readiness.look()
            assert await status("") == health_pb2.HealthCheckResponse.NOT_SERVING
            assert not readiness.ready
        await until(lambda: readiness.ready)
        assert await status("kangtou.v1.PlayService") == health_pb2.HealthCheckResponse.SERVING


async def test_reflection_lists_the_services() -> None:
    """A generic client finds them and their messages."""
    async with whole_server() as server, grpc.aio.insecure_channel(server.address) as channel:
        stub: Any = reflection_pb2_grpc.ServerReflectionStub(channel)  # type: ignore[arg-type]
        requests = [
            reflection_pb2.ServerReflectionRequest(list_services=""),
            reflection_pb2.ServerReflectionRequest(file_containing_symbol="kangtou.v1.PlayService"),
        ]
        call = stub.ServerReflectionInfo(iter(requests))
        listed, found = [answer async for answer in call]
        names = {service.name for service in listed.list_services_response.service}
        assert names >= {"kangtou.v1.PlayService", "kangtou.v1.AdminService", "grpc.health.v1.Health"}
        assert found.file_descriptor_response.file_descriptor_proto


async def test_status_for_whoever_is_on_this_machine() -> None:
    """On loopback without a token."""
    async with whole_server(hosts=2) as server, grpc.aio.insecure_channel(server.address) as channel:
        await server.make("m1")
        await server.gateways[0].parts.router.open("m1")
        stub = admin_pb2_grpc.AdminServiceStub(channel)
        status = await stub.GetStatus(admin_pb2.GetStatusRequest())
        assert (len(status.actors), sum(actor.tables for actor in status.actors), status.live_matches) == (2, 1, 1)
        assert status.log_ready
        assert len(status.gateways) == 1


async def test_status_elsewhere_is_for_operators() -> None:
    """A server that others can reach tells nobody else."""
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(whole_server(host="0.0.0.0"))
        address = f"127.0.0.1:{server.gateways[0].port}"
        stub = admin_pb2_grpc.AdminServiceStub(await stack.enter_async_context(grpc.aio.insecure_channel(address)))
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            await stub.GetStatus(admin_pb2.GetStatusRequest(), metadata=bearer("ann"))
        assert raised.value.code() is Code.PERMISSION_DENIED
        server.identity.roles["ruth"] = frozenset({"operator"})
        status = await stub.GetStatus(admin_pb2.GetStatusRequest(), metadata=bearer("ruth"))
        assert len(status.actors) == 1


async def test_draining_answers_and_ends_streams() -> None:
    """What is due is sent, then the stream ends with UNAVAILABLE, and new ones are not taken."""
    async with whole_server() as server, raw_stream(server.address, "ann") as stream:
        await server.make("m1")
        await stream.attach("m1")
        for number in range(20):
            await stream.command("m1", f"c{number}", 0, "dance")
        await stream.answer("c0")
        await server.gateways[0].stop()
        assert (await stream.status())[0] is Code.UNAVAILABLE
        assert all(len(stream.answers(f"c{number}")) <= 1 for number in range(20))
        assert not server.hosts[0].host.slots["m1"].seats


async def test_several_gateways_on_one_port() -> None:
    """SO_REUSEPORT: connections spread over them, and all can reach a table."""
    async with whole_server(gateways=3, port=free_port()) as server, AsyncExitStack() as stack:
        await server.make("m1")
        for number in range(24):
            stream = await stack.enter_async_context(raw_stream(server.address, f"w{number}"))
            await stream.attach("m1", spectate=True)
        assert sum(len(gateway.streams) for gateway in server.gateways) == 24
        assert all(len(gateway.streams) > 0 for gateway in server.gateways)
        await asyncio.sleep(0)
