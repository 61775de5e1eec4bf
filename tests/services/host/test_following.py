"""Opening tables and following them: who may, what they are told, what they leave."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kangtou.internal.v1 import link_pb2 as lpb
from kangtou.v1 import game_pb2 as pb
from kangtou.v1 import play_pb2 as play
from tests.services.host.seats import asked, default, everybody, node
from tests.services.hosts import Sub, World, code, text_of, until, world


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
