"""Parties of two, who queue as partners: their store, and what it is asked.

Redis keys: {y:<code>}   hash: pool, members (with a space), over (1), ref:<account> -> its last ticket in the pool
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Protocol, cast

from redis.asyncio import Redis

from ..functions import Functions, reached
from .base import Pool

KEEP_MS = 2 * 3_600_000  # since it was last used
SIZE = 2


class NoParty(StrEnum):
    """Why a party does not take somebody: the codes of the refusals."""

    UNKNOWN = "unknown_party"
    OVER = "party_over"
    FULL = "party_full"
    STRANGER = "not_in_party"
    ALONE = "party_alone"


@dataclass(frozen=True, slots=True)
class Party:
    """Who queues together, in which pool. `refs`: the tickets that they have had there last, by account."""

    code: str
    pool: Pool
    members: tuple[str, ...]
    over: bool = False
    refs: Mapping[str, str] = field(default_factory=dict)


class PartyStore(Protocol):
    """All methods raise StoreUnavailable. Each is one step and may be repeated."""

    async def create(self, code: str, pool: Pool, account_id: str) -> None:
        """A new party; nothing if there is one of that code."""
        ...

    async def find(self, code: str) -> Party | None:
        """One party, also one that is over, for as long as it is kept."""
        ...

    async def join(self, code: str, account_id: str) -> Party | NoParty:
        """Become the second of it. UNKNOWN, OVER, FULL."""
        ...

    async def enter(self, code: str, account_id: str, ref: str) -> Party | NoParty:
        """A member queues with a ticket. UNKNOWN, OVER, STRANGER, ALONE."""
        ...

    async def leave(self, code: str, account_id: str) -> Party | NoParty:
        """The party is over, for both. UNKNOWN, STRANGER."""
        ...


class MemoryPartyStore:
    """Parties in this process; the oldest are forgotten when there are many."""

    MOST = 10_000

    def __init__(self) -> None:
        self._held: dict[str, Party] = {}

    async def create(self, code: str, pool: Pool, account_id: str) -> None:
        """See PartyStore."""
        await asyncio.sleep(0)
        self._held.setdefault(code, Party(code, pool, (account_id,)))
        if len(self._held) > self.MOST:
            del self._held[next(iter(self._held))]

    async def find(self, code: str) -> Party | None:
        """See PartyStore."""
        await asyncio.sleep(0)
        return self._held.get(code)

    async def join(self, code: str, account_id: str) -> Party | NoParty:
        """See PartyStore."""
        await asyncio.sleep(0)
        held = self._held.get(code)
        if held is None:
            return NoParty.UNKNOWN
        if held.over:
            return NoParty.OVER
        if account_id in held.members:
            return held
        if len(held.members) == SIZE:
            return NoParty.FULL
        return self._keep(replace(held, members=(*held.members, account_id)))

    async def enter(self, code: str, account_id: str, ref: str) -> Party | NoParty:
        """See PartyStore."""
        await asyncio.sleep(0)
        held = self._held.get(code)
        if held is None:
            return NoParty.UNKNOWN
        if account_id not in held.members:
            return NoParty.STRANGER
        if held.over:
            return NoParty.OVER
        if len(held.members) < SIZE:
            return NoParty.ALONE
        return self._keep(replace(held, refs={**held.refs, account_id: ref}))

    async def leave(self, code: str, account_id: str) -> Party | NoParty:
        """See PartyStore."""
        await asyncio.sleep(0)
        held = self._held.get(code)
        if held is None:
            return NoParty.UNKNOWN
        if account_id not in held.members:
            return NoParty.STRANGER
        return self._keep(replace(held, over=True))

    def _keep(self, party: Party) -> Party:
        self._held[party.code] = party
        return party


class RedisPartyStore:
    """Parties in Redis. The client is the caller's to close."""

    def __init__(self, client: Redis, replicas: int = 0) -> None:
        self._client = client
        self._functions = Functions(client, "matchmaking/parties.lua", replicas)

    async def create(self, code: str, pool: Pool, account_id: str) -> None:
        """See PartyStore."""
        await self._functions.call("kt_party_create_1", [_key(code)], pool.to_json(), account_id, KEEP_MS)

    async def find(self, code: str) -> Party | None:
        """See PartyStore."""
        async with reached():
            return _party(code, cast("dict[str, str]", await self._client.hgetall(_key(code))))

    async def join(self, code: str, account_id: str) -> Party | NoParty:
        """See PartyStore."""
        return await self._asked("join", code, account_id, SIZE, KEEP_MS)

    async def enter(self, code: str, account_id: str, ref: str) -> Party | NoParty:
        """See PartyStore."""
        return await self._asked("enter", code, account_id, ref, SIZE, KEEP_MS)

    async def leave(self, code: str, account_id: str) -> Party | NoParty:
        """See PartyStore."""
        return await self._asked("leave", code, account_id)

    async def _asked(self, name: str, code: str, *args: str | int) -> Party | NoParty:
        """The function gives the code of a refusal, or the party's fields."""
        row = await self._functions.call(f"kt_party_{name}_1", [_key(code)], *args)
        if len(row) == 1:
            return NoParty(row[0])
        return _party(code, dict(zip(row[::2], row[1::2], strict=True))) or NoParty.UNKNOWN


def _key(code: str) -> str:
    return f"{{y:{code}}}"


def _party(code: str, row: Mapping[str, str]) -> Party | None:
    if not row:
        return None
    refs = {name.removeprefix("ref:"): ref for name, ref in row.items() if name.startswith("ref:")}
    return Party(code, Pool.from_json(row["pool"]), tuple(row["members"].split(" ")), "over" in row, refs)
