"""Declining matches that were found: the first time costs nothing, then one waits before queueing again.

The wait doubles with each time, within an hour of the last: 30 s, a minute, two, at most a quarter of an hour.

Redis keys: {d:<account>}   hash: count, until (Unix ms), match:<match> -> 1
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Protocol

from redis.asyncio import Redis

from ..functions import Functions, reached

REMEMBER_MS = 3_600_000
FIRST_MS, MOST_MS = 30_000, 900_000


def wait_ms(count: int) -> int:
    """After so many declined matches within an hour of one another."""
    return 0 if count < 2 else min(MOST_MS, FIRST_MS << min(count - 2, 16))


class Penalties(Protocol):
    """All methods raise StoreUnavailable. Each is one step; a match counts once."""

    async def declined(self, account_id: str, match_id: str, now_ms: int) -> int:
        """Count a declined match; until when the account waits (Unix ms)."""
        ...

    async def until(self, account_id: str, now_ms: int) -> int:
        """Until when it waits (Unix ms); 0: it need not."""
        ...


@dataclass(slots=True)
class _Held:
    matches: set[str] = field(default_factory=set)
    until_ms: int = 0
    last_ms: int = 0


class MemoryPenalties:
    """Penalties in this process."""

    def __init__(self) -> None:
        self._held: dict[str, _Held] = {}

    async def declined(self, account_id: str, match_id: str, now_ms: int) -> int:
        """See Penalties."""
        await asyncio.sleep(0)
        self._held = {name: it for name, it in self._held.items() if it.last_ms > now_ms - REMEMBER_MS}
        held = self._held.setdefault(account_id, _Held(last_ms=now_ms))
        if match_id not in held.matches:
            held.matches.add(match_id)
            held.last_ms, held.until_ms = now_ms, now_ms + wait_ms(len(held.matches))
        return held.until_ms

    async def until(self, account_id: str, now_ms: int) -> int:
        """See Penalties."""
        await asyncio.sleep(0)
        held = self._held.get(account_id)
        return held.until_ms if held and held.until_ms > now_ms else 0


class RedisPenalties:
    """Penalties in Redis. The client is the caller's to close."""

    def __init__(self, client: Redis, replicas: int = 0) -> None:
        self._client = client
        self._functions = Functions(client, "matchmaking/penalties.lua", replicas)

    async def declined(self, account_id: str, match_id: str, now_ms: int) -> int:
        """See Penalties."""
        args = (match_id, now_ms, REMEMBER_MS, FIRST_MS, MOST_MS)
        return int(await self._functions.call("kt_declined_1", [_key(account_id)], *args))

    async def until(self, account_id: str, now_ms: int) -> int:
        """See Penalties."""
        async with reached():
            until = int(await self._client.hget(_key(account_id), "until") or 0)
        return until if until > now_ms else 0


def _key(account_id: str) -> str:
    return f"{{d:{account_id}}}"
