"""Accounts in Redis. All keys of one account lie in one slot.

{a:<account>}:account   hash: name, kind, roles (with commas), created_ms
{a:<account>}:tokens    sorted set: hashes of tokens by the instant at which they end
{a:<account>}:codes     hash: hash of a recovery code -> number in order, or `used <command> <until>`
{accounts}:deleted      sorted set: deleted accounts by the instant; each keeps `account` with the field `deleted` alone
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from redis.asyncio import Redis

from ..functions import Functions, reached
from ..identity import Account, Session, fits
from .base import CODES_MOST, TOKENS_MOST

_DELETED = "{accounts}:deleted"
_FIELDS = ("name", "kind", "roles")
_SCAN = 500


class RedisAccountStore:
    """An AccountStore. The client is the caller's to close."""

    def __init__(self, client: Redis, replicas: int = 0) -> None:
        self._client = client
        self._functions = Functions(client, "accounts/accounts.lua", replicas)

    async def admit(self, account: Account, token: str, expires_ms: int, code: str, now_ms: int) -> Account | None:
        """See AccountStore."""
        keys = [_key(account.account_id, part) for part in ("account", "tokens", "codes")]
        roles = ",".join(sorted(account.roles))
        shown = (account.name, account.kind, roles)
        limits = (TOKENS_MOST, CODES_MOST)
        row = await self._functions.call("kt_account_admit_1", keys, *shown, now_ms, token, expires_ms, code, *limits)
        return _account(account.account_id, row) if row[0] is not None else None

    async def session(self, account_id: str, token: str, now_ms: int) -> Session | None:
        """See AccountStore."""
        async with reached(), self._client.pipeline(transaction=False) as pipe:
            pipe.zscore(_key(account_id, "tokens"), token)
            pipe.hmget(_key(account_id, "account"), _FIELDS)
            until, row = await pipe.execute()
        if until is None or int(until) <= now_ms or row[0] is None:
            return None
        return Session(_account(account_id, row), int(until))

    async def swap(self, account_id: str, old: str, until_ms: int, new: str, expires_ms: int, now_ms: int) -> bool:
        """See AccountStore."""
        keys = [_key(account_id, "tokens")]
        args = (old, until_ms, new, expires_ms, now_ms, TOKENS_MOST)
        return bool(await self._functions.call("kt_account_swap_1", keys, *args))

    async def recover(
        self,
        account_id: str,
        code: str,
        command: str,
        until_ms: int,
        new_code: str,
        token: str,
        expires_ms: int,
        now_ms: int,
    ) -> bool:
        """See AccountStore."""
        keys = [_key(account_id, "tokens"), _key(account_id, "codes")]
        args = (code, command, until_ms, new_code, token, expires_ms, now_ms)
        return bool(await self._functions.call("kt_account_recover_1", keys, *args))

    async def revoke(self, account_id: str, token: str) -> None:
        """See AccountStore."""
        async with reached():
            await self._client.zrem(_key(account_id, "tokens"), token)

    async def delete(self, account_id: str, now_ms: int) -> None:
        """See AccountStore."""
        async with reached():
            await self._client.zadd(_DELETED, {account_id: now_ms}, nx=True)
        keys = [_key(account_id, part) for part in ("account", "tokens", "codes")]
        await self._functions.call("kt_account_delete_1", keys, now_ms)

    async def deleted(self, since_ms: int) -> list[str]:
        """See AccountStore."""
        async with reached():
            found = await self._client.zrangebyscore(_DELETED, since_ms, "+inf")
        return [str(account) for account in found]

    async def accounts(self, account_ids: Iterable[str]) -> Mapping[str, Account]:
        """See AccountStore."""
        ids = list(dict.fromkeys(account_ids))
        if not ids:
            return {}
        async with reached(), self._client.pipeline(transaction=False) as pipe:
            for name in ids:
                pipe.hmget(_key(name, "account"), _FIELDS)
            rows = await pipe.execute()
        return {name: _account(name, row) for name, row in zip(ids, rows, strict=True) if row[0] is not None}

    async def joined(self, account_id: str) -> int:
        """See AccountStore."""
        async with reached():
            found = await self._client.hget(_key(account_id, "account"), "created_ms")
        return int(found or 0)

    async def set_roles(self, account_id: str, roles: frozenset[str]) -> bool:
        """See AccountStore."""
        keys = [_key(account_id, "account")]
        return bool(await self._functions.call("kt_account_roles_1", keys, ",".join(sorted(roles))))

    async def find(self, text: str, role: str, limit: int) -> list[Account]:
        """See AccountStore."""
        found: list[Account] = []
        names: list[str] = []
        async with reached():
            async for name in self._client.scan_iter("{a:*}:account", count=_SCAN):
                names.append(str(name)[3 : -len("}:account")])
                if len(names) >= _SCAN:
                    found += [one for one in (await self.accounts(names)).values() if fits(one, text, role)]
                    names = []
                    if len(found) >= limit:
                        break
        found += [one for one in (await self.accounts(names)).values() if fits(one, text, role)]
        return found[:limit]

    async def end_tokens(self, account_id: str) -> None:
        """See AccountStore."""
        async with reached():
            await self._client.delete(_key(account_id, "tokens"))


def _key(account_id: str, part: str) -> str:
    return f"{{a:{account_id}}}:{part}"


def _account(account_id: str, row: list[str]) -> Account:
    name, kind, roles = row
    return Account(account_id, name, kind, frozenset(filter(None, roles.split(","))))
