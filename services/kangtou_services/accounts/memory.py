"""Accounts in memory: for practice and tests."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from ..identity import Account, Session, StoreUnavailable, fits
from .base import CODES_MOST, TOKENS_MOST


@dataclass(slots=True)
class _Held:
    account: Account
    created_ms: int
    tokens: dict[str, int] = field(default_factory=dict)
    codes: dict[str, tuple[str, int]] = field(default_factory=dict)  # unused: ("", 0)

    def add_token(self, token: str, expires_ms: int, now_ms: int) -> None:
        self.tokens = {name: until for name, until in self.tokens.items() if until > now_ms}
        self.tokens[token] = expires_ms
        if len(self.tokens) > TOKENS_MOST:
            del self.tokens[min(self.tokens, key=lambda name: (self.tokens[name], name))]

    def add_code(self, code: str) -> None:
        self.codes[code] = ("", 0)
        if len(self.codes) > CODES_MOST:
            del self.codes[next(iter(self.codes))]


class MemoryAccountStore:
    """An AccountStore. Everything fails while `reached` is False."""

    def __init__(self) -> None:
        self._held: dict[str, _Held] = {}
        self._deleted: dict[str, int] = {}
        self.reached = True

    async def admit(self, account: Account, token: str, expires_ms: int, code: str, now_ms: int) -> Account | None:
        """See AccountStore."""
        await self._use()
        if account.account_id in self._deleted:
            return None
        held = self._held.setdefault(account.account_id, _Held(account, now_ms))
        held.add_token(token, expires_ms, now_ms)
        held.add_code(code)
        return held.account

    async def session(self, account_id: str, token: str, now_ms: int) -> Session | None:
        """See AccountStore."""
        await self._use()
        held = self._held.get(account_id)
        until = held.tokens.get(token, 0) if held else 0
        return Session(held.account, until) if held and until > now_ms else None

    async def swap(self, account_id: str, old: str, until_ms: int, new: str, expires_ms: int, now_ms: int) -> bool:
        """See AccountStore."""
        await self._use()
        held = self._held.get(account_id)
        if held is None or held.tokens.get(old, 0) <= now_ms:
            return False
        held.tokens[old] = min(held.tokens[old], until_ms)
        held.add_token(new, expires_ms, now_ms)
        return True

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
        await self._use()
        held = self._held.get(account_id)
        used = held.codes.get(code) if held else None
        if held is None or used is None:
            return False
        if used != ("", 0) and (used[0] != command or used[1] <= now_ms):
            return False
        held.codes = {code: (command, used[1] or until_ms), new_code: ("", 0)}
        held.tokens = {token: expires_ms}
        return True

    async def revoke(self, account_id: str, token: str) -> None:
        """See AccountStore."""
        await self._use()
        if held := self._held.get(account_id):
            held.tokens.pop(token, None)

    async def delete(self, account_id: str, now_ms: int) -> None:
        """See AccountStore."""
        await self._use()
        self._deleted.setdefault(account_id, now_ms)
        self._held.pop(account_id, None)

    async def deleted(self, since_ms: int) -> list[str]:
        """See AccountStore."""
        await self._use()
        return [account for account, at_ms in self._deleted.items() if at_ms >= since_ms]

    async def accounts(self, account_ids: Iterable[str]) -> Mapping[str, Account]:
        """See AccountStore."""
        await self._use()
        return {name: self._held[name].account for name in account_ids if name in self._held}

    async def joined(self, account_id: str) -> int:
        """See AccountStore."""
        await self._use()
        held = self._held.get(account_id)
        return held.created_ms if held else 0

    async def set_roles(self, account_id: str, roles: frozenset[str]) -> bool:
        """See AccountStore."""
        await self._use()
        held = self._held.get(account_id)
        if held is not None:
            held.account = replace(held.account, roles=roles)
        return held is not None

    async def find(self, text: str, role: str, limit: int) -> list[Account]:
        """See AccountStore."""
        await self._use()
        return [held.account for held in self._held.values() if fits(held.account, text, role)][:limit]

    async def end_tokens(self, account_id: str) -> None:
        """See AccountStore."""
        await self._use()
        if held := self._held.get(account_id):
            held.tokens.clear()

    async def _use(self) -> None:
        await asyncio.sleep(0)
        if not self.reached:
            raise StoreUnavailable("the accounts in memory are switched off")
