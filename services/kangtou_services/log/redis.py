"""The log on Redis Streams and what lies beside it (Redis 7, Valkey 8 and newer).

{m:<match>}:log          stream; fields b (body), h (chain), r (rounds, with commas)
{m:<match>}:owner        who claimed it last
{m:<match>}:left         since when nobody plays it (Unix ms): it was handed on, or comes from a backup
{m:<match>}:agreement    JSON text
{m:<match>}:seed         hex
{m:<match>}:deaths       how often an actor died while it was handling this match
{m:<match>}:sync         written so that there is something to wait for on replicas; expires in a second
kt:live                  set of the matches that are not retired; {kt:live}:sync likewise
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

from redis.asyncio import Redis
from redis.exceptions import RedisError

from ..observe.log import LogMeter
from ..redis_client import call
from .base import Entry, LogUnavailable
from .disks import TOO_FEW, Disks
from .line import Patience
from .sharded import commit_of
from .stream import LIVE, LIVE_SYNC, entry_of, key, rounds_text

_PAGE = 500


class RedisLog:
    """An EventLog. The client is the caller's to close; appends have a connection of their own."""

    def __init__(
        self,
        client: Redis,
        disks: Disks | None = None,
        patience: Patience | None = None,
        meter: LogMeter | None = None,
    ) -> None:
        self._client = client
        self._disks = disks or Disks()
        self._commit = commit_of(client, self._disks, patience or Patience(), meter)

    async def claim(self, match: str, owner: str, tail: Entry | None, marker: Entry) -> bool:
        """See EventLog."""
        keys = [key(match, part) for part in ("log", "owner", "left")]
        expected = (tail.id, tail.chain) if tail else ("", "")
        fields = (marker.body, marker.chain, rounds_text(marker))
        async with _reached():
            args = (*expected, owner, marker.id, *fields)
            return await _durable(self._client, self._disks, match, "kt_claim_2", keys, *args) == 1

    async def append(self, match: str, entry: Entry) -> None:
        """See EventLog."""
        await self._commit.append(match, entry)

    async def tail(self, match: str) -> Entry | None:
        """See EventLog."""
        found = await self._page(match, "+", 1)
        return found[0] if found else None

    async def read(self, match: str, first_seq: int = 0, last_seq: int | None = None) -> list[Entry]:
        """See EventLog. Reads backwards in pages: a loader wants the end of a log."""
        entries: list[Entry] = []
        before = "+"
        while page := await self._page(match, before, _PAGE):
            entries.extend(page)
            if page[-1].seq <= first_seq or len(page) < _PAGE:
                break
            before = f"({page[-1].id}"
        entries.reverse()
        return [entry for entry in entries if entry.seq >= first_seq and (last_seq is None or entry.seq <= last_seq)]

    async def after(self, match: str, entry_id: str, count: int) -> list[Entry]:
        """See EventLog."""
        async with _reached():
            first = f"({entry_id}" if entry_id else "-"
            rows: Any = await self._client.xrange(key(match, "log"), min=first, count=count)
        return [entry_of(row) for row in rows or ()]

    async def owner(self, match: str) -> str | None:
        """See EventLog."""
        async with _reached():
            return cast("str | None", await self._client.get(key(match, "owner")))

    async def owners(self, matches: list[str]) -> list[str | None]:
        """See EventLog."""
        if not matches:
            return []
        async with _reached(), self._client.pipeline(transaction=False) as pipe:
            for match in matches:
                pipe.get(key(match, "owner"))
            return cast("list[str | None]", await pipe.execute())

    async def hand_on(self, match: str, owner: str, to: str, now_ms: int) -> bool:
        """See EventLog."""
        keys = [key(match, "owner"), key(match, "left")]
        async with _reached():
            args = (owner, to, str(now_ms))
            return await _durable(self._client, self._disks, match, "kt_hand_on_1", keys, *args) == 1

    async def put_down(self, match: str) -> int | None:
        """See EventLog."""
        async with _reached():
            found = cast("str | None", await self._client.get(key(match, "left")))
        return None if found is None else int(found)

    async def incarnation(self) -> str:
        """The run id of the server that appends go to: another one after a restart or a failover.

        Appends are safe without asking: after every new connection the tail is compared before anything is written.
        """
        return await self._commit.incarnation()

    async def close(self) -> None:
        """See EventLog: waits for appends that were begun."""
        await self._commit.close()

    async def _page(self, match: str, before: str, count: int) -> list[Entry]:
        """Entries backwards from an id."""
        async with _reached():
            rows: Any = await self._client.xrevrange(key(match, "log"), max=before, count=count)
        return [entry_of(row) for row in rows or ()]


class RedisMatchStore:
    """A MatchStore. The client is the caller's to close."""

    def __init__(self, client: Redis, disks: Disks | None = None) -> None:
        self._client = client
        self._disks = disks or Disks()

    async def create(self, match: str, agreement: str, seed: bytes) -> bool:
        """See MatchStore. A repeat after a crash between the two steps lists the match as live."""
        keys = [key(match, "agreement"), key(match, "seed")]
        async with _reached():
            made = await _durable(self._client, self._disks, match, "kt_create_1", keys, agreement, seed.hex())
            if made >= 0:  # not one that has been retired meanwhile
                await self._list_as_live(match)
        return made == 1

    async def _list_as_live(self, match: str) -> None:
        async with self._client.pipeline(transaction=False) as pipe:
            for command in [("SADD", LIVE, match), *self._disks.wait(LIVE_SYNC)]:
                pipe.execute_command(*command)
            replies = await pipe.execute()
        if not self._disks.satisfied(replies[-1]):
            raise LogUnavailable(TOO_FEW)

    async def agreement(self, match: str) -> str | None:
        """See MatchStore."""
        async with _reached():
            return cast("str | None", await self._client.get(key(match, "agreement")))

    async def seed(self, match: str) -> bytes | None:
        """See MatchStore."""
        async with _reached():
            text = cast("str | None", await self._client.get(key(match, "seed")))
        return None if text is None else bytes.fromhex(text)

    async def live(self) -> list[str]:
        """See MatchStore; sorted."""
        async with _reached():
            return sorted(cast("set[str]", await self._client.smembers(LIVE)))

    async def retire(self, match: str, keep_ms: int) -> None:
        """See MatchStore. A repeat changes nothing, so that a late one cannot keep things longer."""
        async with _reached():
            async with self._client.pipeline(transaction=True) as pipe:
                for part in ("log", "owner", "left", "seed", "agreement", "deaths"):
                    pipe.execute_command("PEXPIRE", key(match, part), keep_ms, "NX")
                await pipe.execute()
            await self._client.srem(LIVE, match)

    async def blame(self, match: str) -> int:
        """See MatchStore."""
        async with _reached():
            return int(await self._client.incr(key(match, "deaths")))

    async def deaths(self, match: str) -> int:
        """See MatchStore."""
        async with _reached():
            return int(await self._client.get(key(match, "deaths")) or 0)

    async def pardon(self, match: str) -> None:
        """See MatchStore."""
        async with _reached():
            await self._client.delete(key(match, "deaths"))


async def _durable(client: Redis, disks: Disks, match: str, name: str, keys: list[str], *args: str) -> int:
    """Call a function that writes; its reply, once the disks that were promised have it."""
    replies = await call(client, name, keys, *args, then=disks.wait(key(match, "sync")))
    if not disks.satisfied(replies[-1]):
        raise LogUnavailable(TOO_FEW)
    return int(replies[0])


@asynccontextmanager
async def _reached() -> AsyncIterator[None]:
    """Whatever Redis fails with becomes LogUnavailable."""
    try:
        yield
    except (RedisError, OSError) as no:
        raise LogUnavailable(str(no) or type(no).__name__) from no
