"""Calling functions in Redis of a library of one's own, and what a failure becomes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from importlib import resources
from typing import Any

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError, ResponseError

from .identity import StoreUnavailable
from .redis_cluster import Cluster, servers

_log = structlog.get_logger(__name__)


class Functions:
    """One library: a Lua file of this package, loaded when a server turns out to lack it.

    With `replicas`, a call returns only when as many replicas have it on disk.
    """

    def __init__(self, client: Redis, file: str, replicas: int = 0, replica_ms: int = 1_000) -> None:
        self.client = client
        self._file = file
        self._replicas = replicas
        self._replica_ms = replica_ms

    async def call(
        self, name: str, keys: Iterable[str], *args: str | int, then: Sequence[tuple[str | int, ...]] = ()
    ) -> Any:
        """The reply of a function; `then` are commands that follow it. Raises StoreUnavailable."""
        listed = list(keys)
        async with reached():
            replies = await self._send(name, listed, args, then)
            if _is_missing(replies[0]):
                await self._load()
                replies = await self._send(name, listed, args, then)
            for reply in replies:
                if isinstance(reply, Exception):
                    raise reply
        if self._replicas and (replies[1][0] < 1 or replies[1][1] < self._replicas):
            raise StoreUnavailable("too few replicas have stored it")
        return replies[0]

    async def _send(
        self, name: str, keys: list[str], args: tuple[str | int, ...], then: Sequence[tuple[str | int, ...]]
    ) -> list[Any]:
        first: list[tuple[str | int, ...]] = [("FCALL", name, len(keys), *keys, *args)]
        if self._replicas:
            first.append(("WAITAOF", 1, self._replicas, self._replica_ms))
        if not isinstance(self.client, Cluster):
            return await self._together([*first, *then])
        replies = await self._together(first)
        if then and not isinstance(replies[0], Exception):  # another server may have it: it must not come first
            replies += await self._together(then)
        return replies

    async def _together(self, commands: Sequence[tuple[str | int, ...]]) -> list[Any]:
        async with self.client.pipeline(transaction=False) as pipe:
            for command in commands:
                pipe.execute_command(*command)
            replies: list[Any] = await pipe.execute(raise_on_error=False)
        return replies

    async def _load(self) -> None:
        source = resources.files(__package__).joinpath(self._file).read_text(encoding="utf-8")
        for server in await servers(self.client):
            await server.execute_command("FUNCTION LOAD", "REPLACE", source)  # type: ignore[no-untyped-call]
        _log.info("functions_loaded", file=self._file)


def _is_missing(reply: Any) -> bool:
    return isinstance(reply, ResponseError) and "Function not found" in str(reply)


def stop_if_cancelled() -> None:
    """To be called after awaiting what talks to Redis: raise the cancellation that may have been swallowed there.

    redis-py sends by `asyncio.wait_for`, which before Python 3.12 loses a cancellation that comes just when the sending
    is done. The task would go on, and whoever cancelled it wait for ever.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


@asynccontextmanager
async def reached() -> AsyncIterator[None]:
    """Whatever Redis fails with becomes StoreUnavailable; no cancellation is lost."""
    try:
        yield
    except (RedisError, OSError) as no:
        raise StoreUnavailable(str(no) or type(no).__name__) from no
    finally:
        stop_if_cancelled()
