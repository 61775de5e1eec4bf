"""Whatever raises stops its table alone."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from kangtou.internal.v1 import link_pb2 as lpb
from kangtou.v1 import game_pb2 as pb
from kangtou.v1 import play_pb2 as play
from kangtou.v1 import talk_pb2
from kangtou_engine.match.match import Game
from kangtou_engine.notation import read_body
from kangtou_services.host import watching
from kangtou_services.log.base import Entry
from tests.services.host.seats import asked, cid, default, everybody, node
from tests.services.hosts import Player, Sub, World, code, until


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
    for match, changed, why in (
        ("m2", replace(agreement, match_id="m2", game="chess"), "not_here"),  # an actor of another release may have it
        ("m3", replace(agreement, match_id="m3", options={"odd": 1}), "faulted"),
        ("m4", replace(agreement, match_id="m4", version=9), "not_here"),
    ):
        await here.store.create(match, changed.to_json(), bytes(32))
        gate = await here.gate(node(here))
        assert code(await gate.open(match)) == why


@pytest.mark.parametrize(
    ("what", "asked_for"),
    [
        ("subscribe", lpb.Subscribe(sub=1, spectate=True)),
        ("query", lpb.Query(view=True, spectate=True)),
        ("list_chat", talk_pb2.ListChatRequest()),
    ],
)
async def test_what_has_to_ask_first_and_fails_is_answered(
    here: World, monkeypatch: pytest.MonkeyPatch, what: str, asked_for: Any
) -> None:
    """A call that goes on in a task of its own has its reply as well."""

    async def raising(*_: object) -> str:
        raise RuntimeError("nobody expected this")

    gate = await here.hosted(node(here), "m1")
    monkeypatch.setattr(watching, "refused", raising)
    call: dict[str, Any] = {what: asked_for}
    assert code(await gate.ask(lpb.Call(match_id="m1", account_id="stranger", **call))) == "table_unavailable"
    (failed,) = [line for line in here.logged if line["event"] == "task_failed"]
    assert failed["error"] == "RuntimeError"
    here.logged.remove(failed)
