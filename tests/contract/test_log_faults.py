"""The log on a server that dies, hangs, refuses or forgets. Issue 2, acceptance 5, 6 and 8."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import signal
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from kangtou_services.embedded import EmbeddedServer
from kangtou_services.log.base import Entry, LogError, LogUnavailable, TailLost
from kangtou_services.log.disks import Disks
from kangtou_services.log.line import Patience
from kangtou_services.log.redis import RedisLog, RedisMatchStore
from kangtou_services.redis_client import connect

from ..conftest import Bound, Counts
from ..servers import client_of, free_port, redis_server
from .test_log import begun, entry, seqs

pytestmark = pytest.mark.redis


@pytest.fixture
def server() -> Iterator[EmbeddedServer]:
    """A server that the test may kill."""
    with redis_server() as running:
        yield running


@pytest.fixture
async def log(server: EmbeddedServer) -> AsyncIterator[RedisLog]:
    """A log on it, quick to give up."""
    client = connect(server.url, reply_s=0.5)
    log = RedisLog(client, patience=Patience(open_s=0.5, reply_s=0.5))
    yield log
    await log.close()
    await client.aclose()


async def patiently(log: RedisLog, match: str, given: Entry) -> int:
    """Append as an owner does: after LogUnavailable look at the tail, then send again. How often it was sent."""
    for attempt in range(1, 10_000):
        try:
            await log.append(match, given)
        except LogUnavailable:
            tail = await tail_at_last(log, match)
            assert tail in (given, entry(given.epoch, given.seq - 1), entry(1, 1, "marker"))
        else:
            return attempt
    raise AssertionError("never stored")


async def tail_at_last(log: RedisLog, match: str) -> Entry | None:
    """The tail, once the server is back."""
    while True:
        try:
            return await log.tail(match)
        except LogUnavailable:
            await asyncio.sleep(0.01)


# ---- kill -9 ----


async def test_killed_under_load(server: EmbeddedServer, log: RedisLog, counts: Counts, bound: Bound) -> None:
    """Every acknowledged append is there exactly once, whatever the moment of the kill."""
    matches = [f"match{number}" for number in range(16)]
    acknowledged = dict.fromkeys(matches, 1)
    stopped = False

    async def play(match: str) -> int:
        resent = 0
        await begun(log, match)
        while not stopped:
            seq = acknowledged[match] + 1
            resent += await patiently(log, match, entry(1, seq)) - 1
            acknowledged[match] = seq
        return resent

    playing = [asyncio.create_task(play(match)) for match in matches]
    chance = random.Random(20)
    gaps = []
    await asyncio.sleep(0.1)
    for _ in range(counts(4, 20)):
        await asyncio.sleep(chance.uniform(0.05, 0.2))
        server.kill()
        stored = dict(acknowledged)
        await asyncio.sleep(chance.uniform(0, 0.1))
        await server.start_async()
        up = time.monotonic()
        while not all(acknowledged[match] > stored[match] for match in matches):  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        gaps.append(time.monotonic() - up)
        for match in matches:
            assert (await log.read(match, 0, stored[match]))[-1] == entry(1, stored[match])
    stopped = True
    resent = sum(await asyncio.gather(*playing))
    for match in matches:
        assert await log.read(match) == [
            entry(1, 1, "marker"),
            *(entry(1, seq) for seq in range(2, acknowledged[match] + 1)),
        ]
    print(f"{sum(acknowledged.values())} appends, {resent} sent again, up to first append {max(gaps):.3f} s at most")
    assert max(gaps) < bound(3)


async def test_while_it_is_stopped(server: EmbeddedServer, log: RedisLog, bound: Bound) -> None:
    store = RedisMatchStore(connect(server.url))
    last = await begun(log, "m", 3)
    server.stop()
    attempts = (
        *(lambda: log.append("m", entry(1, 4)), lambda: log.tail("m"), lambda: log.read("m"), lambda: log.owner("m")),
        *(lambda: log.claim("m", "b", last, entry(2, 4)), log.incarnation, store.live, lambda: store.agreement("m")),
        *(lambda: store.seed("m"), lambda: store.create("n", "{}", b""), lambda: store.retire("m", 0)),
    )
    for attempt in attempts:
        began = time.monotonic()
        with pytest.raises(LogUnavailable):
            await attempt()
        assert time.monotonic() - began < bound(1.0)
    server.start()
    await log.append("m", entry(1, 4))
    assert await seqs(log, "m") == [1, 2, 3, 4]


async def test_while_it_hangs(server: EmbeddedServer, log: RedisLog, bound: Bound) -> None:
    await begun(log, "m", 3)
    assert server.pid is not None
    os.kill(server.pid, signal.SIGSTOP)
    try:
        for _ in range(3):  # the first has a connection, the others cannot open one
            began = time.monotonic()
            with pytest.raises(LogUnavailable):
                await log.append("m", entry(1, 4))
            assert time.monotonic() - began < bound(1.0)
    finally:
        os.kill(server.pid, signal.SIGCONT)
    assert await patiently(log, "m", entry(1, 4)) == 1  # what the hanging server had received counts
    assert await seqs(log, "m") == [1, 2, 3, 4]


async def test_incarnation_changes_with_a_restart(server: EmbeddedServer, log: RedisLog) -> None:
    first = await log.incarnation()
    assert first == await log.incarnation() != ""
    server.kill()
    server.start()
    assert await log.incarnation() != first


# ---- A server that forgets ----


async def test_restored_from_an_older_copy(server: EmbeddedServer, log: RedisLog, tmp_path: Path) -> None:
    """The owner stops; nothing is written behind the gap; a successor goes on from what is there."""
    await begun(log, "m", 5)
    shutil.copytree(server.folder / "appendonlydir", tmp_path / "copy")
    for seq in (6, 7):
        await log.append("m", entry(1, seq))
    server.kill()
    shutil.rmtree(server.folder / "appendonlydir")
    shutil.copytree(tmp_path / "copy", server.folder / "appendonlydir")
    server.start()
    error: LogError | None = None
    while not isinstance(error, TailLost):
        with pytest.raises(LogError) as caught:
            await log.append("m", entry(1, 8))
        error = caught.value
    assert await seqs(log, "m") == [1, 2, 3, 4, 5]
    assert await log.claim("m", "b", entry(1, 5), entry(2, 6, "marker"))
    with pytest.raises(LogError):
        await log.append("m", entry(1, 8))
    await log.append("m", entry(2, 7))


async def test_without_its_functions(server: EmbeddedServer, log: RedisLog) -> None:
    async with client_of(server) as client:
        await begun(log, "m", 2)
        await client.execute_command("FUNCTION", "FLUSH")  # type: ignore[no-untyped-call]
        assert await log.claim("m", "b", entry(1, 2), entry(2, 3, "marker"))
        await client.execute_command("FUNCTION", "FLUSH")  # type: ignore[no-untyped-call]
        assert await RedisMatchStore(client).create("m", "{}", b"")


# ---- A server that refuses ----


async def test_out_of_memory_and_back(server: EmbeddedServer, log: RedisLog) -> None:
    async with client_of(server) as client:
        last = await begun(log, "m", 3)
        await client.config_set("maxmemory", "1")
        with pytest.raises(LogUnavailable, match=r"maxmemory|memory"):
            await log.append("m", entry(1, 4))
        with pytest.raises(LogUnavailable):
            await log.claim("m", "b", last, entry(2, 4))
        await client.config_set("maxmemory", "0")
        await log.append("m", entry(1, 4))
        assert await log.owner("m") == "a"
        assert await seqs(log, "m") == [1, 2, 3, 4]


async def test_made_a_replica(server: EmbeddedServer, log: RedisLog) -> None:
    async with client_of(server) as client:
        await begun(log, "m", 3)
        await client.replicaof("127.0.0.1", str(free_port()))
        with pytest.raises(LogUnavailable):
            await log.append("m", entry(1, 4))
        await client.replicaof("no", "one")
        assert await patiently(log, "m", entry(1, 4)) <= 2


async def test_something_else_under_the_key(server: EmbeddedServer, log: RedisLog) -> None:
    async with client_of(server) as client:
        await client.set("{m:m}:log", "no stream")
        await begun(log, "n")
        results = await asyncio.gather(
            log.append("m", entry(1, 2)), log.append("n", entry(1, 2)), return_exceptions=True
        )
        assert isinstance(results[0], LogUnavailable)
        assert results[1] is None


async def test_ids_that_would_break_the_slot(log: RedisLog) -> None:
    for match in ("", "a}b"):
        with pytest.raises(ValueError, match="not a match id"):
            await log.append(match, entry(1, 2))
        with pytest.raises(ValueError, match="not a match id"):
            await log.tail(match)
    await begun(log, "m", 2)


async def test_closed(log: RedisLog) -> None:
    await begun(log, "m")
    last = asyncio.create_task(log.append("m", entry(1, 2)))
    await asyncio.sleep(0)
    await log.close()
    await last
    with pytest.raises(LogUnavailable):
        await log.append("m", entry(1, 3))
    assert await seqs(log, "m") == [1, 2]


# ---- Replicas ----


@asynccontextmanager
async def replicated() -> AsyncIterator[tuple[EmbeddedServer, EmbeddedServer]]:
    """A primary with one replica that follows it."""
    port = free_port()
    with redis_server(port=port) as primary, redis_server(replicaof=f"127.0.0.1 {port}") as replica:
        async with client_of(primary) as client:
            info: dict[str, Any] = {}
            while info.get("slave0", {}).get("state") != "online":
                await asyncio.sleep(0.05)
                info = await client.info("replication")
        yield primary, replica


async def test_stored_means_stored_on_the_replica(bound: Bound) -> None:
    disks, patient = Disks(replicas=1, replica_ms=150), Disks(replicas=1, replica_ms=10_000)
    async with replicated() as (primary, replica), client_of(primary) as client, client_of(replica) as following:
        log, store = RedisLog(client, disks), RedisMatchStore(client, disks)
        waiting = RedisLog(client, patient)
        await begun(waiting, "first", 1)  # a replica that has just come writes its file anew before it acknowledges
        began = time.monotonic()
        await begun(waiting, "m", 3)
        assert time.monotonic() - began < bound(0.5)
        assert await RedisMatchStore(client, patient).create("m", "{}", b"seed")
        assert await RedisLog(following).tail("m") == entry(1, 3)
        assert replica.pid is not None
        os.kill(replica.pid, signal.SIGSTOP)
        try:
            for writer in (log, log, RedisLog(client, disks)):  # a resend counts no more than the first
                with pytest.raises(LogUnavailable, match="replicas"):
                    await writer.append("m", entry(1, 4))
                await writer.close() if writer is not log else None
            for _ in range(2):
                with pytest.raises(LogUnavailable, match="replicas"):
                    await log.claim("m", "b", entry(1, 4), entry(2, 5, "marker"))
                with pytest.raises(LogUnavailable, match="replicas"):
                    await store.create("n", "{}", b"seed")
        finally:
            os.kill(replica.pid, signal.SIGCONT)
        await waiting.append("m", entry(1, 4))
        assert await waiting.claim("m", "b", entry(1, 4), entry(2, 5, "marker"))
        assert not await RedisMatchStore(client, patient).create("n", "{}", b"seed")
        await waiting.close()
        assert [one.id for one in await RedisLog(following).read("m", 3)] == ["1-3", "1-4", "2-5"]
        await log.close()


# ---- For people ----


async def test_readable_with_redis_cli(server: EmbeddedServer, log: RedisLog) -> None:
    async with client_of(server) as client:
        await begun(log, "m")
        await log.append("m", entry(1, 2, "2 play HT DT", (2, 1)))
        await RedisMatchStore(client).create("m", '{"game":"hongshi"}', b"\x00\xff")
        rows = await client.xrange("{m:m}:log", min="1-2")
        assert rows == [("1-2", {"b": "2 play HT DT", "h": entry(1, 2, "2 play HT DT").chain, "r": "2,1"})]
        assert await client.get("{m:m}:owner") == "a"
        assert await client.get("{m:m}:agreement") == '{"game":"hongshi"}'
        assert await client.get("{m:m}:seed") == "00ff"
        assert await client.smembers("kt:live") == {"m"}
        assert set(await client.keys("*")) == {
            *(f"{{m:m}}:{part}" for part in "log owner agreement seed".split()),
            "kt:live",
        }
