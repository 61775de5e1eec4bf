"""Redis: is it there, is it new enough, does it keep what we promise, does its clock agree with ours?"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import RedisError, ResponseError

from ..embedded import EmbeddedError, find_binary
from ..log.base import LogUnavailable
from ..log.promises import check
from ..redis_client import connect
from ..settings import Settings
from .finding import Finding, ok, wrong

OLDEST = {"redis": (7, 0), "valkey": (8, 0)}
SKEW_MS = 1_000  # deadlines are instants: every process must read the same clock
FULL = 0.8


async def database(settings: Settings, *, running: bool) -> AsyncIterator[Finding]:
    """All about it."""
    if not settings.redis_url:
        try:
            binary = find_binary()
        except EmbeddedError as error:
            yield wrong("redis", "redis_none", reason=str(error))
            return
        if not running:
            yield ok("redis", "redis_embedded", path=str(binary))
            return
    client = connect(settings.redis)
    try:
        async for finding in _reached(client, settings):
            yield finding
    except (RedisError, OSError, LogUnavailable) as error:
        yield wrong("redis", "redis_unreachable", url=_shown(settings.redis), reason=str(error) or type(error).__name__)
    finally:
        await client.aclose()


async def _reached(client: Redis, settings: Settings) -> AsyncIterator[Finding]:
    info: dict[str, Any] = await client.info("server")
    kind = "valkey" if info.get("server_name") == "valkey" else "redis"
    text = str(info.get("valkey_version") or info.get("redis_version"))
    if tuple(int(part) for part in text.split(".")[:2]) < OLDEST[kind]:
        yield wrong("redis", "redis_old", kind=kind, have=text, need=".".join(map(str, OLDEST[kind])))
    else:
        yield ok("redis", "found", what=f"{kind} {text}")
    kept = await check(client, replicas=settings.replicas)
    for one in kept:
        yield wrong("redis", f"redis_{one.broken}", found=one.found, wanted=one.wanted)
    if not kept:
        yield ok("redis", "redis_keeps")
    memory: dict[str, Any] = await client.info("memory")
    most, used = int(memory.get("maxmemory", 0)), int(memory.get("used_memory", 0))
    if most and used > FULL * most:
        yield wrong("redis", "redis_full", used=used >> 20, most=most >> 20)
    async for finding in _doors(client):
        yield finding
    yield await _clock(client)


async def _doors(client: Redis) -> AsyncIterator[Finding]:
    """Whether strangers are let in."""
    try:
        held: Any = await client.config_get("bind", "requirepass", "port")
    except ResponseError:
        return  # it may not be read, which has been said
    wide = any(not place.lstrip("-").startswith(("127.", "::1", "localhost")) for place in held["bind"].split())
    if held["port"] != "0" and wide and not held["requirepass"]:
        yield wrong("redis", "redis_open", bind=held["bind"])


async def _clock(client: Redis) -> Finding:
    """The best of three: half of the round trip is the error."""
    best, skew = float("inf"), 0.0
    for _ in range(3):
        before = time.time()
        seconds, micros = await client.time()
        after = time.time()
        if after - before < best:
            best, skew = after - before, seconds + micros / 1e6 - (before + after) / 2
    off_ms = int(max(0.0, abs(skew) - best / 2) * 1000)
    return wrong("clock", "clock_off", ms=off_ms) if off_ms > SKEW_MS else ok("clock", "clock_near", ms=off_ms)


def _shown(url: str) -> str:
    """Without a password."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}"
