"""Clocks run by themselves; how matches end outside the rules."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kangtou.internal.v1 import link_pb2 as lpb
from kangtou.v1 import game_pb2 as pb
from kangtou.v1 import play_pb2 as play
from kangtou_engine.notation import Step, read_body
from kangtou_services.host import endings, takeover
from tests.services.host.seats import everybody, kinds, node
from tests.services.hosts import World, code, until, world


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


async def test_why_a_clock_played_is_known_after_the_end(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Silent, away, or with what the book refuses; the first time counts. For tournaments."""
    monkeypatch.setattr(endings, "LINGER_S", 600.0)
    gate = await here.hosted(node(here), "m1", options={"rounds": 1}, turn_ms=600_000)
    for seat in (0, 1, 2):
        await gate.sub("m1", seat)
    slot = node(here).host.slots["m1"]
    while not slot.table.over:
        seq, prompt = slot.table.seq, slot.table.prompts.asked[1]
        if prompt is not None and not slot.late.get(1):
            assert code(await gate.act("m1", 1, "nonsense", "c1", prompt.number)) == "unknown_verb"
        here.later_ms += 600_000
        node(here).host.pump(slot)
        await until(lambda before=seq: slot.table.seq > before)  # type: ignore[misc]
    late = (await gate.ask(lpb.Call(match_id="m1", conduct=lpb.Conduct()))).conduct.late
    silent, away = lpb.LATENESS_SILENT, lpb.LATENESS_DISCONNECTED
    assert list(late) == [silent, lpb.LATENESS_ILLEGAL, silent, away]
