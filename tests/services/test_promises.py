"""A Redis that cannot keep what is promised is refused, or warned of."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis
from structlog.testing import capture_logs

from kangtou_services.log.base import LogUnavailable
from kangtou_services.log.promises import Broken, PromiseBroken, check, insist
from kangtou_services.redis_client import connect, library_source, load_library

from ..servers import client_of, redis_server

pytestmark = pytest.mark.redis


@pytest.fixture
async def client() -> AsyncIterator[Redis]:
    """Of a server as we start it."""
    with redis_server() as server:
        async with client_of(server) as client:
            yield client


async def test_the_embedded_server_keeps_all(client: Redis) -> None:
    assert await check(client) == []
    assert await insist(client) == []


@pytest.mark.parametrize(
    ("setting", "value", "broken"),
    [
        ("appendonly", "no", Broken.APPEND_ONLY),
        ("appendfsync", "everysec", Broken.FSYNC),
        ("appendfsync", "no", Broken.FSYNC),
        ("no-appendfsync-on-rewrite", "yes", Broken.FSYNC_ON_REWRITE),
        ("maxmemory-policy", "allkeys-lru", Broken.EVICTION),
        ("maxmemory-policy", "volatile-ttl", Broken.EVICTION),
    ],
)
async def test_each_broken_promise_is_found(client: Redis, setting: str, value: str, broken: Broken) -> None:
    await client.config_set(setting, value)
    with pytest.raises(PromiseBroken, match=f"{setting} {value}") as caught:
        await insist(client)
    assert [finding.broken for finding in caught.value.findings] == [broken]
    with capture_logs() as logs:
        assert await insist(client, warn_only=True) == caught.value.findings
    assert [line["broken"] for line in logs if line["log_level"] == "warning"] == [broken]


async def test_an_fsync_a_second_by_setting(client: Redis) -> None:
    await client.config_set("appendfsync", "everysec")
    assert await check(client, everysec=True) == []
    await client.config_set("appendfsync", "no")
    assert [finding.broken for finding in await check(client, everysec=True)] == [Broken.FSYNC]


async def test_a_replica_is_refused(client: Redis) -> None:
    await client.replicaof("127.0.0.1", "1")
    assert [finding.broken for finding in await check(client)] == [Broken.REPLICA]


async def test_missing_replicas(client: Redis) -> None:
    assert [finding.broken for finding in await check(client, replicas=1)] == [Broken.REPLICAS]


async def test_without_the_right_to_read_settings_or_load_functions(client: Redis) -> None:
    await client.config_set("maxmemory-policy", "allkeys-lru")
    await client.execute_command("FUNCTION", "FLUSH")  # type: ignore[no-untyped-call]
    await client.acl_setuser("default", enabled=True, nopass=True, commands=["-config", "-function"])
    found = {finding.broken for finding in await check(client)}
    assert found == {Broken.EVICTION, Broken.UNREADABLE, Broken.FUNCTIONS}


async def test_functions_are_loaded_when_missing_or_of_another_text(client: Redis) -> None:
    assert await load_library(client)
    assert not await load_library(client)
    await client.function_load(
        "#!lua name=kangtou\nredis.register_function('x', function() return 1 end)", replace=True
    )
    assert await load_library(client)
    listed = await client.function_list("kangtou", withcode=True)
    assert dict(listed[0])["library_code"] == library_source()


async def test_nobody_there() -> None:
    client = connect("unix:///nowhere/redis.sock")
    with pytest.raises(LogUnavailable):
        await check(client)
    await client.aclose()
