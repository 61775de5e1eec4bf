"""A replay of a side is, byte for byte, what that side was sent live: with drops in mid-round and a takeover.

Entries that tell nobody anything (takeovers, standing answers) are in neither; times are the log's in both.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import Any

import pytest

from kangtou_clients.api import Client, Match, Refused, Session, connect
from kangtou_clients.bots.player import dice, policy_of
from kangtou_engine.game import TooMany
from kangtou_engine.record import Record, read_record
from kangtou_engine.registry import REGISTRY
from kangtou_services.gateway import archive_service, replay_service
from tests.conftest import Counts
from tests.e2e.test_half_open import Proxy
from tests.inprocess import Server, until, whole_server
from tests.replaying.taps import Tap, replayed

TABLES: dict[str, tuple[str, dict[str, Any]]] = {
    "hongshi": ("hongshi", {"rounds": 2}),
    "duizhu": ("duizhu", {"rounds": 1, "windows": "lap"}),
    "erbaiwu": ("erbaiwu", {"rounds": 2}),
    **{
        name: ("wushik", {"rounds": 2, "variant": name})
        for name in ("chengde1", "chengde2", "jiangnan", "jinzhou", "liaoning")
    },
}
EQUAL: dict[str, int] = {}  # entries compared in this run, by table
DROP_EVERY, CRASH_AT = 8, 20  # entries
PACE_S = 0.003  # before each answer, so that drops are noticed within the round


class Side:
    """A client behind a connection that can be dropped, and what it was sent."""

    def __init__(self, client: Client, session: Session, proxy: Proxy, tap: Tap) -> None:
        self.client = client
        self.session = session
        self.proxy = proxy
        self.tap = tap


async def side(stack: AsyncExitStack, server: Server, token: str) -> Side:
    """A tapped client with a session."""
    proxy = Proxy(server.gateways[0].port)
    await proxy.start(stack)
    client = await stack.enter_async_context(connect(f"127.0.0.1:{proxy.port}", token))
    tap = Tap()
    tap.on(client)
    return Side(client, await stack.enter_async_context(client.play()), proxy, tap)


async def play(found: Side, match: Match, number: int) -> None:
    """Greedy; now and then it leaves a standing answer first, which answers later windows too where it fits."""
    policy, pick = policy_of(match.game, "greedy"), dice(number)
    asked = 0
    async for prompt in match.prompts():
        asked += 1
        await asyncio.sleep(PACE_S)
        assert match.seat is not None
        if match.seat not in match.game.to_act(match.view):
            continue
        legal = prompt.legal
        if asked % 7 == 5 and not isinstance(legal, TooMany) and len(legal) > 1:
            await found.session.stand_by(match, prompt.default)
            if not prompt.open:
                continue  # it was applied at once
        answer = await prompt.answer(policy(match.view, match.seat, legal, pick))
        if isinstance(answer, Refused):
            await prompt.answer(prompt.default)


async def trouble(server: Server, watching: Match, sides: list[Side]) -> None:
    """Connections are dropped in turn, and the host vanishes once."""
    count = drops = 0
    async for _ in watching.changes():
        count += 1
        if count % DROP_EVERY == 0:
            sides[drops % len(sides)].proxy.drop()
            drops += 1
        if count == CRASH_AT:
            await server.crash_host(server.host_of(watching.match_id))


async def played(stack: AsyncExitStack, server: Server, table: str, number: int) -> tuple[str, list[Side]]:
    """A match with trouble, to its end: its id, the sides (the spectator last)."""
    game, options = TABLES[table]
    seats = REGISTRY.game(game).config(options).seats
    match_id, names = f"{table}{number}", [f"p{seat}" for seat in range(seats)]
    entropies = {seat: bytes([seat + 1, number]) for seat in range(seats)}  # nothing begins before all are there
    await server.make(match_id, tuple(names), game, entropies, options=options, open_wait_ms=60_000)
    sides = [await side(stack, server, f"t-{name}") for name in (*names, "eve")]
    assert isinstance(await sides[-1].session.watch(match_id), Match)
    watching = await (await side(stack, server, "t-driver")).session.watch(match_id)  # its own connection holds
    assert isinstance(watching, Match)
    troubling = asyncio.create_task(trouble(server, watching, sides))
    async with asyncio.TaskGroup() as group:
        for seat in range(seats):
            match = await sides[seat].session.attach(match_id, entropy=entropies[seat])
            assert isinstance(match, Match)
            group.create_task(play(sides[seat], match, number + seat))
    await troubling
    await until(lambda: server.backend.archiver.index.find(match_id))
    return match_id, sides


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize("table", TABLES)
async def test_replay_equals_live(table: str, counts: Counts) -> None:
    """Of all seats and a spectator, of every game and variant."""
    compared = skipped = again = resumed = 0
    for number in range(counts(1, 12)):
        extras = [archive_service.add, replay_service.add]
        async with whole_server(hosts=2, extras=extras, heartbeat_ms=100) as server, AsyncExitStack() as stack:
            match_id, sides = await played(stack, server, table, number)
            resumed += sum(found.session.reconnections for found in sides)
            record = record_of(server, match_id)
            assert sum(entry.body.claim is not None for entry in record.entries) == 2, "one takeover"
            for place, found in enumerate(sides):
                who = place if place < len(sides) - 1 else None
                key = (match_id, who)
                live, seen = found.tap.entries[key], await replayed(sides[-1].client, match_id, who)
                for seq, payload in seen.items():
                    if seq in live:
                        assert live[seq] == payload, f"entry {seq} as {who} saw it"
                        compared += 1
                    else:
                        assert found.tap.skipped(key, seq), f"entry {seq} never came to {who}"
                        skipped += 1
                assert set(live) <= set(seen), "told live, and not again"
                again += found.tap.again
    EQUAL[table] = compared
    print(f"{sum(EQUAL.values())} in all")
    print(f"{table}: {compared} entries equal, {skipped} within snapshots, {again} sent twice, {resumed} reconnections")
    assert compared > 100
    assert resumed > 2
    assert skipped < compared / 4


def record_of(server: Server, match_id: str) -> Record:
    """What the archive has of it."""
    archiver = server.backend.archiver
    row = archiver.index.find(match_id)
    assert row is not None
    return read_record(archiver.records.text(row.path))
