"""Pools in Redis. All keys of one pool lie in one slot and are listed in matchmaking.lua; besides them:

{p:<pool>}:waits  list: how long tickets waited lately, in ms
kt:pools        sorted set: ids of pools, by when they were last touched
kt:pools:news   channel: ids of pools in which something has changed
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, cast

from redis.asyncio import Redis
from redis.exceptions import RedisError

from ..functions import Functions, reached
from .base import LOOK_MOST, WAITING_MOST, WAITS_MOST, Look, NoPlace, Offer, Pool, State, Status, Ticket

_PARTS = "config tickets states queue seen ended held offers seats counters lease asked".split()
_LIST, _NEWS = "kt:pools", "kt:pools:news"
_NEWS_WAIT_S = 1.0
_KEEP_MS = 7 * 24 * 3_600_000


class RedisPoolStore:
    """A PoolStore. The client is the caller's to close."""

    def __init__(self, client: Redis, replicas: int = 0) -> None:
        self._client = client
        self._functions = Functions(client, "matchmaking/matchmaking.lua", replicas)

    async def pools(self, since_ms: int) -> list[str]:
        """See PoolStore."""
        async with reached(), self._client.pipeline(transaction=False) as pipe:
            pipe.zremrangebyscore(_LIST, "-inf", f"({since_ms}")
            pipe.zrange(_LIST, 0, -1)
            _, found = await pipe.execute()
        return cast("list[str]", found)

    async def touch(self, pool_id: str, now_ms: int) -> None:
        """See PoolStore."""
        async with reached():
            await self._client.zadd(_LIST, {pool_id: now_ms}, gt=True)

    async def enqueue(self, pool: Pool, ticket: Ticket, stream: str, most: int, now_ms: int) -> Status | NoPlace:
        """See PoolStore. The list lies in another slot; sweeps of the ticket's gateway keep the pool on it too."""
        args = (pool.to_json(), ticket.ref, ticket.to_json(), stream, most, WAITING_MOST, now_ms)
        _, row = await asyncio.gather(self.touch(pool.id, now_ms), self._call("enqueue", pool.id, *args))
        return NoPlace(row[0]) if len(row) == 1 else _status(row)

    async def refresh(self, pool_id: str, streams: Mapping[str, str], now_ms: int) -> dict[str, Status]:
        """See PoolStore."""
        pairs = [part for pair in streams.items() for part in pair]
        rows = await self._call("refresh", pool_id, now_ms, *pairs)
        return {row[0]: _status(row[1:]) for row in rows}

    async def cancel(self, pool_id: str, ref: str, now_ms: int) -> Status:
        """See PoolStore."""
        return _status(await self._call("cancel", pool_id, ref, now_ms))

    async def leave(self, pool_id: str, ref: str, stream: str, now_ms: int) -> None:
        """See PoolStore."""
        await self._call("leave", pool_id, ref, stream, now_ms)

    async def lease(self, pool_id: str, holder: str, ms: int) -> int | None:
        """See PoolStore."""
        return int(await self._call("lease", pool_id, holder, ms)) or None

    async def release(self, pool_id: str, holder: str) -> None:
        """See PoolStore."""
        await self._call("release", pool_id, holder)

    async def prune(self, pool_id: str, fence: int, silent_before_ms: int, ended_before_ms: int, now_ms: int) -> None:
        """See PoolStore."""
        await self._call("prune", pool_id, fence, silent_before_ms, ended_before_ms, now_ms)

    async def look(self, pool_id: str) -> Look:
        """See PoolStore."""
        config, waiting, offers, seats, asked = await self._call("look", pool_id, LOOK_MOST)
        return Look(
            Pool.from_json(config) if config else None,
            tuple(Ticket.from_json(text) for text in waiting),
            tuple(Offer(row[0], tuple(map(Ticket.from_json, row[2:])), int(row[1])) for row in offers),
            {match: tuple(held.split(" ")[1:]) for match, held in zip(seats[::2], seats[1::2], strict=True)},
            {match: int(held.partition(" ")[0]) for match, held in zip(asked[::2], asked[1::2], strict=True)},
        )

    async def offer(
        self, pool_id: str, fence: int, match_id: str, refs: Sequence[str], now_ms: int, answer_by_ms: int = 0
    ) -> bool:
        """See PoolStore."""
        return bool(await self._call("offer", pool_id, fence, match_id, now_ms, answer_by_ms, *refs))

    async def answer(self, pool_id: str, ref: str, match_id: str, accept: bool, now_ms: int) -> Status | None:
        """See PoolStore."""
        row = await self._call("answer", pool_id, ref, match_id, int(accept), now_ms)
        return _status(row) if row else None

    async def expire(self, pool_id: str, match_id: str, now_ms: int) -> list[str]:
        """See PoolStore."""
        return list(await self._call("expire", pool_id, match_id, now_ms))

    async def waited(self, pool_id: str, waits_ms: Sequence[int]) -> None:
        """See PoolStore."""
        if not waits_ms:
            return
        key = _waits(pool_id)
        async with reached(), self._client.pipeline(transaction=True) as pipe:
            pipe.rpush(key, *waits_ms)
            pipe.ltrim(key, -WAITS_MOST, -1)
            pipe.pexpire(key, _KEEP_MS)
            await pipe.execute()

    async def waits(self, pool_id: str) -> list[int]:
        """See PoolStore."""
        async with reached():
            return [int(text) for text in await self._client.lrange(_waits(pool_id), 0, -1)]

    async def ready(self, pool_id: str, match_id: str, now_ms: int) -> None:
        """See PoolStore."""
        await self._call("ready", pool_id, match_id, now_ms)

    async def free(self, pool_id: str, matches: Sequence[str]) -> None:
        """See PoolStore."""
        await self._call("free", pool_id, *matches)

    @asynccontextmanager
    async def news(self) -> AsyncIterator[AsyncIterator[str]]:
        """See PoolStore."""
        heard = self._client.pubsub(ignore_subscribe_messages=True)
        try:
            async with reached():
                await heard.subscribe(_NEWS)
            yield _messages(heard)
        finally:
            with contextlib.suppress(RedisError, OSError):
                await heard.aclose()  # type: ignore[no-untyped-call]

    async def _call(self, name: str, pool_id: str, *args: str | int) -> Any:
        keys = [f"{{p:{pool_id}}}:{part}" for part in _PARTS]
        return await self._functions.call(f"kt_pool_{name}_2", keys, *args)


async def _messages(heard: Any) -> AsyncIterator[str]:
    while True:
        async with reached():
            message = await heard.get_message(ignore_subscribe_messages=True, timeout=_NEWS_WAIT_S)
        if message is not None:
            yield message["data"]


def _waits(pool_id: str) -> str:
    return f"{{p:{pool_id}}}:waits"


def _status(row: Sequence[Any]) -> Status:
    state, match_id, seat, waiting, answer_by_ms, accepted = row
    return Status(State(state), match_id, int(seat), int(waiting), int(answer_by_ms), int(accepted))
