"""Tournaments in Redis. All keys of one lie in one slot.

{t:<id>}:log      stream: events, ids `NUMBER-0` from 1, field b
{t:<id>}:seed     the seed, in hex; for the runner alone
{t:<id>}:state    hash: fence (the newest runner's number), wish
{t:<id>}:held     set of matches whose records are withheld
kt:tournaments    sorted set: ids by the time of submission;  kt:tournaments:active  set of those that are not closed
{runner}:lease, {runner}:fence
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

from redis.asyncio import Redis

from ..functions import Functions, reached
from .ids import tournament_of
from .store import Overtaken

_ALL, _ACTIVE = "kt:tournaments", "kt:tournaments:active"
_LEASE, _FENCE = "{runner}:lease", "{runner}:fence"


class RedisTournamentStore:
    """A TournamentStore. The client is the caller's to close."""

    def __init__(self, client: Redis, replicas: int = 0) -> None:
        self._client = client
        self._functions = Functions(client, "tournament/tournament.lua", replicas)

    async def create(self, tournament: str, seed: bytes, first: str) -> bool:
        """See TournamentStore. Listed before it is there: one that is listed and empty is passed over."""
        async with reached():
            await self._client.zadd(_ALL, {tournament: time.time()}, nx=True)
        keys = [_key(tournament, part) for part in ("log", "seed", "state")]
        made = bool(await self._functions.call("kt_tournament_create_1", keys, seed.hex(), first))
        if made or not await self._closed(tournament):
            async with reached():
                await self._client.sadd(_ACTIVE, tournament)
        return made

    async def _closed(self, tournament: str) -> bool:
        async with reached():
            rows: Any = await self._client.xrevrange(_key(tournament, "log"), count=1)
        return bool(rows) and '"kind":"closed"' in rows[0][1]["b"]

    async def append(
        self,
        tournament: str,
        fence: int,
        length: int,
        texts: Sequence[str],
        hold: Iterable[str] = (),
        release: Iterable[str] = (),
    ) -> None:
        """See TournamentStore."""
        keys = [_key(tournament, part) for part in ("log", "state", "held")]
        held = list(hold)
        args: list[str | int] = [fence, length, len(texts), *texts, len(held), *held, *release]
        done = int(await self._functions.call("kt_tournament_append_1", keys, *args))
        if done != 1:
            raise Overtaken("another runner has this tournament" if done == 0 else f"the log is not of {length} events")

    async def read(self, tournament: str, after: int = 0) -> list[str]:
        """See TournamentStore."""
        async with reached():
            rows: Any = await self._client.xrange(_key(tournament, "log"), f"{after + 1}-0", "+")
        return [fields["b"] for _, fields in rows]

    async def seed(self, tournament: str) -> bytes | None:
        """See TournamentStore."""
        async with reached():
            text = await self._client.get(_key(tournament, "seed"))
        return bytes.fromhex(str(text)) if text else None

    async def tournaments(self) -> list[str]:
        """See TournamentStore."""
        async with reached():
            found: Any = await self._client.zrange(_ALL, 0, -1, desc=True)
        return list(found)

    async def active(self) -> list[str]:
        """See TournamentStore."""
        async with reached():
            found: Any = await self._client.smembers(_ACTIVE)
        return sorted(found)

    async def retire(self, tournament: str) -> None:
        """See TournamentStore."""
        async with reached():
            await self._client.srem(_ACTIVE, tournament)

    async def wish(self, tournament: str, wish: str) -> None:
        """See TournamentStore."""
        async with reached():
            await self._client.hset(_key(tournament, "state"), "wish", wish)

    async def wished(self, tournament: str) -> str:
        """See TournamentStore."""
        async with reached():
            return str(await self._client.hget(_key(tournament, "state"), "wish") or "")

    async def withheld(self, match: str) -> bool:
        """See TournamentStore."""
        tournament = tournament_of(match)
        if not tournament:
            return False
        async with reached():
            return bool(await self._client.sismember(_key(tournament, "held"), match))

    async def lease(self, owner: str, ms: int) -> int:
        """See TournamentStore."""
        return int(await self._functions.call("kt_runner_lease_1", [_LEASE, _FENCE], owner, ms))

    async def leave(self, owner: str) -> None:
        """See TournamentStore."""
        await self._functions.call("kt_runner_leave_1", [_LEASE], owner)


def _key(tournament: str, part: str) -> str:
    return f"{{t:{tournament}}}:{part}"
