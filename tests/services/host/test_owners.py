"""Two hosts that believe to own one table. Design §4."""

from __future__ import annotations

import pytest

from tests.services.host.seats import asked, default, everybody, node
from tests.services.hosts import World, code, until


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
