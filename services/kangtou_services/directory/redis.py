"""The directory in Redis.

kt:actor:<id>     JSON, expires ALIVE_MS after the last heartbeat      kt:gateway:<id>   likewise
kt:actors         set of ids                                           kt:gateways       likewise
kt:beat:<id>      wall clock of the last heartbeat in ms; kept for a day
kt:graves         sorted set: who was declared dead, by time; kept for a day
kt:dead           channel: their ids, as a wake-up; what counts is kt:graves
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from redis.asyncio import Redis
from redis.asyncio.client import PubSub
from redis.exceptions import RedisError

from .base import ALIVE_MS, KEEP_BEAT_MS, Actor, DirectoryUnavailable, Gateway, known_fields, to_json
from .watch import View, deaths

_FORGET_MS = 60_000  # a silent actor stays listed for this long, so that all who watch notice


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000


class RedisDirectory:
    """A Directory. The client is the caller's to close."""

    def __init__(self, client: Redis, wall_ms: Callable[[], int] = _wall_ms) -> None:
        self._client = client
        self._wall_ms = wall_ms

    async def register(self, actor: Actor) -> bool:
        """See Directory."""
        dead = (await self._beat("actor", actor))[-1] is not None
        if dead:
            await self._remove("actor", actor.id)
        return not dead

    async def leave(self, actor_id: str) -> None:
        """See Directory."""
        await self._remove("actor", actor_id)

    async def living(self) -> list[Actor]:
        """See Directory."""
        ids, records, graves = await self._listed("actor")
        found = [text for name, text in zip(ids, records, strict=True) if text is not None and name not in graves]
        return [Actor(**known_fields(Actor, text)) for text in found]

    async def is_alive(self, actor_id: str) -> bool:
        """See Directory."""
        exists, grave = await self._send(("EXISTS", f"kt:actor:{actor_id}"), ("ZSCORE", "kt:graves", actor_id))
        return bool(exists) and grave is None

    async def declare_dead(self, actor_id: str) -> None:
        """See Directory."""
        now = self._wall_ms()
        await self._send(("ZADD", "kt:graves", "NX", now, actor_id))
        await self._send(
            ("DEL", f"kt:actor:{actor_id}"),
            ("SREM", "kt:actors", actor_id),
            ("PUBLISH", "kt:dead", actor_id),
            ("ZREMRANGEBYSCORE", "kt:graves", "-inf", now - KEEP_BEAT_MS),
        )

    async def last_beat(self, actor_id: str) -> int | None:
        """See Directory."""
        (beat,) = await self._send(("GET", f"kt:beat:{actor_id}"))
        return None if beat is None else int(beat)

    async def watch_dead(self) -> AsyncGenerator[str, None]:
        """See Directory. Whoever iterates should not stay away for seconds: looks are only made meanwhile."""
        source = _RedisSource(self, self._client)
        try:
            async for actor_id in deaths(source):
                yield actor_id
        finally:
            await source.close()

    async def register_gateway(self, gateway: Gateway) -> None:
        """See Directory."""
        await self._beat("gateway", gateway)

    async def leave_gateway(self, gateway_id: str) -> None:
        """See Directory."""
        await self._remove("gateway", gateway_id)

    async def gateways(self) -> list[Gateway]:
        """See Directory."""
        ids, records, _ = await self._listed("gateway")
        gone = [name for name, text in zip(ids, records, strict=True) if text is None]
        await self._forget("gateway", gone)
        return [Gateway(**known_fields(Gateway, text)) for text in records if text is not None]

    async def look(self) -> View:
        """For a watch; takes those off the list that have been silent for long."""
        ids, records, graves = await self._listed("actor")
        silent = [name for name, text in zip(ids, records, strict=True) if text is None]
        await self._forget("actor", silent)
        return View(frozenset(ids), frozenset(ids) - frozenset(silent), graves)

    async def _beat(self, kind: str, member: Actor | Gateway) -> list[Any]:
        await self._send(
            ("SET", f"kt:{kind}:{member.id}", to_json(member), "PX", ALIVE_MS),
            ("SET", f"kt:beat:{member.id}", self._wall_ms(), "PX", KEEP_BEAT_MS),
        )
        # Listed when that is there, not sooner: who is listed and silent is dead.
        return await self._send(("SADD", f"kt:{kind}s", member.id), ("ZSCORE", "kt:graves", member.id))

    async def _remove(self, kind: str, name: str) -> None:
        await self._send(("DEL", f"kt:{kind}:{name}"), ("SREM", f"kt:{kind}s", name))

    async def _listed(self, kind: str) -> tuple[list[str], list[str | None], frozenset[str]]:
        """Ids, sorted; their records, None if silent; all graves."""
        members, graves = await self._send(("SMEMBERS", f"kt:{kind}s"), ("ZRANGE", "kt:graves", 0, -1))
        ids = sorted(members)
        records = await self._send(*(("GET", f"kt:{kind}:{name}") for name in ids)) if ids else []
        return ids, records, frozenset(graves)

    async def _forget(self, kind: str, silent: list[str]) -> None:
        if not silent:
            return
        beats = await self._send(*(("GET", f"kt:beat:{name}") for name in silent))
        before = self._wall_ms() - _FORGET_MS
        old = [name for name, beat in zip(silent, beats, strict=True) if beat is None or int(beat) < before]
        if old:
            await self._send(("SREM", f"kt:{kind}s", *old))

    async def _send(self, *commands: tuple[Any, ...]) -> list[Any]:
        """Together, but not atomically, and on a cluster in no order: the keys lie in different slots."""
        async with reached(), self._client.pipeline(transaction=False) as pipe:
            for command in commands:
                pipe.execute_command(*command)
            replies: list[Any] = await pipe.execute()
        return replies


class _RedisSource:
    """Looks, with a subscription to be woken by; after a failure it makes a new one."""

    def __init__(self, directory: RedisDirectory, client: Redis) -> None:
        self._directory = directory
        self._client = client
        self._heard: PubSub | None = None

    async def look(self) -> View:
        if self._heard is None:
            async with reached():
                heard = self._client.pubsub(ignore_subscribe_messages=True)
                await heard.subscribe("kt:dead")
                self._heard = heard
        return await self._directory.look()

    async def wait(self, seconds: float) -> None:
        if self._heard is None:
            await asyncio.sleep(seconds)
            return
        until = time.monotonic() + seconds
        try:
            while (left := until - time.monotonic()) > 0:
                if await self._heard.get_message(ignore_subscribe_messages=True, timeout=left):
                    return
        except (RedisError, OSError):
            await self.close()

    async def close(self) -> None:
        heard, self._heard = self._heard, None
        if heard is not None:
            with contextlib.suppress(RedisError, OSError):
                await heard.aclose()  # type: ignore[no-untyped-call]


@asynccontextmanager
async def reached() -> AsyncIterator[None]:
    """Whatever Redis fails with becomes DirectoryUnavailable."""
    try:
        yield
    except (RedisError, OSError) as no:
        raise DirectoryUnavailable(str(no) or type(no).__name__) from no
