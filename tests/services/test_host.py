"""A table host over its link: who may ask what, faults and outages, who else believes to own a table. Design §1, §4."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from kangtou.internal.v1 import link_pb2 as lpb
from kangtou.v1 import game_pb2 as pb
from kangtou.v1 import play_pb2 as play
from kangtou_engine.match.match import Game
from kangtou_engine.notation import Step, read_body
from kangtou_services.host import health, host, serve, takeover
from kangtou_services.link import FULL_FRAME, MAX_FRAME, ActorLink, connect, listen
from kangtou_services.log.base import Entry
from tests.services.hosts import SECRET, Gate, Node, Player, Sub, World, code, text_of, until, world


@pytest.fixture(autouse=True)
def _brisk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Watches look more often than in earnest."""
    monkeypatch.setattr(health, "PROBE_S", 0.02)
    monkeypatch.setattr(health, "ABSENT_CHECK_S", 0.05)
    monkeypatch.setattr(serve, "SWEEP_S", 0.2)
    monkeypatch.setattr(host, "LINGER_S", 0.3)


@pytest.fixture
async def here() -> AsyncIterator[World]:
    """A world with one host."""
    async with world() as made:
        await made.node()
        yield made


def node(made: World) -> Node:
    """Its first host."""
    return made.nodes[0]


async def everybody(gate: Gate, match: str, seats: int = 4) -> list[Sub]:
    """All seats followed through one link."""
    return [await gate.sub(match, seat) for seat in range(seats)]


def asked(subs: list[Sub]) -> int:
    """The seat whose prompt is the newest."""
    return max(range(len(subs)), key=lambda seat: subs[seat].prompt.number if subs[seat].prompt else 0)  # type: ignore[union-attr]


def default(sub: Sub) -> tuple[str, int]:
    """The default action and number of its prompt."""
    assert sub.prompt is not None
    return text_of(sub.prompt.default_action), sub.prompt.number


def kinds(sub: Sub) -> list[str]:
    """The events that it was told."""
    return [event.kind for entry in sub.of("entry") for event in entry.events]


# ---- the link ----


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


# ---- opening and following ----


async def test_opening(here: World) -> None:
    await here.make("m1")
    gate = await here.gate(node(here))
    assert code(await gate.query("m1", "a0", view=True)) == "not_here"
    for match in ("nosuch", "", "-", "a b", "}{", "x" * 100):
        assert code(await gate.open(match)) == "unknown_match"
    assert [(await gate.open("m1")).opened.epoch for _ in range(3)] == [1, 1, 1]
    other = await here.node()
    there = await here.gate(other)
    assert code(await there.open("m1")) == "not_here"
    assert code(await there.query("m1", "a0", view=True)) == "not_here"
    assert (await gate.ask(lpb.Call(stats=lpb.Stats()))).stats.tables == 1


async def test_a_host_that_is_full() -> None:
    async with world(tables_per_actor=1) as made:
        await made.node()
        gate = await made.hosted(node(made), "m1")
        await made.make("m2")
        assert code(await gate.open("m2")) == "full"


async def test_a_whole_match_over_streams(here: World) -> None:
    """Every command has one answer, with what it caused; the end goes to all; then it is archived and let go."""
    gate = await here.hosted(node(here), "m1", options={"rounds": 2})
    subs = await everybody(gate, "m1")
    watcher = await gate.sub("m1", None, "stranger")
    sent = 0
    while not subs[0].last:
        seat = asked(subs)
        text, number = default(subs[seat])
        sent += 1
        reply = await gate.command("m1", seat, text, f"c{sent}", number)
        assert reply.WhichOneof("body") is None
        answer = subs[seat].answer(f"c{sent}")
        assert answer is not None
        assert code(answer) == "accepted"
        assert subs[seat].of("entry")[-1].seq == answer.accepted.seq == subs[seat].seq
    assert sent == 40
    for sub in (*subs, watcher):
        await until(lambda sub=sub: sub.last)  # type: ignore[misc]
        (ended,) = sub.of("ended")
        assert (ended.cause, ended.receipt) == ("rules", (await here.entries("m1"))[-1].chain)
    assert watcher.of("prompt") == []
    await until(lambda: here.archives.written == ["m1"])
    assert await here.store.live() == []
    late = await gate.sub("m1", 2)
    assert late.last
    assert late.of("ended")[0].cause == "rules"
    reply = await gate.command("m1", 2, "play S3", "late", 1)
    assert code(reply) == "match_over"
    await until(lambda: not node(here).host.slots)


async def test_a_stream_command_of_a_seat_that_is_not_followed_here_is_replied(here: World) -> None:
    gate = await here.hosted(node(here), "m1")
    other = await here.gate(node(here))
    subs = await everybody(gate, "m1")
    seat = asked(subs)
    text, number = default(subs[seat])
    assert code(await other.command("m1", seat, text, "c1", number)) == "accepted"
    assert subs[seat].answer("c1") is None
    assert code(await gate.command("m1", seat, text, "c1", number, unary=True)) == "accepted"


async def test_who_may_follow(here: World) -> None:
    gate = await here.hosted(node(here), "m1")
    gate.subs[0] = Sub(0)
    wishes: list[tuple[str, dict[str, Any], str]] = [
        ("a9", {}, "not_seated"),
        ("a1", {"spectate": True}, "not_allowed"),
        ("a1", {"seat": 0}, "not_seated"),
        ("a1", {"seat": 9}, "not_seated"),
        ("a1", {"seat": -1}, "not_seated"),
        ("", {}, "not_seated"),
        ("a0", {"seat": 0}, ""),
    ]
    for account, more, wanted in wishes:
        reply = await gate.ask(lpb.Call(match_id="m1", account_id=account, subscribe=lpb.Subscribe(sub=0, **more)))
        assert code(reply) == wanted, (account, more)
    host_ = node(here).host
    assert set(host_.slots["m1"].seats) == {0}
    assert code(await gate.command("m1", 9, "play S3", "c1", 2)) == "not_seated"


async def test_an_account_with_several_seats(here: World) -> None:
    agreement = await here.make("m0")
    members = tuple(agreement.members[seat // 2] for seat in range(4))
    await here.store.create("m1", replace(agreement, match_id="m1", members=members).to_json(), bytes(32))
    gate = await here.gate(node(here))
    await gate.open("m1")
    first = await gate.sub("m1", 0, "a0")
    second = await gate.sub("m1", 0, "a0", seat=1)
    assert {update.seat for update in first.updates} == {0}
    assert {update.seat for update in second.updates} == {1}
    _, reply = gate.follow("m1", 0, "a0", seat=2)
    assert code(await reply) == "not_seated"


async def test_the_newest_follower_of_a_seat_supersedes(here: World) -> None:
    gate = await here.hosted(node(here), "m1")
    subs = await everybody(gate, "m1")
    seat = asked(subs)
    other = await here.gate(node(here))
    newest = await other.sub("m1", seat)
    await until(lambda: subs[seat].last)
    assert subs[seat].notices() == [play.NOTICE_KIND_SUPERSEDED]
    text, number = default(newest)
    assert code(await gate.command("m1", seat, text, "c1", number)) == "accepted"  # by a reply: it is not attached
    await until(lambda: newest.of("entry"))


async def test_unsubscribing_and_dropped_links_leave_nothing(here: World) -> None:
    gate = await here.hosted(node(here), "m1")
    slot = node(here).host.slots["m1"]
    sub = await gate.sub("m1", 0)
    watcher = await gate.sub("m1", None, "stranger")
    assert (len(slot.seats), len(slot.watchers)) == (1, 1)
    for one in (sub, watcher):
        gate.send(lpb.Call(match_id="m1", unsubscribe=lpb.Unsubscribe(sub=one.number)))
    await until(lambda: not slot.seats and not slot.watchers)
    other = await here.gate(node(here))
    await other.sub("m1", 1)
    await other.sub("m1", None, "stranger")
    await gate.sub("m1", 2)
    other.close()
    await until(lambda: list(slot.seats) == [2] and not slot.watchers)


async def test_questions(here: World) -> None:
    """View, legal actions, check: of one's own seat, of a spectator the view."""
    gate = await here.hosted(node(here), "m1", entropies={0: b"zero"}, open_wait_ms=60_000)
    reply = await gate.query("m1", "a0", view=True)
    assert not reply.view.HasField("snapshot")
    assert list((await gate.query("m1", "a0", legal=True)).legal.legal) == []
    assert (await gate.query("m1", "a0", check=pb.Action(verb="play"))).check.refused.code == "not_begun"
    gate.send(lpb.Call(match_id="m1", account_id="a0", entropy=play.OpenEntropy(entropy=b"zero")))
    await until(lambda: node(here).host.slots["m1"].table.begun)
    acting = node(here).host.slots["m1"].table.game.to_act(node(here).host.slots["m1"].table.state)[0]
    mine, other = f"a{acting}", f"a{(acting + 1) % 4}"
    view = (await gate.query("m1", mine, view=True)).view
    assert (view.seat, list(view.to_act)) == (acting, [acting])
    assert len(view.prompt.legal) == 5
    assert not (await gate.query("m1", other, view=True)).view.HasField("prompt")
    spectated = (await gate.query("m1", "stranger", view=True, spectate=True)).view
    assert not spectated.HasField("prompt")
    assert not spectated.HasField("seat")
    assert (await gate.query("m1", "stranger", legal=True, spectate=True)).HasField("view")
    legal = (await gate.query("m1", mine, legal=True)).legal.legal
    assert [text_of(action) for action in legal] == [text_of(action) for action in view.prompt.legal]
    assert list((await gate.query("m1", other, legal=True)).legal.legal) == []
    assert not (await gate.query("m1", mine, check=legal[0])).check.HasField("refused")
    assert (await gate.query("m1", other, check=legal[0])).check.refused.code == "not_your_turn"
    assert (await gate.query("m1", mine, check=pb.Action(verb="dance"))).check.refused.code == "unknown_verb"
    assert (
        await gate.query("m1", mine, check=pb.Action(verb="play", args=["S3 S4"]))
    ).check.refused.code == "malformed"
    assert code(await gate.query("m1", "stranger", view=True)) == "not_seated"
    assert code(await gate.query("m1", mine, view=True, seat=(acting + 1) % 4)) == "not_seated"
    assert node(here).host.slots["m1"].table.seq == 2


# ---- clocks, standing answers, ends ----


async def test_clocks_run_by_themselves(here: World) -> None:
    """Nobody is there; a match of two rounds goes by."""
    await here.hosted(node(here), "m1", options={"rounds": 1}, seats=2, turn_ms=10)
    await until(lambda: here.archives.written == ["m1"])
    steps = [item for entry in await here.entries("m1") for item in read_body(entry.body).items]
    assert [isinstance(step, Step) and step.seat for step in steps] == [None] * 10


async def test_a_persons_standing_answer_takes_its_time(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """And a host that waits for it, or for nothing any more, does not spin."""
    monkeypatch.setattr(takeover, "human_delay_ms", lambda: 120)
    gate = await here.hosted(node(here), "m1", game="hongshi", options={"cut": False}, people=(0, 1, 2, 3))
    subs = await everybody(gate, "m1")
    looked = 0
    pump = node(here).host.pump

    def counted(slot: Any) -> None:
        nonlocal looked
        looked += 1
        pump(slot)

    monkeypatch.setattr(node(here).host, "pump", counted)
    answer = play.StandingAnswer(match_id="m1", command_id="s1", action=pb.Action(verb="pass"))
    began = asyncio.get_running_loop().time()
    await gate.ask(lpb.Call(match_id="m1", account_id="a0", standing=answer))
    assert code(subs[0].of("answer")[-1]) == "accepted"
    await until(lambda: kinds(subs[1])[-1:] == ["reveal_passed"])
    assert asyncio.get_running_loop().time() - began >= 0.115
    assert subs[1].of("entry")[-1].events[0].seat == 0
    answer = play.StandingAnswer(match_id="m1", command_id="s2", action=pb.Action(verb="pass"))
    await gate.ask(lpb.Call(match_id="m1", account_id="a1", standing=answer))
    assert subs[1].prompt is not None
    await gate.command("m1", 1, "pass", "c1", subs[1].prompt.number)
    looked = 0
    await asyncio.sleep(0.3)
    assert looked <= 2


async def test_all_gone_is_abandoned() -> None:
    async with world(absent_ms=200) as made:
        await made.node()
        gate = await made.hosted(node(made), "m1")
        sub = await gate.sub("m1", 0)
        await asyncio.sleep(0.4)
        assert not sub.last
        watcher_gate = await made.gate(node(made))
        watcher = await watcher_gate.sub("m1", None, "stranger")
        gate.close()
        await until(lambda: watcher.last)
        assert watcher.of("ended")[0].cause == "abandoned"
        assert read_body((await made.entries("m1"))[-1].body).end == "abandoned"
        await until(lambda: made.archives.written == ["m1"])


async def test_an_operator_ends_a_match(here: World) -> None:
    gate = await here.hosted(node(here), "m1")
    sub = await gate.sub("m1", 0)
    assert not (await gate.ask(lpb.Call(match_id="m1", stop=lpb.Stop()))).HasField("problem")
    await until(lambda: sub.last)
    assert sub.of("ended")[0].cause == "operator"


async def test_archiving_is_tried_again(here: World) -> None:
    """The log stays until there is a record, whatever the archive fails with."""
    here.archives.failures = [OSError("full"), ValueError("odd")]
    gate = await here.hosted(node(here), "m1")
    await gate.ask(lpb.Call(match_id="m1", stop=lpb.Stop()))
    await asyncio.sleep(0.1)
    assert await here.store.live() == ["m1"]
    await until(lambda: here.archives.written == ["m1"])
    await until(lambda: not here.server.live())


# ---- the log's outages ----


async def test_an_outage_is_nobodys_fault(here: World) -> None:
    """30 s with 10 s on a clock: nobody is timed out by it, nobody gains more than a second. (Acceptance line 8)"""
    gate = await here.hosted(node(here), "m1", turn_ms=10_000)
    subs = await everybody(gate, "m1")
    seat = asked(subs)
    text, number = default(subs[seat])
    left = subs[seat].prompt.left_ms  # type: ignore[union-attr]
    here.later_ms += 4_000
    await asyncio.sleep(0.1)
    with here.server.outage():
        await until(lambda: node(here).host.down_since is not None)
        assert all(sub.notices() == [play.NOTICE_KIND_LOG_UNAVAILABLE] for sub in subs)
        here.later_ms += 30_000
        assert code(await gate.act("m1", seat, text, "c1", number)) == "log_unavailable"
        await asyncio.sleep(0.1)
    await until(lambda: len(subs[seat].of("prompt")) == 2)
    prompt = subs[seat].prompt
    assert prompt is not None
    assert prompt.number == number
    assert left - 5_000 < prompt.left_ms < left - 3_000
    assert len(await here.entries("m1")) == 2
    assert code(await gate.act("m1", seat, text, "c1", number)) == "accepted"
    assert 29_000 < read_body((await here.entries("m1"))[-1].body).given_ms < 31_500


async def test_moves_under_way_in_an_outage_are_answered_after_it(here: World) -> None:
    """A repeat is never refused while the first may be stored; what is known to be stored is answered at once."""
    gate = await here.hosted(node(here), "m1")
    subs = await everybody(gate, "m1")
    seat = asked(subs)
    text, number = default(subs[seat])
    assert code(await gate.act("m1", seat, text, "c0", number)) == "accepted"
    seat = asked(subs)
    text, number = default(subs[seat])
    here.server.fail_next_append(stored=True)
    here.server.reached = True
    first = gate.command("m1", seat, text, "c1", number)
    await asyncio.sleep(0)
    await until(lambda: node(here).host.slots["m1"].table.busy)
    here.server.reached = False
    await until(lambda: node(here).host.down_since is not None)
    again = gate.command("m1", seat, text, "c1", number, unary=True)
    other = gate.command("m1", (seat + 1) % 4, "play S3", "c2", 9, unary=True)
    assert code(await other) == "log_unavailable"
    assert code(await gate.act("m1", (seat - 1) % 4, *repeat(subs, seat))) == "accepted"
    await asyncio.sleep(0.05)
    assert not first.done()
    assert not again.done()
    here.server.reached = True
    await first
    assert code(await again) == "accepted"
    applied = [entry for entry in await here.entries("m1") if f" {seat} c1 " in entry.body]
    assert len(applied) == 1
    assert (await again).answer.accepted.seq == applied[0].seq


def repeat(subs: list[Sub], seat: int) -> tuple[str, str, int]:
    """The command c0 of the seat before, as it was."""
    prompt = next(prompt for prompt in subs[(seat - 1) % 4].of("prompt"))
    return text_of(prompt.default_action), "c0", prompt.number


@pytest.mark.parametrize("stored", [True, False])
async def test_an_append_without_an_answer(here: World, stored: bool) -> None:
    """Whether it was stored is looked up; either way it is applied once."""
    gate = await here.hosted(node(here), "m1", options={"rounds": 1})
    subs = await everybody(gate, "m1")
    sent = 0
    while not subs[0].last:
        seat = asked(subs)
        text, number = default(subs[seat])
        sent += 1
        here.server.fail_next_append(stored=stored)
        async with asyncio.timeout(60):
            await gate.command("m1", seat, text, f"c{sent}", number)
        answer = subs[seat].answer(f"c{sent}")
        assert answer is not None
        assert code(answer) == "accepted"
    entries = await here.entries("m1")
    assert [entry.seq for entry in entries] == list(range(1, 23))
    assert {entry.epoch for entry in entries} == {1}


async def test_a_restart_that_lost_nothing(here: World) -> None:
    gate = await here.hosted(node(here), "m1")
    subs = await everybody(gate, "m1")
    here.server.restart()
    await asyncio.sleep(0.1)
    seat = asked(subs)
    assert code(await gate.act("m1", seat, *cid(default(subs[seat])))) == "accepted"


def cid(given: tuple[str, int], command_id: str = "c1") -> tuple[str, str, int]:
    """Text, id, number."""
    return given[0], command_id, given[1]


async def test_a_log_that_lost_its_tail_stops_the_table(here: World) -> None:
    """Found out by the watch, or by the next append; said to all, and no move is taken. (Acceptance line 6)"""
    for match, by_append in (("m1", False), ("m2", True)):
        gate = await here.hosted(node(here), match)
        subs = await everybody(gate, match)
        if by_append:
            node(here).host.log.incarnation = lambda: asyncio.sleep(9, "")  # type: ignore[method-assign]
        here.server.lose_tail(match)
        if by_append:
            seat = asked(subs)
            text, number = default(subs[seat])
            reply = gate.command(match, seat, text, "c1", number)
            await reply
            assert code(subs[seat].of("answer")[-1]) == "table_faulted"
        await until(lambda subs=subs: all(sub.last for sub in subs))  # type: ignore[misc]
        assert subs[0].notices() == [play.NOTICE_KIND_TABLE_FAULTED]
        assert code(await gate.command(match, 0, "play S3", "c9", 2)) == "faulted"
        assert len(await here.entries(match)) == 1


async def test_an_outage_while_tails_are_compared(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The watch goes on, and compares all of them again."""
    gate = await here.hosted(node(here), "m1")
    subs = await everybody(gate, "m1")
    tail = here.log.tail
    failures = [1, 2, 3]

    async def flaky(match: str) -> Entry | None:
        if failures:
            failures.pop()
            with here.server.outage():
                return await tail(match)
        return await tail(match)

    monkeypatch.setattr(here.log, "tail", flaky)
    here.server.lose_tail("m1")
    await until(lambda: all(sub.last for sub in subs))
    assert not failures


@pytest.mark.parametrize("probed", [True, False])
async def test_a_stream_that_expired(here: World, probed: bool) -> None:
    """A zombie after its stream is gone writes nothing and creates no new one. (Acceptance line 6)"""
    gate = await here.hosted(node(here), "m1")
    subs = await everybody(gate, "m1")
    here.server.expire("m1")
    if probed:
        here.server.restart()
        await until(lambda: subs[0].last)
    else:
        seat = asked(subs)
        text, number = default(subs[seat])
        assert code(await gate.command("m1", seat, text, "c1", number)) == "not_here"
        await until(lambda: all(sub.lost for sub in subs))
        assert "m1" not in node(here).host.slots
    assert await here.entries("m1") == []
    assert await here.log.tail("m1") is None


# ---- two owners ----


async def test_two_that_believe_they_own_one_table(here: World) -> None:
    """The directory calls the first dead though it lives: exactly one goes on, nothing is doubled. (Line 6)"""
    first = node(here)
    gate = await here.hosted(first, "m1")
    subs = await everybody(gate, "m1")
    seat = asked(subs)
    text, number = default(subs[seat])
    second = await here.node()
    first.serving.opener.directory.silent = True  # type: ignore[attr-defined]
    await here.directory.leave(first.id)
    there = await here.gate(second)
    reply = await there.open("m1")
    assert reply.opened.epoch == 2
    both = [gate.command("m1", seat, text, "c1", number), there.command("m1", seat, text, "c1", number)]
    assert code(await both[0]) == "not_here"
    assert code(await both[1]) == "accepted"
    await until(lambda: all(sub.lost for sub in subs))
    assert "m1" not in first.host.slots
    assert code(await gate.command("m1", seat, text, "c1", number)) == "not_here"
    entries = await here.entries("m1")
    assert [entry.id for entry in entries] == ["1-1", "1-2", "2-3", "2-4"]
    assert sum(" c1 " in entry.body for entry in entries) == 1


@pytest.mark.parametrize("restarted", [True, False])
async def test_one_that_was_fenced_while_it_had_nothing_to_write(here: World, restarted: bool) -> None:
    """A sweep finds it out, or the comparison of tails after a restart."""
    first = node(here)
    gate = await here.hosted(first, "m1")
    subs = await everybody(gate, "m1")
    second = await here.node()
    first.serving.opener.directory.silent = True  # type: ignore[attr-defined]
    await here.directory.leave(first.id)
    there = await here.gate(second)
    assert (await there.open("m1")).opened.epoch == 2
    if restarted:
        here.server.restart()
    await until(lambda: all(sub.lost for sub in subs))
    assert "m1" not in first.host.slots
    assert "m1" in second.host.slots


async def test_a_table_that_was_let_go_is_opened_again(here: World) -> None:
    """Fenced by an entry of its own that arrived late: nobody else takes it while this actor lives."""
    first, second = node(here), await here.node()
    for number in range(5):  # some of them would fall to the other
        await here.hosted(first, f"m{number}", turn_ms=50, options={"rounds": 100}, seats=2)
    for slot in list(first.host.slots.values()):
        first.host.lost(slot, None)
    await until(lambda: len(first.host.slots) == 5)
    assert {slot.table.epoch for slot in first.host.slots.values()} == {2}
    assert not second.host.slots


# ---- games that fail ----


async def test_a_game_that_raises_stops_its_table_alone(here: World) -> None:
    """Typed answers, a notice; the other tables play on to their end. (Acceptance line 8)"""
    gate = await here.gate(node(here))
    for number in range(6):
        await here.make(f"m{number}", options={"rounds": 1, "raise_at": 3 if number == 2 else 0})
        await gate.open(f"m{number}")
    players = {number: [Player(here, f"m{number}", seat) for seat in range(4)] for number in range(6)}
    async with asyncio.timeout(60):
        await asyncio.gather(*(player.run() for group in players.values() for player in group))
    for number, group in players.items():
        if number == 2:
            assert {player.problem for player in group} == {"faulted"}
            assert [player.refused for player in group if player.refused] == [["table_faulted"]]
        else:
            assert {player.ended for player in group} == {"rules"}
            assert {player.subscribed for player in group} == {1}
    assert (await here.log.tail("m2")).seq == 4  # type: ignore[union-attr]
    stats = (await gate.ask(lpb.Call(stats=lpb.Stats()))).stats
    assert stats.faulted == 1
    for call in (
        lpb.Call(match_id="m2", account_id="a0", query=lpb.Query(view=True)),
        lpb.Call(match_id="m2", account_id="a0", subscribe=lpb.Subscribe(sub=1)),
        lpb.Call(match_id="m2", account_id="a0", command=play.Command(command_id="x")),
    ):
        assert code(await gate.ask(call)) == "faulted"
    assert (await gate.open("m2")).HasField("opened")
    assert not (await gate.ask(lpb.Call(match_id="m2", stop=lpb.Stop(cause="faulted")))).HasField("problem")
    await until(lambda: "m2" in here.archives.written)
    assert read_body((await here.entries("m2"))[-1].body).end == "faulted"


@pytest.mark.parametrize("what", ["view", "legal", "default", "to_act", "step", "check", "asked"])
async def test_whatever_raises(here: World, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    """In a question, in joining, in a prompt, in a move: every call has its reply, every stored move its answer."""
    gate = await here.hosted(node(here), "m1")
    await here.hosted(node(here), "m2")
    subs = await everybody(gate, "m1")
    healthy = await everybody(gate, "m2")
    slot = node(here).host.slots["m1"]
    broken = Game(slot.table.game.spec)

    def fault(*_: object, **__: object) -> object:
        raise ZeroDivisionError("H3 is secret")

    monkeypatch.setattr(broken, what, fault)
    slot.table.game = broken
    seat = asked(subs)
    text, number = default(subs[seat])
    calls = [
        gate.command("m1", seat, text, "c1", number),
        gate.send(lpb.Call(match_id="m1", account_id=f"a{seat}", query=lpb.Query(view=True))),
        gate.send(lpb.Call(match_id="m1", account_id=f"a{seat}", query=lpb.Query(legal=True))),
        gate.send(lpb.Call(match_id="m1", account_id=f"a{seat}", query=lpb.Query(check=pb.Action(verb="pass")))),
        gate.send(lpb.Call(match_id="m1", account_id="b", subscribe=lpb.Subscribe(sub=99, spectate=True))),
    ]
    gate.subs[99] = Sub(99)
    async with asyncio.timeout(60):
        replies = await asyncio.gather(*calls)
    assert {code(reply) for reply in replies[1:]} <= {"faulted", "", "accepted"}
    if what != "check":
        await until(lambda: slot.faulted)
        await until(lambda: all(sub.last for sub in subs))
    in_log = any(" c1 " in entry.body for entry in await here.entries("m1"))
    said = subs[seat].answer("c1") or replies[0].answer
    assert (code(said) == "accepted") == in_log
    assert in_log or code(said) == "table_faulted"
    seat = asked(healthy)
    assert code(await gate.act("m2", seat, *cid(default(healthy[seat])))) == "accepted"


async def test_a_list_that_raises_behind_a_stored_move(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The move has its answer, then the table stops."""
    gate = await here.hosted(node(here), "m1")
    subs = await everybody(gate, "m1")
    slot = node(here).host.slots["m1"]
    seat = asked(subs)
    text, number = default(subs[seat])
    broken = Game(slot.table.game.spec)

    def fault(*_: object) -> object:
        raise ZeroDivisionError

    monkeypatch.setattr(broken, "legal", fault)
    slot.table.game = broken
    await gate.command("m1", seat, text, "c1", number)
    answer = subs[seat].answer("c1")
    assert answer is not None
    assert code(answer) == "accepted"
    await until(lambda: all(sub.last for sub in subs))
    assert all(sub.notices() == [play.NOTICE_KIND_TABLE_FAULTED] for sub in subs)


async def test_a_fault_while_a_move_is_under_way(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The move is stored: its answer comes, though its stream has been ended."""
    gate = await here.hosted(node(here), "m1")
    subs = await everybody(gate, "m1")
    slot = node(here).host.slots["m1"]
    seat = asked(subs)
    text, number = default(subs[seat])
    append = here.log.append
    go = asyncio.Event()

    async def slow(match: str, entry: Entry) -> None:
        await go.wait()
        await append(match, entry)

    monkeypatch.setattr(here.log, "append", slow)
    reply = gate.command("m1", seat, text, "c1", number)
    await until(lambda: slot.table.busy)
    node(here).host.fault(slot, "test")
    go.set()
    assert code(await reply) == "accepted"
    assert all(sub.last for sub in subs)


async def test_a_deadline_that_passes_while_an_entry_is_under_way(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The host waits for the entry, and does nothing else meanwhile."""
    gate = await here.hosted(node(here), "m1", game="hongshi", options={"cut": False}, window_ms=100)
    subs = await everybody(gate, "m1")
    slot = node(here).host.slots["m1"]
    append, table_of = here.log.append, slot.table.draft
    go, drafts = asyncio.Event(), 0

    async def slow(match: str, entry: Entry) -> None:
        await go.wait()
        await append(match, entry)

    def counted(now_ms: int) -> Any:
        nonlocal drafts
        drafts += 1
        return table_of(now_ms)

    monkeypatch.setattr(here.log, "append", slow)
    monkeypatch.setattr(slot.table, "draft", counted)
    assert subs[0].prompt is not None
    answer = gate.command("m1", 0, "pass", "c1", subs[0].prompt.number)
    gate.command("m1", 1, "dance", "c2", 2)
    await asyncio.sleep(0.3)
    assert drafts == 1
    go.set()
    await answer
    await until(lambda: slot.table.state.phase == "play")


async def test_a_log_that_raises_what_it_should_not(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = await here.hosted(node(here), "m1")
    subs = await everybody(gate, "m1")
    seat = asked(subs)
    text, number = default(subs[seat])

    async def odd(match: str, entry: Entry) -> None:
        raise RuntimeError

    monkeypatch.setattr(here.log, "append", odd)
    await gate.command("m1", seat, text, "c1", number)
    assert code(subs[seat].of("answer")[-1]) == "table_faulted"


async def test_a_log_that_cannot_be_loaded(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """An edited entry: typed problem, tried once, and not by every sweep."""
    gate = await here.hosted(node(here), "m1")
    subs = await everybody(gate, "m1")
    seat = asked(subs)
    await gate.act("m1", seat, *cid(default(subs[seat])))
    found = here.server.find("m1")
    assert found is not None
    found.entries[1] = replace(found.entries[1], body=found.entries[1].body.replace("dealer=", "dealer=1"))
    second = await here.node()
    await node(here).crash()
    await here.directory.declare_dead(node(here).id)
    loads = 0
    read = here.log.read

    async def counted(*given: Any) -> list[Entry]:
        nonlocal loads
        loads += 1
        return await read(*given)

    monkeypatch.setattr(here.log, "read", counted)
    there = await here.gate(second)
    await asyncio.sleep(0.5)
    assert code(await there.open("m1")) == "faulted"
    assert loads <= 4


async def test_options_of_another_time(here: World) -> None:
    agreement = await here.make("m1")
    for match, changed in (
        ("m2", replace(agreement, match_id="m2", game="chess")),
        ("m3", replace(agreement, match_id="m3", options={"odd": 1})),
        ("m4", replace(agreement, match_id="m4", version=9)),
    ):
        await here.store.create(match, changed.to_json(), bytes(32))
        gate = await here.gate(node(here))
        assert code(await gate.open(match)) == "faulted"


# ---- idempotency through links ----


async def test_three_times_at_once_through_two_gateways_and_over_a_restart(here: World) -> None:
    """Applied once, answered alike. (Acceptance line 7)"""
    first, second = await here.hosted(node(here), "m1"), await here.gate(node(here))
    subs = await everybody(first, "m1")
    seat = asked(subs)
    text, number = default(subs[seat])
    calls = [gate.command("m1", seat, text, "c1", number, unary=True) for gate in (first, second, first, second)]
    async with asyncio.timeout(60):
        answers = {str(reply.answer) for reply in await asyncio.gather(*calls)}
    assert len(answers) == 1
    other = await here.node()
    await node(here).crash()
    await here.directory.declare_dead(node(here).id)
    await until(lambda: "m1" in other.host.slots)
    third = await here.gate(other)
    assert {str(await third.act("m1", seat, text, "c1", number)) for _ in range(3)} == answers
    legal = (await third.query("m1", f"a{seat}", view=True)).view
    assert not legal.HasField("prompt")
    assert code(await third.act("m1", seat, "play RJ BJ", "c1", number)) == "id_reused"
    entries = await here.entries("m1")
    assert sum(" c1 " in entry.body for entry in entries) == 1


async def test_random_disorder(here: World) -> None:
    """Players who drop their links at any time: every move once, all matches finish."""
    rng = Random(1)
    for number in range(4):
        gate = await here.hosted(node(here), f"m{number}", options={"rounds": 3, "between": True}, seats=2)
    players = [Player(here, f"m{number}", seat) for number in range(4) for seat in range(2)]
    tasks = [asyncio.ensure_future(player.run()) for player in players]
    async with asyncio.timeout(60):
        while not all(task.done() for task in tasks):
            await asyncio.sleep(0.01)
            for gate in rng.sample(here.gates, min(2, len(here.gates))):
                gate.close()
    for player in players:
        assert player.ended == "rules"
        assert player.refused == []
        bodies = [entry.body for entry in await here.entries(player.match)]
        for command_id, seq in player.accepted.items():
            assert sum(f"> {player.seat} {command_id} " in body for body in bodies) == 1
            assert f"> {player.seat} {command_id} " in bodies[seq - 1]
