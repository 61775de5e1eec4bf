"""A table host over its link: secrets, frames, calls that make no sense."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from kangtou.internal.v1 import link_pb2 as lpb
from kangtou.v1 import game_pb2 as pb
from kangtou.v1 import play_pb2 as play
from kangtou_services.host.serve import serving
from kangtou_services.link import FULL_FRAME, MAX_FRAME, ActorLink, connect, listen
from kangtou_services.runtime import in_memory
from kangtou_services.settings import Settings
from tests.services.host.seats import node
from tests.services.hosts import SECRET, Gate, World, code, until, world


async def test_a_wrong_secret_is_told_and_good_for_nothing(here: World) -> None:
    gate = Gate()
    await gate.connect(node(here).address)
    reply = await gate.ask(lpb.Call(hello=lpb.Hello(secret="wrong")))
    assert code(reply) == "bad_secret"
    gate.send(lpb.Call(stats=lpb.Stats()))
    await until(lambda: gate.ended)


async def test_nothing_before_hello(here: World) -> None:
    gate = Gate()
    await gate.connect(node(here).address)
    gate.send(lpb.Call(match_id="m1", open=lpb.Open()))
    await until(lambda: gate.ended)
    assert not node(here).host.slots


async def raw(made: World, data: bytes) -> None:
    """Bytes that are no frames; the host ends that link, and goes on."""
    before = await made.gate(node(made))
    _, _, path = node(made).address.partition(":")
    reader, writer = await asyncio.open_unix_connection(path)
    writer.write(data)
    async with asyncio.timeout(60):
        assert await reader.read() == b""
    writer.close()
    await writer.wait_closed()
    assert (await before.ask(lpb.Call(stats=lpb.Stats()))).HasField("stats")


@pytest.mark.parametrize(
    "data",
    [
        b"\xff" * 8,
        b"\x00\x00\x00\x03\xff\xff\xff",
        (MAX_FRAME + 1).to_bytes(4, "big") + b"x",
        b"GET / HTTP/1.1\r\n\r\n" * 10,
        b"\x00\x00\x00\x04\x0a\x7f\x00\x00",
    ],
)
async def test_garbage_ends_that_link_alone(here: World, data: bytes) -> None:
    await raw(here, data)


async def test_half_a_frame_is_waited_for(here: World) -> None:
    _, _, path = node(here).address.partition(":")
    reader, writer = await asyncio.open_unix_connection(path)
    frame = lpb.Up(calls=[lpb.Call(ref=1, hello=lpb.Hello(secret=SECRET))]).SerializeToString()
    for byte in len(frame).to_bytes(4, "big") + frame:
        writer.write(bytes((byte,)))
        await asyncio.sleep(0)
    async with asyncio.timeout(60):
        size = int.from_bytes(await reader.readexactly(4), "big")
        assert lpb.Down.FromString(await reader.readexactly(size)).replies[0].ref == 1
    writer.close()
    await writer.wait_closed()


@pytest.mark.parametrize(
    "call",
    [
        lpb.Call(match_id="m1", account_id="a0"),
        lpb.Call(match_id="m1", account_id="a0", command=play.Command()),
        lpb.Call(match_id="m1", account_id="a0", command=play.Command(action=pb.Action(verb="play", args=["S3"] * 65))),
        lpb.Call(
            match_id="m1", account_id="a0", command=play.Command(action=pb.Action(verb="x\ny"), command_id="c" * 999)
        ),
        lpb.Call(match_id="m1", account_id="a0", standing=play.StandingAnswer(action=pb.Action(args=["S3"] * 65))),
        lpb.Call(match_id="m1", account_id="a0", standing=play.StandingAnswer(action=pb.Action(verb=""))),
        lpb.Call(match_id="m1", account_id="a0", standing=play.StandingAnswer(command_id="-")),
        lpb.Call(match_id="m1", account_id="a0", query=lpb.Query(check=pb.Action(verb="play", args=["S3"] * 65))),
        lpb.Call(match_id="m1", account_id="a0", query=lpb.Query(check=pb.Action(verb="play", args=["S3 S4"]))),
        lpb.Call(match_id="m1", account_id="a0", entropy=play.OpenEntropy(entropy=b"x" * 1000)),
        lpb.Call(match_id="m1", account_id="a0", unsubscribe=lpb.Unsubscribe(sub=77)),
        lpb.Call(match_id="m1", stop=lpb.Stop(cause="a\n= claim owner=me")),
        lpb.Call(match_id="m1", stop=lpb.Stop(cause="x" * 99)),
    ],
    ids=lambda call: str(call)[:60].replace("\n", " "),
)
async def test_calls_that_make_no_sense(here: World, call: lpb.Call) -> None:
    """One reply each; no table is harmed."""
    gate = await here.hosted(node(here), "m1")
    await until(lambda: node(here).host.slots["m1"].table.seq == 2)
    reply = await gate.ask(call)
    assert reply.WhichOneof("body") in ("problem", "answer", "check", None)
    assert not node(here).host.slots["m1"].faulted
    assert node(here).host.slots["m1"].table.seq == 2


async def test_many_deliveries_of_one_turn_keep_to_the_limit_of_a_frame() -> None:
    """A gateway that comes back gets the snapshots of thousands of tables at once."""
    got: list[int] = []
    peers: list[ActorLink] = []

    def received(peer: ActorLink, up: lpb.Up) -> None:
        peers.append(peer)
        for number in range(40):
            peer.deliver([number], 0, b"x" * (FULL_FRAME // 8))
        peer.reply(lpb.Reply(ref=1))

    async with world() as made:
        address, stop = await listen(f"unix:{made.settings.data}/s", received, lambda peer: None)
        done: list[int] = []

        def down(frame: lpb.Down) -> None:
            assert frame.ByteSize() <= MAX_FRAME
            got.extend(number for deliver in frame.delivers for number in deliver.subs)
            done.extend(reply.ref for reply in frame.replies)

        link = await connect(address, down, lambda: None)
        for _ in range(3):
            link.send(lpb.Call())
        await until(lambda: len(done) == 1)
        assert got == list(range(40))
        link.close()
        await stop()


@pytest.mark.parametrize("secret", ["s", ""])
async def test_a_data_folder_too_deep_for_a_socket(tmp_path: Path, secret: str) -> None:
    """The link is TCP on loopback then; without a secret nobody could be told from us, and it does not start."""
    folder = tmp_path / ("deep" * 30)
    backend = in_memory(Settings(data=folder, link_secret=secret))
    try:
        if not secret:
            with pytest.raises(OSError, match="path too long"):
                async with serving(backend, "a0"):
                    pass
            return
        async with serving(backend, "a0") as found:
            assert found.address.startswith("tcp:127.0.0.1:")
    finally:
        await backend.close()
