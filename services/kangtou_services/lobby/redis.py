"""The lobby in Redis. All keys of one table lie in one slot and are listed in lobby.lua; besides them:

kt:tables, kt:tables:<game>   sorted sets: places (`time:id`) of all tables and of those of one game
kt:tables:sweeper             who sweeps
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

from redis.asyncio import Redis

from ..agreement import Member
from ..functions import Functions, reached
from ..opening import Choice
from .base import COMMANDS_MOST, Sitting, Table, TableState, member_from_json, member_to_json, place_of

_LIST, _SWEEPER = "kt:tables", "kt:tables:sweeper"


class RedisLobbyStore:
    """A LobbyStore. The client is the caller's to close."""

    def __init__(self, client: Redis, replicas: int = 0) -> None:
        self._client = client
        self._functions = Functions(client, "lobby/lobby.lua", replicas)

    async def create(self, table_id: str, choice: Choice, now_ms: int) -> None:
        """See LobbyStore. It is listed first: a sweep takes a place without a table off the list again."""
        keys = _keys(table_id)
        async with reached():
            opened = await self._client.hget(keys[0], "opened")
        place = place_of(table_id, now_ms if opened is None else int(opened))
        async with reached(), self._client.pipeline(transaction=False) as pipe:
            for name in (_LIST, f"{_LIST}:{choice.game}"):
                pipe.zadd(name, {place: 0})
            await pipe.execute()
        await self._functions.call("kt_table_create_1", keys, choice.to_json(), choice.seats, now_ms)

    async def tables(self, table_ids: Sequence[str]) -> list[Table | None]:
        """See LobbyStore."""
        if not table_ids:
            return []
        async with reached(), self._client.pipeline(transaction=False) as pipe:
            for table_id in table_ids:
                pipe.hgetall(_keys(table_id)[0])
            rows = await pipe.execute()
        return [_table(table_id, row) if row else None for table_id, row in zip(table_ids, rows, strict=True)]

    async def sit(self, table_id: str, command_id: str, member: Member, seat: int | None, now_ms: int) -> Sitting:
        """See LobbyStore."""
        account, wanted = member.account_id, -1 if seat is None else seat
        content = f"sit {wanted} {member.commitment}"
        args = (f"{account}/{command_id}", content, COMMANDS_MOST, account, member_to_json(member), wanted, now_ms)
        return _sitting(await self._functions.call("kt_table_sit_1", _keys(table_id), *args))

    async def stand(self, table_id: str, command_id: str, account_id: str, now_ms: int) -> Sitting:
        """See LobbyStore."""
        args = (f"{account_id}/{command_id}", "stand", COMMANDS_MOST, account_id)
        return _sitting(await self._functions.call("kt_table_stand_1", _keys(table_id), *args))

    async def move(self, table_id: str, state: TableState, now_ms: int) -> None:
        """See LobbyStore."""
        await self._functions.call("kt_table_move_1", _keys(table_id), state, now_ms)

    async def remove(self, table_id: str, *, only_idle: bool) -> bool:
        """See LobbyStore."""
        return bool(await self._functions.call("kt_table_remove_1", _keys(table_id), int(only_idle)))

    async def unlist(self, place: str, games: Iterable[str]) -> None:
        """See LobbyStore."""
        async with reached(), self._client.pipeline(transaction=False) as pipe:
            for name in (_LIST, *(f"{_LIST}:{game}" for game in games)):
                pipe.zrem(name, place)
            await pipe.execute()

    async def page(self, game: str, after: str, size: int) -> list[str]:
        """See LobbyStore."""
        name = f"{_LIST}:{game}" if game else _LIST
        top = f"({after}" if after else "+"
        async with reached():
            found: Any = await self._client.zrevrangebylex(name, top, "-", start=0, num=size)
        return cast("list[str]", found)

    async def lead(self, holder: str, ms: int) -> bool:
        """See LobbyStore."""
        async with reached():
            before = await self._client.set(_SWEEPER, holder, px=ms, nx=True, get=True)
        return before is None or before == holder


def _keys(table_id: str) -> tuple[str, str]:
    return f"{{t:{table_id}}}:table", f"{{t:{table_id}}}:commands"


def _sitting(row: Sequence[Any]) -> Sitting:
    code, seat = row
    return Sitting("" if code == "ok" else code, int(seat))


def _table(table_id: str, row: dict[str, str]) -> Table:
    choice = Choice.from_json(row["choice"])
    seats = [row.get(f"s{seat}") for seat in range(choice.seats)]
    members = tuple(None if text is None else member_from_json(text) for text in seats)
    return Table(table_id, choice, TableState(row["state"]), members, int(row["opened"]), int(row["since"]))
