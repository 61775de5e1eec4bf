"""Results and ratings in memory: for practice and tests."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence

from ..identity import StoreUnavailable
from .base import Mark, Row
from .values import Ladder, Result, Standing


class MemoryRatingStore:
    """A RatingStore. Everything fails while `reached` is False."""

    def __init__(self) -> None:
        self._log: list[Result] = []
        self._positions: dict[str, int] = {}
        self._mark = Mark(0, 0)
        self._ratings: dict[Ladder, dict[str, Standing]] = {}
        self._gone: set[str] = set()
        self.reached = True

    async def append(self, result: Result) -> int:
        """See RatingStore."""
        await self._use()
        if result.match_id not in self._positions:
            self._log.append(result)
            self._positions[result.match_id] = len(self._log)
        return self._positions[result.match_id]

    async def length(self) -> int:
        """See RatingStore."""
        await self._use()
        return len(self._log)

    async def read(self, after: int, most: int) -> list[Result]:
        """See RatingStore."""
        await self._use()
        return self._log[after : after + most]

    async def mark(self) -> Mark:
        """See RatingStore."""
        await self._use()
        return self._mark

    async def standings(self, ladder: Ladder, accounts: Iterable[str]) -> dict[str, Standing]:
        """See RatingStore."""
        await self._use()
        held = self._ratings.get(ladder, {})
        return {account: held[account] for account in accounts if account in held}

    async def apply(self, before: Mark, at: int, changed: Mapping[Ladder, Mapping[str, Standing]]) -> bool:
        """See RatingStore."""
        await self._use()
        if before != self._mark:
            return False
        self._mark = Mark(before.life, at)
        for ladder, standings in changed.items():
            self._ratings.setdefault(ladder, {}).update(standings)
        return True

    async def restart(self) -> None:
        """See RatingStore."""
        await self._use()
        self._mark = Mark(self._mark.life + 1, 0)
        self._ratings = {}

    async def everything(self) -> tuple[Mark, dict[Ladder, dict[str, Standing]]]:
        """See RatingStore."""
        await self._use()
        return self._mark, {ladder: dict(held) for ladder, held in self._ratings.items()}

    async def forget(self, account_id: str) -> None:
        """See RatingStore."""
        await self._use()
        self._gone.add(account_id)

    async def board(self, ladder: Ladder, start: int, size: int) -> list[Row]:
        """See RatingStore."""
        await self._use()
        held = self._ratings.get(ladder, {}).items()
        listed = [(it.floor, account) for account, it in held if it.listed and account not in self._gone]
        listed.sort(reverse=True)
        return [
            Row(1 + sum(other > floor for other, _ in listed), account, self._ratings[ladder][account])
            for floor, account in listed[start : start + size]
        ]

    async def of(self, account_id: str) -> dict[Ladder, Standing]:
        """See RatingStore."""
        await self._use()
        if account_id in self._gone:
            return {}
        return {ladder: held[account_id] for ladder, held in sorted(self._ratings.items()) if account_id in held}

    async def ladders(self) -> Sequence[Ladder]:
        """See RatingStore."""
        await self._use()
        return sorted(self._ratings)

    async def _use(self) -> None:
        await asyncio.sleep(0)
        if not self.reached:
            raise StoreUnavailable("the ratings in memory are switched off")
