"""Results and ratings in Redis. All keys lie in one slot, so a step is one step on a cluster too.

{ratings}:log          stream: results, ids `POSITION-0`, field b
{ratings}:matches      hash: match -> position
{ratings}:mark         `LIFE AT`
{ratings}:ladders      set of ladder ids
{ratings}:r:<ladder>   hash: account -> mean, deviation, results, last
{ratings}:b:<ladder>   sorted set: accounts with enough results, by floor; without those that are deleted
{ratings}:gone         set: deleted accounts, which are shown nowhere
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from redis.asyncio import Redis

from ..functions import Functions, reached
from ..identity import StoreUnavailable
from .base import Mark, Row
from .values import Ladder, Result, Standing

_LOG, _MATCHES, _MARK, _LADDERS, _GONE = (
    f"{{ratings}}:{part}" for part in ("log", "matches", "mark", "ladders", "gone")
)
_RESTARTS_MOST = 10


class RedisRatingStore:
    """A RatingStore. The client is the caller's to close."""

    def __init__(self, client: Redis, replicas: int = 0) -> None:
        self._client = client
        self._functions = Functions(client, "ratings/ratings.lua", replicas)

    async def append(self, result: Result) -> int:
        """See RatingStore."""
        args = (result.match_id, result.to_json())
        return int(await self._functions.call("kt_rating_append_1", [_LOG, _MATCHES], *args))

    async def length(self) -> int:
        """See RatingStore."""
        async with reached():
            return int(await self._client.xlen(_LOG))

    async def read(self, after: int, most: int) -> list[Result]:
        """See RatingStore."""
        async with reached():
            rows: Any = await self._client.xrange(_LOG, f"({after}-0", "+", count=most)
        return [Result.from_json(fields["b"]) for _, fields in rows]

    async def mark(self) -> Mark:
        """See RatingStore."""
        async with reached():
            return _mark(cast("str | None", await self._client.get(_MARK)))

    async def standings(self, ladder: Ladder, accounts: Iterable[str]) -> dict[str, Standing]:
        """See RatingStore."""
        asked = list(accounts)
        if not asked:
            return {}
        async with reached():
            rows: Any = await self._client.hmget(_ratings(ladder), asked)
        return {account: Standing.from_text(row) for account, row in zip(asked, rows, strict=True) if row is not None}

    async def apply(self, before: Mark, at: int, changed: Mapping[Ladder, Mapping[str, Standing]]) -> bool:
        """See RatingStore."""
        ladders = list(changed)
        keys = [_MARK, _LADDERS, _GONE, *_keys(ladders)]
        args: list[str | int] = [f"{before.life} {before.at}", f"{before.life} {at}", len(ladders)]
        args += [ladder.id for ladder in ladders]
        for number, standings in enumerate(changed.values(), 1):
            for account, standing in standings.items():
                args += (number, account, standing.to_text(), repr(standing.floor) if standing.listed else "")
        return bool(await self._functions.call("kt_rating_apply_2", keys, *args))

    async def restart(self) -> None:
        """See RatingStore."""
        for _ in range(_RESTARTS_MOST):
            ladders = await self.ladders()
            keys = [_MARK, _LADDERS, *_keys(ladders)]
            if await self._functions.call("kt_rating_restart_1", keys, len(ladders)):
                return
        raise StoreUnavailable("ladders come faster than they can be forgotten")

    async def everything(self) -> tuple[Mark, dict[Ladder, dict[str, Standing]]]:
        """See RatingStore."""
        for _ in range(_RESTARTS_MOST):
            ladders = await self.ladders()
            async with reached(), self._client.pipeline(transaction=True) as pipe:
                pipe.get(_MARK)
                pipe.scard(_LADDERS)
                for ladder in ladders:
                    pipe.hgetall(_ratings(ladder))
                mark, count, *tables = await pipe.execute()
            if count == len(ladders):
                held = {
                    ladder: {account: Standing.from_text(text) for account, text in table.items()}
                    for ladder, table in zip(ladders, tables, strict=True)
                }
                return _mark(mark), held
        raise StoreUnavailable("ladders come faster than they can be read")

    async def forget(self, account_id: str) -> None:
        """See RatingStore."""
        for _ in range(_RESTARTS_MOST):
            ladders = await self.ladders()
            boards = [_board(ladder) for ladder in ladders]
            if await self._functions.call("kt_rating_forget_1", [_LADDERS, _GONE, *boards], len(ladders), account_id):
                return
        raise StoreUnavailable("ladders come faster than an account can be taken off them")

    async def board(self, ladder: Ladder, start: int, size: int) -> list[Row]:
        """See RatingStore."""
        if size < 1:
            return []
        async with reached():
            listed: Any = await self._client.zrange(
                _board(ladder), start, start + size - 1, desc=True, withscores=True, score_cast_func=float
            )
            if not listed:
                return []
            async with self._client.pipeline(transaction=False) as pipe:
                pipe.hmget(_ratings(ladder), [account for account, _ in listed])
                for _, floor in listed:
                    pipe.zcount(_board(ladder), f"({floor!r}", "+inf")
                texts, *better = await pipe.execute()
        return [
            Row(above + 1, account, Standing.from_text(text))
            for (account, _), text, above in zip(listed, texts, better, strict=True)
            if text is not None  # else forgotten meanwhile
        ]

    async def of(self, account_id: str) -> dict[Ladder, Standing]:
        """See RatingStore."""
        ladders = await self.ladders()
        if not ladders:
            return {}
        async with reached(), self._client.pipeline(transaction=False) as pipe:
            pipe.sismember(_GONE, account_id)
            for ladder in ladders:
                pipe.hget(_ratings(ladder), account_id)
            gone, *rows = await pipe.execute()
        if gone:
            return {}
        return {ladder: Standing.from_text(row) for ladder, row in zip(ladders, rows, strict=True) if row is not None}

    async def ladders(self) -> Sequence[Ladder]:
        """See RatingStore."""
        async with reached():
            return sorted(map(Ladder.of, cast("set[str]", await self._client.smembers(_LADDERS))))


def _ratings(ladder: Ladder) -> str:
    return f"{{ratings}}:r:{ladder.id}"


def _board(ladder: Ladder) -> str:
    return f"{{ratings}}:b:{ladder.id}"


def _keys(ladders: Sequence[Ladder]) -> list[str]:
    return [key for ladder in ladders for key in (_ratings(ladder), _board(ladder))]


def _mark(text: str | None) -> Mark:
    life, at = (text or "0 0").split(" ")
    return Mark(int(life), int(at))
