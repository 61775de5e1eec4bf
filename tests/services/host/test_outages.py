"""The log's outages: nobody's fault, nothing lost, noticed if something was. Design §4."""

from __future__ import annotations

import asyncio

import pytest

from kangtou.v1 import play_pb2 as play
from kangtou_engine.notation import read_body
from kangtou_services.log.base import Entry, LogUnavailable
from tests.services.host.seats import asked, cid, default, everybody, node, repeat
from tests.services.hosts import World, code, until


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


async def test_stored_and_not_on_all_disks(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """An entry that is in the log, but not where it was promised to be, is not acknowledged before it is."""
    gate = await here.hosted(node(here), "m1")
    subs = await everybody(gate, "m1")
    append, tries = here.log.append, 0

    async def short(match: str, entry: Entry) -> None:
        nonlocal tries
        await append(match, entry)
        tries += 1
        raise LogUnavailable("too few replicas have stored it")

    monkeypatch.setattr(here.log, "append", short)
    seat = asked(subs)
    text, number = default(subs[seat])
    answer = gate.command("m1", seat, text, "c1", number)
    await until(lambda: tries >= 3)
    assert not answer.done()
    assert subs[seat].answer("c1") is None
    monkeypatch.setattr(here.log, "append", append)
    async with asyncio.timeout(60):
        await answer
    assert code(subs[seat].of("answer")[-1]) == "accepted"
    applied = [entry for entry in await here.entries("m1") if f" {seat} c1 " in entry.body]
    assert len(applied) == 1


async def test_a_restart_that_lost_nothing(here: World) -> None:
    gate = await here.hosted(node(here), "m1")
    subs = await everybody(gate, "m1")
    here.server.restart()
    await asyncio.sleep(0.1)
    seat = asked(subs)
    assert code(await gate.act("m1", seat, *cid(default(subs[seat])))) == "accepted"


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
        assert await here.store.deaths(match) == 2, "nobody else opens it either"


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
