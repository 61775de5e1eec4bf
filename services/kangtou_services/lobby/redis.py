"""The lobby in Redis. All keys of one table lie in one slot and are listed in lobby.lua; besides them, each alone:

kt:tables          sorted set: places (`time:id`) of all tables
kt:tables:notices  stream: t = id of a table that has changed
kt:tables:sweeper  who sweeps
{c:<code>}:table   the id of a private table
{o:<account>}:open sorted set: tables that count to an account, by when they were opened

A notice follows its change on the same connection (on a cluster: when that is answered), so that whoever reads the
notices before a list misses nothing that was answered before. If a process dies between the two, the notice is lost:
boards read everything anew now and then.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import astuple
from typing import Any, cast

from redis.asyncio import Redis

from ..functions import Functions, reached
from .base import DAY_MS, Answer, Held, table_id_of
from .table import Table, TableState

_LIST, _NOTICES, _SWEEPER = "kt:tables", "kt:tables:notices", "kt:tables:sweeper"
_NOTICES_MOST = 10_000
_KEEP_MS = {
    TableState.OPEN: DAY_MS,
    TableState.FULL: DAY_MS,
    TableState.PLAYING: 7 * DAY_MS,
    TableState.OVER: DAY_MS,
    TableState.CLOSED: DAY_MS // 24,
}


class RedisLobbyStore:
    """A LobbyStore. The client is the caller's to close."""

    def __init__(self, client: Redis, replicas: int = 0) -> None:
        self._client = client
        self._functions = Functions(client, "lobby/lobby.lua", replicas)

    async def create(self, table: Table) -> bool:
        """See LobbyStore. It is listed first: a sweep takes a place without a table off the list again."""
        keep = _KEEP_MS[table.state]
        async with reached(), self._client.pipeline(transaction=False) as pipe:
            pipe.zadd(_LIST, {table.place: 0})
            if table.terms.code:
                pipe.set(_code_key(table.terms.code), table.table_id, px=8 * DAY_MS)
            await pipe.execute()
        return await self._change("kt_table_create_2", table.table_id, table.to_json(), keep)

    async def read(self, table_id: str, command: str) -> Held | None:
        """See LobbyStore."""
        doc_key, commands_key = _keys(table_id)
        async with reached(), self._client.pipeline(transaction=False) as pipe:
            pipe.hmget(doc_key, "v", "doc")
            pipe.hget(commands_key, command)
            pipe.hlen(commands_key)
            row, before, count = await pipe.execute()
        table = _table(row)
        if table is None:
            return None
        return Held(table, None if before is None else Answer(*json.loads(before)), int(count))

    async def put(self, table: Table, changed: bool, command: str = "", answer: Answer | None = None) -> bool:
        """See LobbyStore."""
        said = "" if answer is None else json.dumps(astuple(answer), ensure_ascii=False)
        doc = table.to_json() if changed else ""
        args = (table.version, doc, _KEEP_MS[table.state], command, said)
        return await self._change("kt_table_put_2", table.table_id, *args)

    async def tables(self, table_ids: Sequence[str]) -> list[Table | None]:
        """See LobbyStore."""
        if not table_ids:
            return []
        async with reached(), self._client.pipeline(transaction=False) as pipe:
            for table_id in table_ids:
                pipe.hmget(_keys(table_id)[0], "v", "doc")
            rows = await pipe.execute()
        return [_table(row) for row in rows]

    async def forget(self, table: Table) -> bool:
        """See LobbyStore."""
        gone = await self._change("kt_table_forget_2", table.table_id, table.version)
        if gone and table.terms.code:
            async with reached():
                await self._client.delete(_code_key(table.terms.code))
        return gone

    async def places(self, after: str, size: int) -> list[str]:
        """See LobbyStore."""
        async with reached():
            found: Any = await self._client.zrevrangebylex(_LIST, f"({after}" if after else "+", "-", 0, size)
        return cast("list[str]", found)

    async def unlist(self, places: Iterable[str]) -> None:
        """See LobbyStore."""
        gone = list(places)
        async with reached(), self._client.pipeline(transaction=False) as pipe:
            for place in gone:
                pipe.zrem(_LIST, place)
            await pipe.execute()
            for place in gone:
                pipe.execute_command(*_notice(table_id_of(place)))
            await pipe.execute()

    async def by_code(self, code: str) -> str | None:
        """See LobbyStore."""
        async with reached():
            return cast("str | None", await self._client.get(_code_key(code)))

    async def hold(self, account_id: str, table_id: str, most: int, now_ms: int) -> bool:
        """See LobbyStore."""
        args = (table_id, most, now_ms, 8 * DAY_MS)
        return bool(await self._functions.call("kt_table_hold_2", [_open_key(account_id)], *args))

    async def held(self, account_id: str) -> dict[str, int]:
        """See LobbyStore."""
        async with reached():
            rows: Any = await self._client.zrange(_open_key(account_id), 0, -1, withscores=True)
        return {str(row[0]): int(row[1]) for row in rows}

    async def release(self, account_id: str, table_ids: Sequence[str]) -> None:
        """See LobbyStore."""
        if table_ids:
            async with reached():
                await self._client.zrem(_open_key(account_id), *table_ids)

    async def cursor(self) -> str:
        """See LobbyStore."""
        async with reached():
            rows: Any = await self._client.xrevrange(_NOTICES, count=1)
        return str(rows[0][0]) if rows else "0-0"

    async def notices(self, cursor: str, most: int) -> tuple[list[str] | None, str]:
        """See LobbyStore."""
        async with reached(), self._client.pipeline(transaction=False) as pipe:
            pipe.xrange(_NOTICES, f"({cursor}", "+", count=most + 1)
            pipe.xrange(_NOTICES, "-", "+", count=1)
            rows, first = await pipe.execute()
        lost = cursor != "0-0" and (not first or _order(str(first[0][0])) > _order(cursor))
        if lost or len(rows) > most:
            return None, cursor
        newer = [fields["t"] for _, fields in rows]
        return list(dict.fromkeys(newer)), str(rows[-1][0]) if rows else cursor

    async def wait(self, cursor: str, ms: int) -> bool:
        """See LobbyStore."""
        async with reached():
            return bool(await self._client.xread({_NOTICES: cursor}, count=1, block=ms))

    async def lead(self, holder: str, ms: int) -> bool:
        """See LobbyStore."""
        async with reached():
            before = await self._client.set(_SWEEPER, holder, px=ms, nx=True, get=True)
        return before is None or before == holder

    async def _change(self, function: str, table_id: str, *args: str | int) -> bool:
        then = [_notice(table_id)]
        return bool(await self._functions.call(function, _keys(table_id), *args, then=then))


def _keys(table_id: str) -> tuple[str, str]:
    return f"{{t:{table_id}}}:table", f"{{t:{table_id}}}:commands"


def _code_key(code: str) -> str:
    return f"{{c:{code}}}:table"


def _open_key(account_id: str) -> str:
    return f"{{o:{account_id}}}:open"


def _notice(table_id: str) -> tuple[str | int, ...]:
    return ("XADD", _NOTICES, "MAXLEN", "~", _NOTICES_MOST, "*", "t", table_id)


def _order(notice_id: str) -> tuple[int, int]:
    ms, number = notice_id.split("-")
    return int(ms), int(number)


def _table(row: Sequence[str | None]) -> Table | None:
    version, doc = row
    version, doc = row
    return None if version is None or doc is None else Table.from_json(doc, int(version))
