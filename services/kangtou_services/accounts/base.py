"""What a store of accounts does. It sees hashes of tokens and codes only. Times are Unix ms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from ..identity import Account, Session

TOKENS_MOST = 32  # of one account; the one that would end first goes when there are more
CODES_MOST = 4  # unused recovery codes, as repeats of a registration make them


class AccountStore(Protocol):
    """All methods raise StoreUnavailable. Each is one step: it happens as a whole or not at all."""

    async def admit(self, account: Account, token: str, expires_ms: int, code: str, now_ms: int) -> Account | None:
        """Create the account unless it is there; add a token and a recovery code to it. The account as it is stored.

        None, and nothing has changed, if it was deleted.
        """
        ...

    async def session(self, account_id: str, token: str, now_ms: int) -> Session | None:
        """Whom a token stands for, unless it has ended."""
        ...

    async def swap(self, account_id: str, old: str, until_ms: int, new: str, expires_ms: int, now_ms: int) -> bool:
        """Add a token by another one, which ends at `until_ms` if not before. False if that has ended already."""
        ...

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
        """End all tokens and codes and add one of each, if `code` is unused, or was used by this command until then."""
        ...

    async def revoke(self, account_id: str, token: str) -> None:
        """End a token."""
        ...

    async def delete(self, account_id: str, now_ms: int) -> None:
        """Forget all of an account but that it was deleted, first of all for `deleted`. A repeat changes nothing."""
        ...

    async def deleted(self, since_ms: int) -> list[str]:
        """Accounts that were deleted, or are about to be, since then."""
        ...

    async def accounts(self, account_ids: Iterable[str]) -> Mapping[str, Account]:
        """Those that exist."""
        ...

    async def joined(self, account_id: str) -> int:
        """When it was created; 0 if there is no such account."""
        ...

    async def set_roles(self, account_id: str, roles: frozenset[str]) -> bool:
        """False if there is no such account."""
        ...

    async def find(self, text: str, role: str, limit: int) -> list[Account]:
        """See Identity; in no particular order."""
        ...

    async def end_tokens(self, account_id: str) -> None:
        """All of an account."""
        ...
