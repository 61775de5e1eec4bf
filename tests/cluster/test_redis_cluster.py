"""Redis Cluster: slots that move, a primary that restarts, a whole tournament meanwhile. Issue: deploy, 2.

That every store keeps its contract on a cluster, tests/contract checks: each of its suites runs on three primaries too.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from redis.asyncio import Redis
from redis.crc import key_slot

from kangtou_engine.boards import tournament_commitment
from kangtou_services.embedded import EmbeddedServer
from kangtou_services.log.base import Entry, EventLog, LogUnavailable
from kangtou_services.log.line import Patience
from kangtou_services.log.promises import check
from kangtou_services.log.redis import RedisLog
from kangtou_services.redis_cluster import Cluster
from tests.contract.test_log import begun, entry, seqs
from tests.faults.server import running
from tests.faults.test_tournament import TOURNAMENT, spec_of
from tests.faults.tournaments import SEED, Store, played
from tests.servers import client_of

from ..conftest import Counts
from ..redis_cluster import PRIMARIES, RedisCluster, redis_cluster


@pytest.fixture(scope="module")
def cluster() -> Iterator[RedisCluster]:
    """Three primaries behind a password."""
    with redis_cluster(password="secret-of-these-tests") as servers:
        yield servers


@pytest.fixture
async def client(cluster: RedisCluster) -> AsyncIterator[Redis]:
    """A client of the whole."""
    async with client_of(cluster) as one:
        yield one


@pytest.fixture
async def log(client: Redis) -> AsyncIterator[RedisLog]:
    """A writer."""
    one = RedisLog(client, patience=Patience(30.0, 30.0))
    yield one
    await one.close()


def match_at(cluster: RedisCluster, server: EmbeddedServer) -> str:
    """An unused match id in the slots that a server was given."""
    number = cluster.servers.index(server)
    while True:
        match = uuid4().hex[:16]
        if key_slot(f"m:{match}".encode()) * PRIMARIES // 16_384 == number:
            return match


async def test_all_primaries_are_asked_for_their_promises(cluster: RedisCluster, client: Redis) -> None:
    """One that has weaker settings is found; the last of the servers is not named in the URL."""
    assert isinstance(client, Cluster)
    assert len(await client.primaries()) == PRIMARIES
    assert await check(client) == []
    last = cluster.servers[-1]
    cluster.ask(last, "CONFIG", "SET", "appendfsync", "no")
    try:
        assert [str(finding) for finding in await check(client)] == [
            "fsync: appendfsync no; needed: appendfsync always"
        ]
    finally:
        cluster.ask(last, "CONFIG", "SET", "appendfsync", "always")


async def test_commands_of_several_primaries_keep_their_places(client: Redis) -> None:
    """Replies come in the order of the commands, refusals in their place."""
    names = [f"order:{uuid4().hex}" for _ in range(40)]
    async with client.pipeline(transaction=False) as pipe:
        for number, name in enumerate(names):
            pipe.set(name, number)
            pipe.incr(name)
            pipe.get(name)
        pipe.lpush(names[0], "no list")
        replies = await pipe.execute(raise_on_error=False)
    assert replies[:-1] == [part for number in range(40) for part in (True, number + 1, str(number + 1))]
    assert isinstance(replies[-1], Exception)
    await asyncio.gather(*(client.delete(name) for name in names))


async def move(cluster: RedisCluster, slot: int, old: EmbeddedServer, new: EmbeddedServer) -> None:
    """A slot with everything in it, as a resharding tool does it."""
    names = {server: str(cluster.ask(server, "CLUSTER", "MYID")) for server in (old, new)}
    cluster.ask(new, "CLUSTER", "SETSLOT", slot, "IMPORTING", names[old])
    cluster.ask(old, "CLUSTER", "SETSLOT", slot, "MIGRATING", names[new])
    held: Any = cluster.ask(old, "CLUSTER", "GETKEYSINSLOT", slot, 1000)
    if held:
        at = ("127.0.0.1", new.settings.port, "", 0, 5000, "AUTH", cluster.password)
        cluster.ask(old, "MIGRATE", *at, "KEYS", *held)
    for server in (new, old, *cluster.servers):
        cluster.ask(server, "CLUSTER", "SETSLOT", slot, "NODE", names[new])


async def test_a_match_whose_slot_moves(cluster: RedisCluster, client: Redis, log: RedisLog) -> None:
    """Reads and functions follow; one append is refused as if the log were away for a moment, and none is lost."""
    old, new = cluster.servers[0], cluster.servers[1]
    match = match_at(cluster, old)
    slot = key_slot(f"m:{match}".encode())
    await begun(log, match, 3)
    await move(cluster, slot, old, new)
    try:
        assert await log.owner(match) == "a"
        assert await log.claim(match, "b", entry(1, 3), entry(2, 4))
        await move(cluster, slot, new, old)
        last = await appended(log, match, entry(2, 5))
        await move(cluster, slot, old, new)
        last = await appended(log, match, entry(2, 6))
        assert await log.tail(match) == last
        assert await seqs(log, match) == [1, 2, 3, 4, 5, 6]
    finally:
        await move(cluster, slot, new, old)


async def appended(log: EventLog, match: str, one: Entry) -> Entry:
    """As a table does it: after a refusal it looks at the tail, and appends again what is not there."""
    async with asyncio.timeout(60):
        while True:
            try:
                await log.append(match, one)
                return one
            except LogUnavailable:
                if await tail_when_up(log, match) == one:
                    return one


async def tail_when_up(log: EventLog, match: str) -> Entry | None:
    """The tail, as soon as the log can be reached."""
    while True:
        try:
            return await log.tail(match)
        except LogUnavailable:
            await asyncio.sleep(0.05)


async def test_a_primary_is_killed_and_starts_again(cluster: RedisCluster, log: RedisLog) -> None:
    """Nothing that was acknowledged is gone; the others' matches were never touched."""
    matches = [match_at(cluster, server) for server in cluster.servers for _ in range(4)]
    for match in matches:
        await begun(log, match, 5)
    before = await log.incarnation()
    victim = cluster.servers[1]
    victim.kill()
    with pytest.raises(LogUnavailable):
        await log.incarnation()
    await asyncio.to_thread(victim.start, 60)
    await asyncio.to_thread(cluster.wait)
    await asyncio.gather(*(appended(log, match, entry(1, 6)) for match in matches))
    assert await log.incarnation() != before
    for match in matches:
        assert await seqs(log, match) == [1, 2, 3, 4, 5, 6]


@pytest.mark.ray
@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_a_tournament_on_a_cluster(
    cluster: RedisCluster, tmp_path: Path, counts: Counts, capsys: pytest.CaptureFixture[str]
) -> None:
    """A primary is killed and starts again meanwhile: all games are played, none twice, nobody is blamed."""
    spec, kills = spec_of(counts(1, 20)), 0
    given = {"redis_url": cluster.url, "gateways": 1, "actors": 2, "log_level": "warning"}
    with running(tmp_path / "d", **given) as server:
        async with Store(server) as store:
            await store.submit(TOURNAMENT, spec)
            async with asyncio.timeout(120):
                while not ((state := await store.state(TOURNAMENT)) and state.flights):  # noqa: ASYNC110 - no event tells
                    await asyncio.sleep(0.1)
            for victim in cluster.servers[: counts(1, PRIMARIES)]:
                await asyncio.sleep(0.5)
                victim.kill()
                kills += 1
                await asyncio.to_thread(victim.start, 60)
                await asyncio.to_thread(cluster.wait)
            state = await store.closed(TOURNAMENT, 600)
            games = await played(server.data, state)
    with capsys.disabled():
        print(f"\ntournament on {PRIMARIES} primaries: {len(games)} games, {kills} kills, cause {state.cause}")
    assert state.cause == "complete"
    assert state.commitment == tournament_commitment(TOURNAMENT, SEED)
    assert len(games) == len({result.match for result in state.results})
    assert not any(fault for game in games.values() for fault in game.faults)
