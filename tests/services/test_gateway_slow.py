"""Clients that do not read: backlogs are left out, answers are kept, and in the end the stream is cut off."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import Any, cast

import grpc
import pytest

from kangtou.internal.v1 import link_pb2 as lpb
from kangtou.v1 import play_pb2 as play
from kangtou_services.agreement import BOT
from kangtou_services.gateway import limits, outbox, requests
from kangtou_services.gateway.calls import CallError
from kangtou_services.gateway.outbox import Outbox, Queue, TooSlow
from kangtou_services.gateway.streams import PlayStream
from kangtou_services.house import Unserved
from kangtou_services.identity import Account, Session
from tests.inprocess import Server, until, whole_server
from tests.services.raw import METHOD, bearer

SESSION = Session(Account("eve", "Eve", BOT), time.time_ns() // 1_000_000 + 3_600_000)


class StuckClient:
    """A ServicerContext whose client sends what it is given and reads only while `reads` is set."""

    def __init__(self) -> None:
        self.requests: asyncio.Queue[bytes] = asyncio.Queue()
        self.reads = asyncio.Event()
        self.reads.set()
        self.seen: list[play.Update] = []

    async def send_initial_metadata(self, metadata: object) -> None:
        """Nothing."""

    async def read(self) -> bytes:
        """The next request."""
        return await self.requests.get()

    async def write(self, payload: bytes) -> None:
        """Blocked while the client does not read."""
        await self.reads.wait()
        self.seen += play.PlayResponse.FromString(payload).updates

    def say(self, **request: Any) -> None:
        """Send a request."""
        self.requests.put_nowait(play.PlayRequest(**request).SerializeToString())

    def kinds(self) -> list[str]:
        """What has been read, by kind."""
        return [update.WhichOneof("body") or "" for update in self.seen]


def stream_of(server: Server, client: StuckClient) -> PlayStream:
    """A stream of the first gateway with this client."""
    gateway = server.gateways[0]
    settings = server.backend.settings
    return PlayStream(cast("Any", client), SESSION, "t-eve", gateway.parts.router, settings, Unserved())


async def self_play(server: Server, match: str, moves: int) -> None:
    """Let the seats of a match play some moves through unary calls."""
    slot = server.hosts[0].host.slots[match]
    for _ in range(moves):
        table = slot.table
        seat = table.game.to_act(table.state)[0]
        asked = table.prompts.asked[seat]
        assert asked is not None
        action = table.game.default(table.state, seat)
        command = play.Command(match_id=match, command_id=f"s{table.seq}", prompt=asked.number, seat=seat)
        command.action.verb = action.verb
        command.action.args.extend(action.args)
        account = table.agreement.members[seat].account_id
        call = lpb.Call(match_id=match, account_id=account, command=command, unary=True)
        reply = await server.gateways[0].parts.router.call(call)
        assert reply.answer.HasField("accepted"), reply.answer


async def test_a_backlog_is_replaced_by_a_notice_and_a_snapshot() -> None:
    """A spectator that falls behind gets LAGGING once, then a view and what follows; nothing piles up."""
    async with whole_server(queue_updates=8) as server:
        await server.make("m1", ("p0", "p1", "p2", "p3"), options={"rounds": 50})
        client = StuckClient()
        stream = stream_of(server, client)
        running = asyncio.create_task(stream.run())
        client.say(attach=play.Attach(match_id="m1", spectate=True))
        await until(lambda: "snapshot" in client.kinds())
        client.reads.clear()
        slot = server.hosts[0].host.slots["m1"]
        await self_play(server, "m1", 60)
        follower = next(iter(stream.followers.values()))
        assert follower.queue.lagging
        assert len(follower.queue.parts) == 1
        assert not slot.watchers
        before = len(client.seen)
        client.reads.set()
        await until(lambda: "snapshot" in client.kinds()[before:])
        kinds = client.kinds()[before:]
        assert kinds.count("notice") == 1
        assert client.seen[before + kinds.index("notice")].notice.kind == play.NOTICE_KIND_LAGGING
        snapshot = client.seen[before + kinds.index("snapshot")].snapshot
        assert snapshot.seq == slot.table.seq
        await self_play(server, "m1", 1)
        await until(lambda: client.seen[-1].entry.seq == slot.table.seq)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_answers_in_a_backlog_are_kept() -> None:
    """A seat that falls behind loses events, never an answer; its prompt comes again after the snapshot."""
    async with whole_server(queue_updates=8) as server:
        await server.make("m1", ("eve", "p1", "p2", "p3"), options={"rounds": 50})
        client = StuckClient()
        stream = stream_of(server, client)
        running = asyncio.create_task(stream.run())
        client.say(attach=play.Attach(match_id="m1"))
        await until(lambda: "snapshot" in client.kinds())
        client.reads.clear()
        for number in range(30):
            command = play.Command(match_id="m1", command_id=f"c{number}", prompt=0)
            command.action.verb = "dance"
            client.say(command=command)
        await self_play(server, "m1", 60)
        await until(lambda: not stream.calls)
        client.reads.set()
        slot = server.hosts[0].host.slots["m1"]
        await until(lambda: client.seen[-1].WhichOneof("body") in ("snapshot", "prompt") and 0 in slot.seats)
        ids = [update.answer.command_id for update in client.seen if update.HasField("answer")]
        assert sorted(ids) == sorted(f"c{number}" for number in range(30))
        assert "notice" in client.kinds()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_too_many_answers_waiting_end_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    """With RESOURCE_EXHAUSTED: the client may connect again and resume."""
    monkeypatch.setattr(outbox, "ANSWERS_MOST", 20)
    async with whole_server() as server:
        client = StuckClient()
        stream = stream_of(server, client)
        running = asyncio.create_task(stream.run())
        client.reads.clear()
        for _ in range(60):
            client.requests.put_nowait(b"")
        with pytest.raises(CallError) as raised:
            await asyncio.wait_for(running, 60)
        assert raised.value.status is grpc.StatusCode.RESOURCE_EXHAUSTED


async def test_a_seat_whose_client_reads_nothing_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when little waits: its prompt does."""
    monkeypatch.setattr(limits, "STALL_S", 0.05)
    monkeypatch.setattr(limits, "LOOK_S", 0.05)
    async with whole_server() as server:
        await server.make("m1", ("eve", "p1", "p2", "p3"))
        client = StuckClient()
        stream = stream_of(server, client)
        client.reads.clear()
        streams = limits.Streams(server.backend.settings, server.gateways[0].parts.callers)
        watch = asyncio.create_task(streams.watch())
        client.say(attach=play.Attach(match_id="m1"))
        with streams.admitted(stream), pytest.raises(CallError) as raised:
            await asyncio.wait_for(stream.run(), 60)
        assert raised.value.status is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert not server.hosts[0].host.slots["m1"].seats
        watch.cancel()
        await asyncio.gather(watch, return_exceptions=True)


def payload(command_id: str = "", seq: int = 0) -> bytes:
    """A PlayResponse with an answer or an entry."""
    update = play.Update(match_id="m")
    if command_id:
        update.answer.command_id = command_id
    else:
        update.entry.seq = seq
    return play.PlayResponse(updates=[update]).SerializeToString()


async def test_seats_go_before_watched_tables_and_a_message_has_a_size() -> None:
    """And whatever waits leaves together."""
    box = Outbox(1000)
    watched, seated = Queue(seated=False), Queue(seated=True)
    for seq in range(1, 4):
        box.push(watched, payload(seq=seq))
        box.push(seated, payload(seq=seq + 10))
    box.put(payload("c1"))
    updates = play.PlayResponse.FromString(box.take()).updates
    assert updates[0].answer.command_id == "c1"
    assert [update.entry.seq for update in updates[1:]] == [11, 12, 13, 1, 2, 3]
    assert box.empty
    large = bytes(outbox.WRITE_BYTES // 2 + 1)
    for _ in range(3):
        box.push(watched, large)
    assert [len(box.take()) for _ in range(3)] == [len(large)] * 3
    assert box.empty
    assert box.take() == b""


async def test_an_outbox_is_bounded() -> None:
    """By payloads, by bytes, and by answers."""
    box, queue = Outbox(4), Queue(seated=True)
    assert [box.push(queue, payload(f"c{number}")) for number in range(4)] == [True, True, True, False]
    box.lag(queue, payload(seq=1))
    assert queue.parts == [payload(seq=1)]
    updates = play.PlayResponse.FromString(box.take()).updates
    assert [update.answer.command_id for update in updates if update.HasField("answer")] == ["c0", "c1", "c2", "c3"]
    assert not box.push(Queue(seated=False), bytes(outbox.MOST_BYTES))
    full = Outbox(4)
    for _ in range(outbox.ANSWERS_MOST):
        full.put(b"")
    with pytest.raises(TooSlow):
        full.put(b"")


async def test_a_client_that_never_reads_is_cut_off_over_the_wire(monkeypatch: pytest.MonkeyPatch) -> None:
    """While a write is blocked by flow control; the client learns why when it looks at last."""
    monkeypatch.setattr(outbox, "ANSWERS_MOST", 2000)
    small_window = (("grpc.http2.bdp_probe", 0), ("grpc.http2.lookahead_bytes", 65_536))
    async with whole_server() as server, grpc.aio.insecure_channel(server.address, options=small_window) as channel:
        call: Any = channel.stream_stream(METHOD)(metadata=bearer("eve"))
        request = play.PlayRequest(command=play.Command(match_id="*" * 60, command_id="c" * 60)).SerializeToString()
        streams = server.gateways[0].streams
        await call.write(request)
        await until(lambda: len(streams) == 1)
        while len(streams):
            await call.write(request)
        assert await reading(call) is grpc.StatusCode.RESOURCE_EXHAUSTED


async def reading(call: Any) -> grpc.StatusCode:
    """Read to the end; how it ended."""
    with contextlib.suppress(grpc.aio.AioRpcError):
        while await call.read() is not grpc.aio.EOF:
            pass
    code: grpc.StatusCode = await call.code()
    return code


class Undecided(Unserved):
    """A house that does not say who may play for whom."""

    async def may_play(self, account_id: str, match_id: str, seat: int) -> bool:
        """Never answers."""
        await asyncio.Event().wait()
        return False


async def test_a_stream_has_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of matches, those about which the house is being asked among them, and of commands under way."""
    monkeypatch.setattr(requests, "FOLLOWERS_MOST", 3)
    monkeypatch.setattr(requests, "CALLS_MOST", 0)
    client = StuckClient()
    async with whole_server() as server:
        settings, router = server.backend.settings, server.gateways[0].parts.router
        stream = PlayStream(cast("Any", client), SESSION, "t-eve", router, settings, Undecided())
        serving = asyncio.create_task(stream.run())
        for number in range(5):
            client.say(attach=play.Attach(match_id=f"m{number}", seat=0, delegate=True))
        client.say(command=play.Command(match_id="m0", command_id="c"))
        await until(lambda: len(client.seen) == 3)
        codes = [update.answer.refused.code for update in client.seen]
        stream.end(None)
        await serving
    assert [update.match_id for update in client.seen] == ["m3", "m4", "m0"]
    assert codes == ["rate_limited"] * 3
