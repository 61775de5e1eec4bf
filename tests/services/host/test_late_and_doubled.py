"""Repeats and late appends at a table host: what the simulator found (seeds of its first runs), each by itself."""

from __future__ import annotations

import asyncio

import pytest

from kangtou.v1 import play_pb2 as play
from kangtou_services.log.base import Entry, LogUnavailable
from tests.services.host.seats import asked, default, everybody, node
from tests.services.hosts import Gate, Sub, World, code, until


class Held:
    """Holds the appends of a world back from now on."""

    def __init__(self, made: World, monkeypatch: pytest.MonkeyPatch) -> None:
        self.go = asyncio.Event()
        self.begun = asyncio.Event()
        append = made.log.append

        async def held(match: str, entry: Entry) -> None:
            self.begun.set()
            await self.go.wait()
            await append(match, entry)

        monkeypatch.setattr(made.log, "append", held)


async def played(gate: Gate, subs: list[Sub], moves: int) -> None:
    """Default actions, one after the other."""
    for number in range(moves):
        seat = asked(subs)
        text, prompt = default(subs[seat])
        assert code(await gate.act("m1", seat, text, f"c{number}", prompt)) == "accepted"
        await until(lambda prompt=prompt: max(sub.seq for sub in subs) > prompt)  # type: ignore[misc]


async def test_a_repeat_behind_the_last_entry_gets_the_first_answer(
    here: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It waits while that is written; the match being over then is no reason to refuse what is in the log."""
    gate = await here.hosted(node(here), "m1", options={"rounds": 1})
    subs = await everybody(gate, "m1")
    await played(gate, subs, 19)
    seat = asked(subs)
    text, prompt = default(subs[seat])
    held = Held(here, monkeypatch)
    first = gate.command("m1", seat, text, "last", prompt, unary=True)
    await held.begun.wait()
    again = gate.command("m1", seat, text, "last", prompt, unary=True)
    other = gate.command("m1", seat, text, "other", prompt, unary=True)
    await gate.query("m1", f"a{seat}", view=True)  # what was sent before it has arrived
    held.go.set()
    async with asyncio.timeout(60):
        assert code(await first) == "accepted"
        assert (await again).answer == (await first).answer
        assert code(await other) == "match_over"


async def test_a_stream_is_answered_once_what_an_older_one_asked_too(
    here: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client whose stream broke asks again on the next, through the same gateway, while the first still waits."""
    gate = await here.hosted(node(here), "m1")
    subs = await everybody(gate, "m1")
    seat = asked(subs)
    text, prompt = default(subs[seat])
    held = Held(here, monkeypatch)
    old = gate.command("m1", seat, text, "c1", prompt)
    await held.begun.wait()
    newer = await gate.sub("m1", seat)
    new = gate.command("m1", seat, text, "c1", prompt)
    await gate.query("m1", f"a{seat}", view=True)
    held.go.set()
    async with asyncio.timeout(60):
        assert code(await old) == "accepted"  # with its reply: its own subscription is gone
        assert code(await new) == ""
    await until(lambda: newer.answer("c1") is not None, 60)
    assert newer.answer("c1") == (await old).answer  # and `answer` finds one at most
    assert subs[seat].answer("c1") is None


async def test_a_stream_that_is_lost_does_not_take_its_seat_back(here: World) -> None:
    """Its gateway, which does not know yet, follows again after the table has moved; the client has a newer stream."""
    gate = await here.hosted(node(here), "m1")
    newer = await gate.sub("m1", 0, since_ms=2_000, again=True)
    older = await gate.sub("m1", 0, since_ms=1_000, again=True)
    assert older.last
    assert older.notices() == [play.NOTICE_KIND_SUPERSEDED]
    assert not newer.last
    newest = await gate.sub("m1", 0, since_ms=1_500)  # by the client itself, at a gateway whose clock is behind
    assert not newest.last
    await until(lambda: newer.last, 60)


async def test_an_append_that_comes_late_is_no_lost_tail(here: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given up, looked for in vain, decided again; then it is in the log after all, and the next owner goes on."""
    gate = await here.hosted(node(here), "m1")
    subs = await everybody(gate, "m1")
    seat = asked(subs)
    text, prompt = default(subs[seat])
    append = here.log.append
    given_up: list[Entry] = []

    async def late(match: str, entry: Entry) -> None:
        if len(given_up) == 2:
            await append(match, entry)
            return
        given_up.append(entry)
        if len(given_up) == 2:
            await append(match, given_up[0])
        here.later_ms += 10  # so that what is decided again is another entry
        raise LogUnavailable("no answer")

    monkeypatch.setattr(here.log, "append", late)
    async with asyncio.timeout(60):
        assert code(await gate.command("m1", seat, text, "c1", prompt)) == "not_here"
    assert given_up[0] != given_up[1]
    assert all(sub.lost for sub in subs)  # the gateway is to look for the owner
    assert (await gate.open("m1")).HasField("opened")
    answer = await gate.act("m1", seat, text, "c1", prompt)
    assert answer.accepted.seq == given_up[0].seq
    applied = [entry.seq for entry in await here.entries("m1") if f" {seat} c1 " in entry.body]
    assert applied == [answer.accepted.seq]
