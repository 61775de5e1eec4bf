"""Whom an account does not want to meet. Who is blocked is not told.

Redis keys: {a:<account>}:blocks   sorted set: blocked accounts by when (Unix ms)
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Protocol, cast

from redis.asyncio import Redis

from .functions import Functions, reached

BLOCKS_MOST = 200  # of one account: tickets carry them


class Blocks(Protocol):
    """All methods raise StoreUnavailable. Each is one step and may be repeated."""

    async def block(self, account_id: str, whom: str, now_ms: int) -> bool:
        """False, and nothing has changed, if the account has blocked BLOCKS_MOST others."""
        ...

    async def unblock(self, account_id: str, whom: str) -> None:
        """Nothing happens if it was not blocked."""
        ...

    async def of(self, account_id: str) -> tuple[str, ...]:
        """Whom it has blocked, the first one first."""
        ...

    async def who_block(self, whom: str, accounts: Collection[str]) -> frozenset[str]:
        """Which of the accounts have blocked `whom`."""
        ...

    async def forget(self, account_id: str) -> None:
        """All of them, when the account is deleted."""
        ...


class MemoryBlocks:
    """Blocks in this process."""

    def __init__(self) -> None:
        self._held: dict[str, dict[str, int]] = {}

    async def block(self, account_id: str, whom: str, now_ms: int) -> bool:
        """See Blocks."""
        await asyncio.sleep(0)
        held = self._held.setdefault(account_id, {})
        if whom not in held and len(held) >= BLOCKS_MOST:
            return False
        held.setdefault(whom, now_ms)
        return True

    async def unblock(self, account_id: str, whom: str) -> None:
        """See Blocks."""
        await asyncio.sleep(0)
        self._held.get(account_id, {}).pop(whom, None)

    async def of(self, account_id: str) -> tuple[str, ...]:
        """See Blocks."""
        await asyncio.sleep(0)
        held = self._held.get(account_id, {})
        return tuple(sorted(held, key=lambda whom: (held[whom], whom)))

    async def who_block(self, whom: str, accounts: Collection[str]) -> frozenset[str]:
        """See Blocks."""
        await asyncio.sleep(0)
        return frozenset(account for account in accounts if whom in self._held.get(account, {}))

    async def forget(self, account_id: str) -> None:
        """See Blocks."""
        await asyncio.sleep(0)
        self._held.pop(account_id, None)


class RedisBlocks:
    """Blocks in Redis. The client is the caller's to close."""

    def __init__(self, client: Redis, replicas: int = 0) -> None:
        self._client = client
        self._functions = Functions(client, "blocks.lua", replicas)

    async def block(self, account_id: str, whom: str, now_ms: int) -> bool:
        """See Blocks."""
        return bool(await self._functions.call("kt_block_1", [_key(account_id)], whom, now_ms, BLOCKS_MOST))

    async def unblock(self, account_id: str, whom: str) -> None:
        """See Blocks."""
        async with reached():
            await self._client.zrem(_key(account_id), whom)

    async def of(self, account_id: str) -> tuple[str, ...]:
        """See Blocks."""
        async with reached():
            return tuple(cast("list[str]", await self._client.zrange(_key(account_id), 0, -1)))

    async def who_block(self, whom: str, accounts: Collection[str]) -> frozenset[str]:
        """See Blocks."""
        asked = list(accounts)
        async with reached(), self._client.pipeline(transaction=False) as pipe:
            for account in asked:
                pipe.zscore(_key(account), whom)
            scores = await pipe.execute() if asked else []
        return frozenset(account for account, score in zip(asked, scores, strict=True) if score is not None)

    async def forget(self, account_id: str) -> None:
        """See Blocks."""
        async with reached():
            await self._client.delete(_key(account_id))


def _key(account_id: str) -> str:
    return f"{{a:{account_id}}}:blocks"
