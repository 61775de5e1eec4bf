"""Takeovers: what a dead host leaves goes to the living, once, quickly, and not together with what killed it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kangtou.internal.v1 import link_pb2 as lpb
from kangtou_engine.notation import Step, read_body
from kangtou_services.directory import Actor, place
from kangtou_services.host import endings, health, probation, serve, takeover
from kangtou_services.host.marker import Guard, Marker, being_counted, put_back, settle, take
from kangtou_services.log.base import Entry, LogUnavailable
from tests.conftest import Bound
from tests.services.hosts import Node, Player, World, code, until, world


@pytest.fixture(autouse=True)
def _brisk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Watches look more often than in earnest."""
    monkeypatch.setattr(health, "PROBE_S", 0.02)
    monkeypatch.setattr(serve, "SWEEP_S", 0.2)
    monkeypatch.setattr(endings, "LINGER_S", 0.3)


def players(made: World, matches: list[str], seats: int = 4, pause_s: float = 0.005) -> list[Player]:
    """One for each seat."""
    return [Player(made, match, seat, pause_s) for match in matches for seat in range(seats)]


def started(group: list[Player]) -> list[asyncio.Task[None]]:
    """Let them play."""
    return [asyncio.ensure_future(player.run()) for player in group]


async def finished(tasks: list[asyncio.Task[None]], seconds: float = 15) -> None:
    """Until all have come to an end."""
    async with asyncio.timeout(seconds):
        await asyncio.gather(*tasks)


async def applied_once(made: World, group: list[Player]) -> None:
    """Every acknowledged move is in the log exactly once, where the answer said, and nothing else of that seat."""
    for player in group:
        entries = await made.entries(player.match)
        assert [entry.seq for entry in entries] == list(range(1, len(entries) + 1))
        for command_id, seq in player.accepted.items():
            line = f"> {player.seat} {command_id} "
            assert [entry.seq for entry in entries if line in entry.body] == [seq]
        said = sum(f"> {player.seat} " in line for entry in entries for line in entry.body.split("\n"))
        assert said == len(player.accepted)


def owned(node: Node) -> set[str]:
    """What a host hosts."""
    return set(node.host.slots)


async def killed(made: World, node: Node, handling: str = "") -> None:
    """A host dies and is found out."""
    await node.crash(handling)
    await made.directory.declare_dead(node.id)


async def test_the_living_take_over_what_a_dead_host_leaves(bound: Bound) -> None:
    """By rendezvous, with a higher epoch, within a second; clients go on. (Acceptance lines 5, 7)"""
    async with world() as made:
        nodes = [await made.node() for _ in range(3)]
        matches = [f"m{number}" for number in range(12)]
        for number, match in enumerate(matches):
            await made.hosted(nodes[number % 3], match, options={"rounds": 4})
        group = players(made, matches)
        tasks = started(group)
        await until(lambda: all(player.accepted for player in group))
        dead, *living = nodes
        left = owned(dead)
        assert left
        others = {node.id: owned(node) for node in living}
        listed = [actor for actor in await made.directory.living() if actor.id != dead.id]
        began = time.monotonic()
        await killed(made, dead)
        await until(lambda: left <= owned(living[0]) | owned(living[1]))
        assert time.monotonic() - began < bound(1.0)
        for node in living:
            took = owned(node) - others[node.id]
            assert took == {match for match in left if place(match, listed) == found(listed, node.id)}
            assert all(node.host.slots[match].table.epoch == 2 for match in took)
            assert others[node.id] <= owned(node)
        await finished(tasks)
        assert {player.ended for player in group} == {"rules"}
        for player in group:
            assert player.subscribed <= (3 if player.match in left else 1)
            assert player.refused == []
            assert player.moments[-1] > began
        await applied_once(made, group)
        for match in matches:
            epochs = {entry.epoch for entry in await made.entries(match)}
            assert epochs == ({1, 2} if match in left else {1})


def found(listed: list[Actor], actor_id: str) -> Actor:
    """The directory's row of an actor."""
    return next(actor for actor in listed if actor.id == actor_id)


async def test_hosts_die_one_after_another() -> None:
    """Until one is left; every acknowledged move is in the log once."""
    async with world() as made:
        nodes = [await made.node() for _ in range(4)]
        matches = [f"m{number}" for number in range(8)]
        for number, match in enumerate(matches):
            await made.hosted(nodes[number % 4], match, options={"rounds": 6}, seats=2)
        group = players(made, matches, seats=2, pause_s=0.01)
        tasks = started(group)
        for node in nodes[:3]:
            await asyncio.sleep(0.15)
            await killed(made, node)
        await finished(tasks)
        assert {player.ended for player in group} == {"rules"}
        await applied_once(made, group)


async def test_a_host_that_leaves_in_order(bound: Bound) -> None:
    """It says so; nobody waits for its heartbeat to run out."""
    async with world() as made:
        first, second = await made.node(), await made.node()
        await made.hosted(first, "m1", options={"rounds": 3})
        group = players(made, ["m1"])
        tasks = started(group)
        await until(lambda: all(player.accepted for player in group))
        began = time.monotonic()
        await first.stop()
        await until(lambda: owned(second) == {"m1"})
        assert time.monotonic() - began < bound(1.0)
        await finished(tasks)
        await applied_once(made, group)
        assert list((made.settings.run_dir / "handling").iterdir()) == [made.settings.run_dir / "handling" / second.id]


async def test_concurrent_opens_have_one_owner() -> None:
    async with world() as made:
        nodes = [await made.node() for _ in range(3)]
        gates = [await made.gate(node) for node in nodes]
        for number in range(10):
            match = f"m{number}"
            await made.make(match)
            replies = await asyncio.gather(*(gate.open(match) for gate in gates for _ in range(2)))
            assert sorted(code(reply) for reply in replies) == ["", "", *["not_here"] * 4]
            hosting = [node for node in nodes if match in node.host.slots]
            assert len(hosting) == 1
            assert await made.log.owner(match) == hosting[0].id
            table = hosting[0].host.slots[match].table
            await until(lambda table=table: table.begun)  # type: ignore[misc]
            assert [entry.id for entry in await made.entries(match)] == ["1-1", "1-2"]


async def test_a_claim_between_two_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody takes a table from a living owner that was quicker by a moment."""
    async with world() as made:
        dead, first, second = [await made.node() for _ in range(3)]
        await made.hosted(dead, "m1")
        monkeypatch.setattr(serve, "SWEEP_S", 9.0)
        await dead.crash()
        await made.directory.leave(dead.id)
        tail, opens = made.log.tail, [first]

        async def slow(match: str) -> Entry | None:
            if opens:
                assert await opens.pop().serving.opener.open(match) == ""
            return await tail(match)

        monkeypatch.setattr(made.log, "tail", slow)
        assert await second.serving.opener.open("m1") == "not_here"
        assert owned(first) == {"m1"}
        assert {entry.epoch for entry in await made.entries("m1")} == {1, 2}


async def test_time_without_an_owner_is_given_back() -> None:
    """From the last sign of life on; nobody is timed out by a takeover. (Design §4)"""
    async with world() as made:
        first = await made.node()
        gate = await made.hosted(first, "m1", turn_ms=3_000)
        table = first.host.slots["m1"].table
        await until(lambda: table.begun)
        sub = await gate.sub("m1", table.game.to_act(table.state)[0])
        assert sub.prompt is not None
        number, deadline_ms = sub.prompt.number, sub.prompt.deadline_ms
        await first.crash()
        crashed = made.now()
        await asyncio.sleep(0.6)
        second = await made.node()
        await made.directory.declare_dead(first.id)
        await until(lambda: "m1" in owned(second))
        table = second.host.slots["m1"].table
        asked = next(one for one in table.prompts.asked if one)
        assert asked.number == number
        out_ms = made.now() - crashed
        claim = read_body((await made.entries("m1"))[-1].body)
        assert claim.claim == second.id
        assert asked.deadline_ms == deadline_ms + claim.given_ms
        assert 550 <= claim.given_ms <= out_ms + 1_000  # a heartbeat may have been the last sign of life
        await until(lambda: table.seq == 4)  # and then its time does run out
        (step,) = read_body((await made.entries("m1"))[-1].body).items
        assert isinstance(step, Step)
        assert step.seat is None


async def test_an_outage_delays_a_takeover() -> None:
    """The death is not forgotten, and not counted twice."""
    async with world() as made:
        first, second = await made.node(), await made.node()
        await made.hosted(first, "m1")
        await made.hosted(first, "m2")
        with made.server.outage():
            await killed(made, first, handling="m1")
            await asyncio.sleep(0.2)
            assert owned(second) == set()
        await until(lambda: len(owned(second)) == 1)
        await asyncio.sleep(0.3)
        assert await made.store.deaths("m1") == 1
        assert await made.store.deaths("m2") == 0


# ---- what killed it ----


async def test_a_blamed_table_goes_to_a_host_that_has_nothing_to_lose() -> None:
    """A game that kills its process, among healthy tables: none of them sees two takeovers. (Acceptance line 8)"""
    async with world() as made:
        nodes = [await made.node() for _ in range(3)]
        healthy = [f"m{number}" for number in range(20)]
        for number, match in enumerate(healthy):
            await made.hosted(nodes[number % 3], match, options={"rounds": 7}, seats=2)
        await made.hosted(nodes[0], "bad", turn_ms=60_000)
        group = players(made, healthy, seats=2, pause_s=0.025)
        tasks = started(group)
        await asyncio.sleep(0.1)
        left = owned(nodes[0]) - {"bad"}
        await killed(made, nodes[0], handling="bad")
        await until(lambda: left <= owned(nodes[1]) | owned(nodes[2]))
        await died(made, "bad", 1)
        assert "bad" not in owned(nodes[1]) | owned(nodes[2])
        gate = await made.gate(nodes[1])
        assert code(await gate.open("bad")) == "not_here"
        # Ray starts another: that one takes it, and nothing else.
        again = await made.node("again")
        await until(lambda: owned(again) == {"bad"})
        assert again.host.slots["bad"].suspect
        new = await made.gate(again)
        await made.make("new")
        assert code(await new.open("new")) == "not_here"
        await until_full(made, again)
        # It kills that one too.
        await killed(made, again, handling="bad")
        await died(made, "bad", 2)
        last = await made.node("last")
        await asyncio.sleep(0.4)
        for node in (nodes[1], nodes[2], last):
            assert "bad" not in owned(node)
            assert code(await (await made.gate(node)).open("bad")) == "quarantined"
        await finished(tasks)
        assert {player.ended for player in group} == {"rules"}
        await applied_once(made, group)
        for match in healthy:
            assert max(entry.epoch for entry in await made.entries(match)) <= 2


async def test_whoever_is_empty_takes_a_suspect(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one that falls to another, who would not open it."""
    async with world() as made:
        first, second = await made.node(), await made.node()
        await made.hosted(first, "bad")
        await made.hosted(second, "m1")
        await killed(made, first, handling="bad")
        monkeypatch.setattr(takeover, "_falls_to", lambda match, living, actor_id: actor_id == second.id)
        empty = await made.node()
        await until(lambda: owned(empty) == {"bad"})
        assert owned(second) == {"m1"}


async def test_what_falls_to_the_host_of_a_suspect_goes_to_others() -> None:
    """It looks full, and takes nothing."""
    async with world() as made:
        dead, first = await made.node(), await made.node()
        await made.store.create("bad", (await made.make("unused")).to_json().replace("unused", "bad"), bytes(32))
        await made.store.blame("bad")
        gate = await made.gate(first)
        assert (await gate.open("bad")).HasField("opened")
        first.host.slots["bad"].suspect = True  # nobody plays there
        matches = {f"m{number}" for number in range(8)}
        for match in matches:
            await made.hosted(dead, match)
        last = await made.node()
        await until_full(made, first)
        await killed(made, dead)
        await until(lambda: owned(last) == matches)
        assert owned(first) == {"bad"}


async def died(made: World, match: str, times: int) -> None:
    """Until that many hosts have died of a match."""
    async with asyncio.timeout(60):
        while await made.store.deaths(match) != times:  # noqa: ASYNC110 - no event tells it
            await asyncio.sleep(0.01)


async def until_full(made: World, node: Node) -> None:
    """Its heartbeat shows it as full."""
    for _ in range(100):
        actor = next(actor for actor in await made.directory.living() if actor.id == node.id)
        if actor.tables == actor.cap:
            return
        await asyncio.sleep(0.02)
    raise AssertionError


async def test_a_suspect_that_goes_on_is_forgiven(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was handled when the process was killed from outside."""
    monkeypatch.setattr(probation, "ENTRIES", 5)
    async with world() as made:
        first = await made.node()
        await made.hosted(first, "m1", options={"rounds": 3})
        group = players(made, ["m1"], pause_s=0.01)
        tasks = started(group)
        await until(lambda: all(player.accepted for player in group))
        await killed(made, first, handling="m1")
        second = await made.node()
        await until(lambda: owned(second) == {"m1"})
        assert await made.store.deaths("m1") == 1
        await finished(tasks)
        assert await made.store.deaths("m1") == 0
        assert {player.ended for player in group} == {"rules"}
        await applied_once(made, group)


async def test_a_death_is_counted_before_anybody_opens_the_table() -> None:
    """Several living hosts, and a gateway that asks at the same moment: none opens it as if it were healthy."""
    async with world() as made:
        nodes = [await made.node() for _ in range(4)]
        for number, node in enumerate(nodes):
            await made.hosted(node, f"m{number}")
        await made.hosted(nodes[0], "bad")
        gates = [await made.gate(node) for node in nodes[1:]]
        blame = made.store.blame

        async def slow(match: str) -> int:
            await asyncio.sleep(0.1)
            return await blame(match)

        made.store.blame = slow  # type: ignore[method-assign]
        await killed(made, nodes[0], handling="bad")
        replies = await asyncio.gather(*(gate.open("bad") for gate in gates))
        assert {code(reply) for reply in replies} == {"not_here"}
        assert await made.store.deaths("bad") == 1
        await until(lambda: any("m0" in owned(node) for node in nodes[1:]))


async def test_a_count_that_fails_is_done_by_another(monkeypatch: pytest.MonkeyPatch) -> None:
    async with world() as made:
        first, second = await made.node(), await made.node()
        await made.hosted(first, "m1")
        await made.hosted(second, "m2")
        blame = made.store.blame
        failures = [1, 2]

        async def flaky(match: str) -> int:
            if failures:
                failures.pop()
                raise LogUnavailable("test")
            return await blame(match)

        monkeypatch.setattr(made.store, "blame", flaky)
        await killed(made, first, handling="m1")
        await until(lambda: not failures)
        await asyncio.sleep(0.3)
        assert await made.store.deaths("m1") == 1
        assert "m1" not in owned(second)


async def test_a_table_that_kills_its_host_when_it_is_loaded() -> None:
    """The marker is set around the load, and cleared when the load only raises."""
    async with world() as made:
        first, second = await made.node(), await made.node()
        await made.hosted(first, "m1")
        await made.hosted(first, "m2")
        for match in ("m1", "m2"):
            await until(lambda match=match: first.host.slots[match].table.begun)  # type: ignore[misc]
        entries = made.server.find("m1")
        assert entries is not None
        tail = entries.entries[-1]
        entries.entries[-1] = Entry(tail.epoch, tail.seq, tail.body + "x", tail.chain, tail.rounds)
        await killed(made, first)
        await until(lambda: owned(second) == {"m2"})
        await asyncio.sleep(0.1)
        mark = (made.settings.run_dir / "handling" / second.id).read_bytes()
        assert mark[0] == 0
        assert await made.store.deaths("m1") == 0


async def test_a_host_that_was_declared_dead_but_lives() -> None:
    """A zombie: its next move is fenced, its clients go to the new owner."""
    async with world() as made:
        first, second = await made.node(), await made.node()
        await made.hosted(first, "m1", options={"rounds": 3})
        group = players(made, ["m1"])
        tasks = started(group)
        await until(lambda: all(player.accepted for player in group))
        await made.directory.declare_dead(first.id)
        await until(lambda: "m1" in owned(second))
        await finished(tasks)
        assert "m1" not in owned(first)
        await applied_once(made, group)
        assert {entry.epoch for entry in await made.entries("m1")} == {1, 2}


async def test_everything_dies_at_once() -> None:
    """New hosts on the same log take everything up again."""
    async with world() as made:
        nodes = [await made.node() for _ in range(2)]
        matches = [f"m{number}" for number in range(6)]
        for number, match in enumerate(matches):
            await made.hosted(nodes[number % 2], match, options={"rounds": 3})
        group = players(made, matches, pause_s=0.01)
        tasks = started(group)
        await until(lambda: all(player.accepted for player in group))
        for node in nodes:
            await node.crash()
        for node in nodes:
            await made.directory.declare_dead(node.id)
        fresh = [await made.node() for _ in range(2)]
        await until(lambda: owned(fresh[0]) | owned(fresh[1]) == set(matches))
        await finished(tasks)
        assert {player.ended for player in group} == {"rules"}
        await applied_once(made, group)


async def test_statistics_count_takeovers() -> None:
    async with world() as made:
        first, second = await made.node(), await made.node()
        await made.hosted(first, "m1")
        await killed(made, first)
        await until(lambda: "m1" in owned(second))
        gate = await made.gate(second)
        stats = (await gate.ask(lpb.Call(stats=lpb.Stats()))).stats
        assert (stats.tables, stats.takeovers, stats.hosted, stats.faulted) == (1, 1, 1, 0)


# ---- the mark ----


@pytest.fixture
def marker(tmp_path: Path) -> Iterator[Marker]:
    """One actor's."""
    made = Marker(tmp_path, "actor")
    yield made
    made.close()


def test_a_mark_is_told_once(tmp_path: Path, marker: Marker) -> None:
    marker.set("m" * 64)
    assert take(tmp_path, "other") is None
    assert take(tmp_path, "actor") == "m" * 64
    assert being_counted(tmp_path, "actor")
    assert take(tmp_path, "actor") is None
    put_back(tmp_path, "actor")
    assert not being_counted(tmp_path, "actor")
    assert take(tmp_path, "actor") == "m" * 64
    settle(tmp_path, "actor")
    assert not being_counted(tmp_path, "actor")
    assert list(tmp_path.iterdir()) == []


def test_a_mark_is_cleared_whatever_happens(tmp_path: Path, marker: Marker) -> None:
    failed: list[str] = []
    with pytest.raises(ValueError, match="x"), marker.handling("m1"):
        raise ValueError("x")
    assert (tmp_path / "actor").read_bytes()[0] == 0
    with Guard(marker, "m2", failed.append):
        raise ZeroDivisionError
    assert failed == ["ZeroDivisionError"]
    marker.set("longer")
    marker.set("m3")
    marker.clear()
    assert take(tmp_path, "actor") == ""


def test_guards_let_the_process_end(marker: Marker) -> None:
    """KeyboardInterrupt and the like are not the table's."""
    failed: list[str] = []
    with pytest.raises(KeyboardInterrupt), Guard(marker, "m1", failed.append):
        raise KeyboardInterrupt
    assert failed == []
