"""A connection to Redis that a network resets, under uvloop, as services run: it is a lost connection to everybody."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
import uvloop
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as RedisConnectionError

from kangtou_services.log.base import LogUnavailable
from kangtou_services.log.line import Line, Patience
from tests.faults.proxy import Net, Proxy
from tests.servers import free_port, patient, redis_server

pytestmark = pytest.mark.redis


@pytest.fixture(scope="module")
def proxy() -> Iterator[Proxy]:
    """In front of a real server."""
    port = free_port()
    with Net() as net, redis_server(port=port):
        yield net.proxy("127.0.0.1", port)


def on_uvloop(proxy: Proxy, work: Callable[[Redis], Awaitable[None]]) -> None:
    """With a client through the proxy."""

    async def whole() -> None:
        client = patient(f"redis://{proxy.address}")
        try:
            await work(client)
        finally:
            await client.aclose()

    uvloop.run(whole())


async def reset(proxy: Proxy, connection: Any) -> None:
    """Cut, and wait until this end of the connection has heard of it."""
    assert await asyncio.to_thread(proxy.cut)
    async with asyncio.timeout(60):
        while not connection._writer.transport.is_closing():  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)
    await asyncio.sleep(0.05)


def test_a_command_on_a_reset_connection(proxy: Proxy) -> None:
    """A ConnectionError; the next command is answered."""

    async def work(client: Redis) -> None:
        pool: Any = client.connection_pool
        connection = await pool.get_connection()
        await reset(proxy, connection)
        with pytest.raises(RedisConnectionError):
            await connection.send_command("PING")
        await pool.release(connection)
        assert await client.ping()

    on_uvloop(proxy, work)


def test_the_log_on_a_reset_connection(proxy: Proxy) -> None:
    """LogUnavailable, which its callers expect; after that it is ready again."""

    async def work(client: Redis) -> None:
        line = Line(client, Patience(open_s=30, reply_s=30))
        await line.ready()
        await reset(proxy, line._connection)
        with pytest.raises(LogUnavailable):
            await line.send([("PING",)])
        await line.ready()
        assert await line.send([("PING",)])
        await line.close()

    on_uvloop(proxy, work)
