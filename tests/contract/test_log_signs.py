"""A server that answers and does not store what it is sent gives no sign of life until it does."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis

from kangtou_services.log.base import LogUnavailable
from kangtou_services.log.disks import Disks
from kangtou_services.log.redis import RedisLog

from ..servers import client_of, free_port, redis_server
from .test_log import begun, entry
from .test_log_faults import replicated

pytestmark = pytest.mark.redis


@pytest.fixture
async def client() -> AsyncIterator[Redis]:
    """Of a server that the test may spoil."""
    with redis_server() as server:
        async with client_of(server) as client:
            yield client


async def spoilt(client: Redis, how: str) -> None:
    """Refuse writes."""
    if how == "memory":
        await client.config_set("maxmemory", "1")
    elif how == "replica":
        await client.replicaof("127.0.0.1", str(free_port()))
    else:
        await client.config_set("min-replicas-to-write", "1")


async def mended(client: Redis, how: str) -> None:
    """Take them again."""
    if how == "memory":
        await client.config_set("maxmemory", "0")
    elif how == "replica":
        await client.replicaof("no", "one")
    else:
        await client.config_set("min-replicas-to-write", "0")


@pytest.mark.parametrize("how", ["memory", "replica", "too few"])
async def test_refused_writes(client: Redis, how: str) -> None:
    log = RedisLog(client)
    await begun(log, "m", 3)
    alive = await log.incarnation()
    await spoilt(client, how)
    assert await log.incarnation() == alive, "nobody has written yet"
    with pytest.raises(LogUnavailable):
        await log.append("m", entry(1, 4))
    for _ in range(2):
        with pytest.raises(LogUnavailable):
            await log.incarnation()
    await mended(client, how)
    assert await log.incarnation() == alive
    await log.append("m", entry(1, 4))
    await log.close()


async def test_one_bad_key_is_no_outage(client: Redis) -> None:
    log = RedisLog(client)
    await begun(log, "m", 3)
    await log.append("m", entry(1, 4))
    await client.delete("{m:m}:log")
    await client.set("{m:m}:log", "no stream")
    with pytest.raises(LogUnavailable):
        await log.append("m", entry(1, 5))
    assert await log.incarnation()
    await log.close()


async def test_too_few_replicas() -> None:
    async with replicated() as (primary, replica), client_of(primary) as client:
        log = RedisLog(client, Disks(replicas=1, replica_ms=150))
        before = RedisLog(client)
        await begun(before, "m", 3)
        await before.close()
        assert replica.pid is not None
        os.kill(replica.pid, signal.SIGSTOP)
        try:
            with pytest.raises(LogUnavailable, match="replicas"):
                await log.append("m", entry(1, 4))
            for _ in range(2):
                with pytest.raises(LogUnavailable, match="replicas"):
                    await log.incarnation()
        finally:
            os.kill(replica.pid, signal.SIGCONT)
        async with asyncio.timeout(60):
            while not await signs(log):
                pass  # it takes the time that a write on trial waits
        await log.append("m", entry(1, 4))
        await log.close()


async def signs(log: RedisLog) -> bool:
    """Whether it gives a sign of life."""
    try:
        return bool(await log.incarnation())
    except LogUnavailable:
        return False
