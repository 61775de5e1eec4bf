"""Connections to Redis and the server-side functions of the library `kangtou`.

redis-py repeats failed commands by default, up to ten times with pauses. Here nothing is repeated: the caller knows
what may be.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import cache, partial
from importlib import resources
from typing import Any

import structlog
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError
from redis.maint_notifications import MaintNotificationsConfig

from .redis_cluster import SCHEMES, Cluster, servers

_log = structlog.get_logger(__name__)

LIBRARY = "kangtou"
_CLOSED = "the handler is closed"  # uvloop's words


def connect(url: str, *, connect_s: float = 0.5, reply_s: float = 2.0, most: int = 32) -> Redis:
    """A client for `redis://`, `rediss://` or `unix://`; connects when first used. Close it with `aclose()`.

    `redis+cluster://USER:PASSWORD@HOST:PORT,HOST:PORT` (`rediss+cluster`: by TLS) is a cluster, of which some servers
    are named; times and connections are then for each server.

    connect_s, reply_s   seconds until a connection or an answer counts as failed
    most                 connections at a time; further callers wait
    """
    if url.startswith(SCHEMES):
        one_server = partial(connect, connect_s=connect_s, reply_s=reply_s, most=most)
        return Cluster(url, one_server, connect_s, reply_s)
    pool = BlockingConnectionPool.from_url(
        url,
        protocol=3,
        decode_responses=True,
        socket_connect_timeout=connect_s,
        socket_timeout=reply_s,
        max_connections=most,
        timeout=reply_s,
        retry=Retry(NoBackoff(), 0),
        # Without this, redis-py does not notice that a pooled connection has been closed by the server.
        maint_notifications_config=MaintNotificationsConfig(enabled=False),
    )
    made_by: Any = pool.connection_class
    pool.connection_class = _sending(made_by)
    return Redis.from_pool(pool)


@cache
def _sending(kind: Any) -> Any:
    """A connection class that sends under `asyncio.timeout`.

    redis-py sends by `asyncio.wait_for`, which costs a task a command and, before Python 3.12, loses a cancellation
    that comes just when the sending is done: the task would go on, and whoever cancelled it wait for ever.

    Writing to a connection that has been reset is a RuntimeError under uvloop, which no caller expects; here it is what
    it is everywhere else, a ConnectionError.
    """

    class Sending(kind):  # type: ignore[misc]
        socket_timeout: float | None

        async def send_packed_command(self, command: Any, check_health: bool = True) -> None:
            patience, self.socket_timeout = self.socket_timeout, None
            try:
                async with asyncio.timeout(patience):
                    await super().send_packed_command(command, check_health)
            except TimeoutError as error:
                raise RedisTimeoutError("Timeout writing to socket") from error
            except RuntimeError as error:
                if _CLOSED not in str(error):
                    raise
                raise RedisConnectionError("the connection has been reset") from error
            finally:
                self.socket_timeout = patience

    return Sending


def library_source() -> str:
    """The Lua text of the library."""
    return resources.files(__package__).joinpath("functions.lua").read_text(encoding="utf-8")


async def load_library(client: Redis) -> bool:
    """Load the library where a server has none or another text of it; whether it was loaded anywhere."""
    return any([await _load(server) for server in await servers(client)])


async def _load(client: Redis) -> bool:
    source = library_source()
    held = await client.execute_command("FUNCTION LIST", "LIBRARYNAME", LIBRARY, "WITHCODE")  # type: ignore[no-untyped-call]
    if held and dict(held[0]).get("library_code") == source:
        return False
    await client.execute_command("FUNCTION LOAD", "REPLACE", source)  # type: ignore[no-untyped-call]
    _log.info("functions_loaded", library=LIBRARY)
    return True


async def call(
    client: Redis, name: str, keys: list[str], *args: str, then: Sequence[tuple[Any, ...]] = ()
) -> list[Any]:
    """Call a function of the library, loading that when the server lacks it.

    `then` are commands sent behind it on the same connection. Returns the replies of all; raises RedisError.
    """
    for last_try in (False, True):
        async with client.pipeline(transaction=False) as pipe:
            pipe.execute_command("FCALL", name, len(keys), *keys, *args)
            for command in then:
                pipe.execute_command(*command)
            replies: list[Any] = await pipe.execute(raise_on_error=False)
        missing = isinstance(replies[0], ResponseError) and "Function not found" in str(replies[0])
        if missing and not last_try:
            await load_library(client)
            continue
        for reply in replies:
            if isinstance(reply, Exception):
                raise reply
        return replies
    raise AssertionError("the last try raises or returns")
