"""The play stream: every command gets exactly one answer, and one stream's trouble stays its own."""

from __future__ import annotations

import asyncio
import gc
from contextlib import AsyncExitStack

import grpc
import psutil
import pytest

from kangtou.v1 import play_pb2 as play
from tests.inprocess import Server, until, whole_server
from tests.services.raw import RawStream, raw_stream

NAMES = ("ann", "bob", "cat", "dan")
Code = grpc.StatusCode


async def to_act(stack: AsyncExitStack, server: Server, match: str) -> tuple[RawStream, play.Prompt, list[RawStream]]:
    """All four seats on streams of their own; the one that is asked, its prompt, and all of them."""
    streams = [await stack.enter_async_context(raw_stream(server.address, name)) for name in NAMES]
    for stream in streams:
        await stream.attach(match)
    asked = next(one for one in streams if any(update.HasField("prompt") for update in one.seen))
    return asked, await asked.prompt(match), streams


async def test_a_command_is_accepted_once_and_told_to_all() -> None:
    """The answer and the events come to the seat, the events to all others."""
    async with whole_server() as server, AsyncExitStack() as stack:
        await server.make("m1")
        asked, prompt, streams = await to_act(stack, server, "m1")
        card = prompt.legal[0].args[0]
        await asked.command("m1", "c1", prompt.number, f"play {card}")
        answer = await asked.answer("c1")
        assert answer.accepted.seq > 0
        for stream in streams:
            entry = await stream.first(lambda one: one.HasField("entry") and one.entry.seq == answer.accepted.seq)
            assert entry.entry.events[0].cards == [card]
        await asyncio.sleep(0.05)
        assert len(asked.answers("c1")) == 1


async def test_an_id_sent_three_times_at_once_and_through_two_gateways() -> None:
    """It is applied once and answered alike; with other content it is refused. Main job, acceptance 7."""
    async with whole_server(gateways=2) as server, AsyncExitStack() as stack:
        await server.make("m1")
        asked, prompt, streams = await to_act(stack, server, "m1")
        name = NAMES[streams.index(asked)]
        other = await stack.enter_async_context(raw_stream(server.gateways[1].address, name))
        card = prompt.legal[0].args[0]
        for stream in (asked, other, asked, other, asked):
            await stream.command("m1", "c1", prompt.number, f"play {card}")
        await until(lambda: len(asked.answers("c1")) == 3 and len(other.answers("c1")) == 2)
        answers = asked.answers("c1") + other.answers("c1")
        assert len({answer.accepted.seq for answer in answers}) == 1
        assert answers[0].accepted.seq > 0
        another = "H3" if card != "H3" else "S3"
        await asked.command("m1", "c1", prompt.number, f"play {another}")
        await until(lambda: len(asked.answers("c1")) == 4)
        assert asked.answers("c1")[3].refused.code == "id_reused"
        await asked.command("m1", "c2", prompt.number - 1, f"play {card}")
        assert (await asked.answer("c2")).refused.code in ("stale_prompt", "not_your_turn")


@pytest.mark.parametrize(
    ("match", "command_id", "action", "code"),
    [
        ("nowhere", "c1", "play H3", "unknown_match"),
        ("no such/match", "c1", "play H3", "unknown_match"),
        ("", "c1", "play H3", "unknown_match"),
        ("m1", "c1", "play H3", "not_seated"),
        ("m2", "c 1", "play H3", "bad_id"),
        ("m2", "", "play H3", "bad_id"),
        ("m2", "c1", "", "malformed"),
        ("m2", "c1", "PLAY H3", "malformed"),
        ("m2", "c1", "play " + "H3 " * 2000, "malformed"),
        ("m2", "c1", "dance", "unknown_verb"),
    ],
)
async def test_each_bad_command_gets_one_answer(match: str, command_id: str, action: str, code: str) -> None:
    """Refusals are values with texts in both languages; the stream goes on."""
    async with whole_server() as server, raw_stream(server.address, "eve") as stream:
        await server.make("m1")
        await server.make("m2", ("eve",) * 4)
        await stream.send(play.PlayRequest(attach=play.Attach(match_id="m2", seat=0)))
        prompt = 1
        if match == "m2":
            for seat in range(4):
                await stream.send(play.PlayRequest(attach=play.Attach(match_id="m2", seat=seat)))
            update = await stream.first(lambda one: one.HasField("prompt"))
            prompt, seat = update.prompt.number, update.seat
            await stream.command(match, command_id, prompt, action, seat)
        else:
            await stream.command(match, command_id, prompt, action)
        answer = await stream.answer(command_id)
        assert answer.refused.code == code
        assert answer.refused.text_en
        assert answer.refused.text_zh
        await asyncio.sleep(0.02)
        assert len(stream.answers(command_id)) == 1
        assert not stream.call.done()


@pytest.mark.parametrize(
    ("attach", "code"),
    [
        (play.Attach(match_id="nowhere"), "unknown_match"),
        (play.Attach(match_id="*"), "unknown_match"),
        (play.Attach(match_id="m1"), "not_seated"),
        (play.Attach(match_id="m1", seat=0), "not_seated"),
        (play.Attach(match_id="m2", seat=7), "not_seated"),
        (play.Attach(match_id="m2", spectate=True), "not_allowed"),
        (play.Attach(match_id="m2", entropy=b"x" * 65), "malformed"),
    ],
)
async def test_an_attach_that_fails_is_answered(attach: play.Attach, code: str) -> None:
    """By an answer without a command id."""
    async with whole_server() as server, raw_stream(server.address, "eve") as stream:
        await server.make("m1")
        await server.make("m2", ("eve", "bob", "cat", "dan"))
        await stream.send(play.PlayRequest(attach=attach))
        update = await stream.first(lambda one: one.HasField("answer"))
        assert (update.match_id, update.answer.command_id) == (attach.match_id, "")
        assert update.answer.refused.code == code


async def test_an_empty_request_is_refused() -> None:
    """A request without a body is no reason to end a stream."""
    async with whole_server() as server, raw_stream(server.address, "eve") as stream:
        await stream.send(play.PlayRequest())
        assert (await stream.answer("")).refused.code == "malformed"


@pytest.mark.parametrize("raw", [b"\xff\xff\xff", b"\x0a\x7f", bytes(70_000)])
async def test_garbage_and_oversized_messages_end_one_stream(raw: bytes) -> None:
    """With a clear status; others on the same connection go on."""
    async with whole_server() as server, raw_stream(server.address, "ann") as stream:
        await server.make("m1")
        healthy = RawStream(stream.channel, "bob")
        await healthy.attach("m1")
        await stream.attach("m1")
        await stream.send(raw)
        code, text = await stream.status()
        assert code in (Code.INVALID_ARGUMENT, Code.RESOURCE_EXHAUSTED)
        assert text
        await until(lambda: len(server.gateways[0].streams) == 1)
        await healthy.command("m1", "c1", 0, "dance")
        assert (await healthy.answer("c1")).HasField("refused")
        await healthy.cancel()


async def test_the_newest_stream_has_the_seat() -> None:
    """The older one is told; a command that it had under way is still answered, to it."""
    async with whole_server() as server, AsyncExitStack() as stack:
        await server.make("m1")
        asked, prompt, streams = await to_act(stack, server, "m1")
        name = NAMES[streams.index(asked)]
        newer = await stack.enter_async_context(raw_stream(server.address, name))
        await newer.attach("m1")
        notice = await asked.first(lambda one: one.HasField("notice"))
        assert notice.notice.kind == play.NOTICE_KIND_SUPERSEDED
        await asked.command("m1", "c1", prompt.number, f"play {prompt.legal[0].args[0]}")
        assert (await asked.answer("c1")).accepted.seq > 0
        assert newer.answers("c1") == []


async def test_resuming_brings_what_was_missed() -> None:
    """From a sequence number: the entries after it, no snapshot."""
    async with whole_server() as server, AsyncExitStack() as stack:
        await server.make("m1")
        asked, prompt, streams = await to_act(stack, server, "m1")
        watcher = next(one for one in streams if one is not asked)
        seq = max(max(one.entry.seq, one.snapshot.seq) for one in watcher.seen)
        await watcher.cancel()
        await asked.command("m1", "c1", prompt.number, f"play {prompt.legal[0].args[0]}")
        accepted = (await asked.answer("c1")).accepted.seq
        again = await stack.enter_async_context(raw_stream(server.address, NAMES[streams.index(watcher)]))
        await again.attach("m1", from_seq=seq)
        await again.first(lambda one: one.HasField("entry") and one.entry.seq == accepted)
        assert [one.entry.seq for one in again.seen if one.HasField("entry")] == list(range(seq + 1, accepted + 1))
        assert not any(one.HasField("snapshot") for one in again.seen)
        late = await stack.enter_async_context(raw_stream(server.address, NAMES[streams.index(watcher)]))
        await late.attach("m1")
        assert (await late.first(lambda one: one.HasField("snapshot"))).snapshot.seq == accepted


async def test_a_late_spectator_sees_no_closed_tricks() -> None:
    """HS-13.3: whatever position he claims, he gets a snapshot."""
    async with whole_server() as server, AsyncExitStack() as stack:
        await server.make("m1")
        asked, prompt, _ = await to_act(stack, server, "m1")
        await asked.command("m1", "c1", prompt.number, f"play {prompt.legal[0].args[0]}")
        seq = (await asked.answer("c1")).accepted.seq
        for claimed in (1, 2, seq - 1, seq):
            late = await stack.enter_async_context(raw_stream(server.address, "eve"))
            await late.attach("m1", spectate=True, from_seq=claimed)
            assert (await late.first(lambda one: one.HasField("snapshot"))).snapshot.seq == seq
            assert not any(one.HasField("entry") for one in late.seen)


async def test_leaving_and_half_closing() -> None:
    """After a detach nothing comes; a client that sends no more still gets what it follows."""
    async with whole_server() as server, AsyncExitStack() as stack:
        await server.make("m1")
        asked, prompt, streams = await to_act(stack, server, "m1")
        leaver, listener = [one for one in streams if one is not asked][:2]
        await leaver.send(play.PlayRequest(detach=play.Detach(match_id="m1")))
        await listener.call.done_writing()
        await until(lambda: sum(len(slot.seats) for slot in server.hosts[0].host.slots.values()) == 3)
        seen = len(leaver.seen)
        await asked.command("m1", "c1", prompt.number, f"play {prompt.legal[0].args[0]}")
        seq = (await asked.answer("c1")).accepted.seq
        await listener.first(lambda one: one.HasField("entry") and one.entry.seq == seq)
        assert len(leaver.seen) == seen
        await leaver.call.done_writing()
        assert (await leaver.status())[0] is Code.OK


async def test_cancelled_streams_leave_nothing_behind() -> None:
    """No subscription, task or descriptor: counted over 150 streams."""
    async with whole_server() as server, AsyncExitStack() as stack:
        await server.make("m1")
        channel = await stack.enter_async_context(grpc.aio.insecure_channel(server.address))
        host = server.hosts[0].host

        async def some(count: int) -> None:
            streams = [RawStream(channel, f"w{number}") for number in range(count)]
            for stream in streams:
                await stream.send(play.PlayRequest(attach=play.Attach(match_id="m1", spectate=True)))
            for stream in streams:
                await stream.first(lambda one: one.HasField("attached"))
            for stream in streams:
                await stream.cancel()
            await until(lambda: len(server.gateways[0].streams) == 0)
            await until(lambda: not host.slots["m1"].watchers)

        await some(10)
        gc.collect()
        before = len(asyncio.all_tasks()), psutil.Process().num_fds()
        for _ in range(3):
            await some(50)
        gc.collect()
        await until(lambda: len(asyncio.all_tasks()) <= before[0])
        assert psutil.Process().num_fds() <= before[1]
        routes = server.gateways[0].parts.router._routes
        assert all(not route.subs and not route.waiting for route in routes.values())
        assert all(
            not conn._subs and not conn._pending for conn in server.gateways[0].parts.router.links._conns.values()
        )
