"""Orders in Redis.

kt:maintenance    JSON, while the server is under maintenance
kt:drain:<id>     `drain` or `stop`; forgotten after a day
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from redis.asyncio import Redis

from ..functions import reached
from .base import KEEP_MS, Maintenance

_MAINTENANCE = "kt:maintenance"


class RedisOrders:
    """An Orders. The client is the caller's to close."""

    def __init__(self, client: Redis) -> None:
        self._client = client

    async def maintenance(self) -> Maintenance | None:
        """See Orders."""
        async with reached():
            text = await self._client.get(_MAINTENANCE)
        return None if text is None else Maintenance.from_json(str(text))

    async def set_maintenance(self, wanted: Maintenance | None) -> None:
        """See Orders."""
        async with reached():
            if wanted is None:
                await self._client.delete(_MAINTENANCE)
            else:
                await self._client.set(_MAINTENANCE, wanted.to_json())

    async def order(self, member_id: str, how: str) -> None:
        """See Orders."""
        async with reached():
            if how:
                await self._client.set(f"kt:drain:{member_id}", how, px=KEEP_MS)
            else:
                await self._client.delete(f"kt:drain:{member_id}")

    async def ordered(self, member_ids: Iterable[str]) -> Mapping[str, str]:
        """See Orders."""
        names = list(member_ids)
        if not names:
            return {}
        async with reached(), self._client.pipeline(transaction=False) as pipe:
            for name in names:
                pipe.get(f"kt:drain:{name}")
            found = await pipe.execute()
        return {name: str(how) for name, how in zip(names, found, strict=True) if how}
