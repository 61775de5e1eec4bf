"""Deleting an account: everything that knows it by name lets go of it first, its tokens end last.

So a deletion that is cut off by a crash can be asked for again with the same token, and every step may be repeated.
Whatever keeps something of an account appends its step to `on_delete` when a gateway is put together.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from kangtou.v1 import game_pb2 as pb

from ..identity import Identity, Session
from ..refusals import refusal

OnDelete: TypeAlias = Callable[[str], Awaitable[None]]


@dataclass(slots=True)
class Deletions:
    """Of one gateway. A step is given the account id; it raises StoreUnavailable if it must be tried again."""

    identity: Identity
    on_delete: list[OnDelete] = field(default_factory=list)

    async def delete(self, session: Session, confirmed: str) -> pb.Refusal | None:
        """Delete the caller's account. Refused: not_confirmed. Raises StoreUnavailable, OSError."""
        account_id = session.account.account_id
        if confirmed != account_id:
            return refusal("not_confirmed")
        await self.for_operator(account_id)
        return None

    async def for_operator(self, account_id: str) -> None:
        """Delete an account. Raises StoreUnavailable, OSError."""
        for step in self.on_delete:
            await step(account_id)
        await self.identity.delete(account_id)
