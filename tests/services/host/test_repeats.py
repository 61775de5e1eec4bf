"""A command that comes several times, through several links."""

from __future__ import annotations

import asyncio
from random import Random

from tests.services.host.seats import asked, default, everybody, node
from tests.services.hosts import Player, World, code, until


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
