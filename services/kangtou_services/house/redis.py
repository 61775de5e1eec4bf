"""Needs in Redis, by functions of their own: house.lua."""

from __future__ import annotations

from collections.abc import Sequence

from redis.asyncio import Redis

from ..functions import Functions, reached
from .needs import KEEP_MS, OPEN_MOST, Kind, Look, Need, Outcome, Worker

_NAMES = "needs groups touched open claims leases ends declined bound binding order".split()
_KEYS = [f"{{house}}:{name}" for name in _NAMES]
_CLAIMS, _LEASES = _KEYS[4], _KEYS[5]


class RedisNeeds:
    """A NeedStore. The client is the caller's to close."""

    def __init__(self, client: Redis, replicas: int = 0) -> None:
        self._client = client
        self._functions = Functions(client, "house/house.lua", replicas)
        self._often = Functions(client, "house/house.lua")  # leases: nothing is lost with them

    async def put(self, group: str, number: int, needs: Sequence[Need], now_ms: int) -> bool:
        """See NeedStore."""
        args: list[str | int] = [group, number, now_ms]
        for need in needs:
            bound: tuple[str, int] = (need.place, need.seat) if need.kind is Kind.DELEGATE else ("-", -1)
            args += [need.need_id, need.until_ms, need.only or "-", *bound, need.number, need.to_json()]
        return bool(await self._functions.call("kt_house_put_1", _KEYS, *args))

    async def end(self, group: str, now_ms: int) -> None:
        """See NeedStore."""
        await self._functions.call("kt_house_end_1", _KEYS, group, now_ms)

    async def look(self, workers: Sequence[Worker], now_ms: int, lease_ms: int) -> Look:
        """See NeedStore."""
        keys = [worker.key for worker in workers]
        args: list[str | int] = [now_ms, now_ms + lease_ms, KEEP_MS, OPEN_MOST, *keys]
        first, *held = await self._often.call("kt_house_look_1", _KEYS, *args)
        return Look(_needs(first), {key: _needs(texts) for key, texts in zip(keys, held, strict=True)})

    async def claim(self, need: Need, worker: Worker, now_ms: int, lease_ms: int) -> bool:
        """See NeedStore."""
        args = (need.need_id, worker.key, now_ms, now_ms + lease_ms, KEEP_MS)
        return bool(await self._functions.call("kt_house_claim_1", _KEYS, *args))

    async def settle(self, need_id: str, worker: Worker, outcome: Outcome, now_ms: int, number: int = -1) -> bool:
        """See NeedStore."""
        args = (need_id, worker.key, outcome.value, now_ms, KEEP_MS, number)
        return bool(await self._functions.call("kt_house_settle_1", _KEYS, *args))

    async def linger(self, worker: Worker, now_ms: int, ms: int) -> None:
        """See NeedStore."""
        await self._often.call("kt_house_linger_1", _KEYS, worker.key, now_ms + ms)

    async def account_of(self, need_id: str, now_ms: int) -> str:
        """See NeedStore."""
        async with reached(), self._client.pipeline(transaction=True) as pipe:
            pipe.hget(_CLAIMS, need_id)
            pipe.zscore(_LEASES, need_id)
            worker, until_ms = await pipe.execute()
        if worker is None or until_ms is None or until_ms <= now_ms:
            return ""
        return str(worker).partition("/")[0]


def _needs(texts: Sequence[str]) -> tuple[Need, ...]:
    return tuple(map(Need.from_json, texts))
