"""What hosts tell of seats that need a substitute, and what gateways ask before one plays. docs/clocks.md.

A host calls `delegated` after the log has it and again after a takeover, without waiting for it, and repeats a call
that failed. `number` only grows for a seat: the greatest counts, an older one is a late repeat.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

import structlog

log = structlog.get_logger(__name__)


class House(Protocol):
    """Lends house bots. All methods raise StoreUnavailable."""

    async def delegated(self, match_id: str, seat: int, game: str, number: int) -> None:
        """A seat wants a substitute; `number` is the sequence number at which it did."""
        ...

    async def ended(self, match_id: str, seat: int) -> None:
        """It wants none any more: its owner has taken it back, or the match has ended."""
        ...

    async def may_play(self, account_id: str, match_id: str, seat: int) -> bool:
        """Whether an account may attach as the substitute of a seat. The table checks that it needs one."""
        ...


class MemoryHouse:
    """The twin in memory: keeps which seats want a substitute; `bots` are the accounts that may be one."""

    def __init__(self, bots: Collection[str] = ()) -> None:
        self.bots = set(bots)
        self.wanted: dict[tuple[str, int], tuple[str, int]] = {}  # by match and seat: game and number
        self.numbers: dict[tuple[str, int], int] = {}

    async def delegated(self, match_id: str, seat: int, game: str, number: int) -> None:
        """See House."""
        if number > self.numbers.get((match_id, seat), 0):
            self.numbers[match_id, seat] = number
            self.wanted[match_id, seat] = (game, number)

    async def ended(self, match_id: str, seat: int) -> None:
        """See House."""
        self.wanted.pop((match_id, seat), None)

    async def may_play(self, account_id: str, match_id: str, seat: int) -> bool:
        """See House."""
        return account_id in self.bots


class Unserved:
    """A server without house bots for seats: the clock plays for them, and operators read of it."""

    async def delegated(self, match_id: str, seat: int, game: str, number: int) -> None:
        """See House."""
        log.info("seat_delegated", match=match_id, seat=seat, game=game, seq=number)

    async def ended(self, match_id: str, seat: int) -> None:
        """See House."""
        log.info("seat_returned", match=match_id, seat=seat)

    async def may_play(self, account_id: str, match_id: str, seat: int) -> bool:
        """See House."""
        return False
