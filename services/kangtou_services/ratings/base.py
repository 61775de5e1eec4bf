"""What a store of results and ratings does.

The log of results is the truth: dense positions from 1, each match once, never changed. Ratings are what follows from
its first `at` results; they move on by compare-and-set on that mark, so appliers may die and race as they like.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from .values import Ladder, Result, Standing


@dataclass(frozen=True, slots=True)
class Mark:
    """How far ratings have come: the results up to `at`. `life` counts how often they were begun anew."""

    life: int
    at: int


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a leaderboard. Equal floors share a rank."""

    rank: int
    account_id: str
    standing: Standing


class RatingStore(Protocol):
    """All methods raise StoreUnavailable. Each is one step, also among processes."""

    async def append(self, result: Result) -> int:
        """Put a result at the end of the log unless its match is in it; its position. A repeat changes nothing."""
        ...

    async def length(self) -> int:
        """The position of the last result, 0 if there is none."""
        ...

    async def read(self, after: int, most: int) -> list[Result]:
        """Results in order, those behind a position."""
        ...

    async def mark(self) -> Mark:
        """How far ratings have come."""
        ...

    async def standings(self, ladder: Ladder, accounts: Iterable[str]) -> dict[str, Standing]:
        """Those of them that have played there."""
        ...

    async def apply(self, before: Mark, at: int, changed: Mapping[Ladder, Mapping[str, Standing]]) -> bool:
        """Move from `before` to the results up to `at`. False, and nothing has changed, if the mark is another now."""
        ...

    async def restart(self) -> None:
        """Forget all ratings, not the results: they are applied again from the first."""
        ...

    async def everything(self) -> tuple[Mark, dict[Ladder, dict[str, Standing]]]:
        """All ratings at one moment."""
        ...

    async def forget(self, account_id: str) -> None:
        """Show an account, which is being deleted, nowhere any more: neither on boards nor by `of`.

        Its results and what others' ratings owe to them stay, so that the log rebuilds the same; so does what it does
        to ratings from now on, by results that come late. A repeat changes nothing.
        """
        ...

    async def board(self, ladder: Ladder, start: int, size: int) -> list[Row]:
        """A leaderboard from the row `start` (0 is the first) on: those with enough results, the best floor first."""
        ...

    async def of(self, account_id: str) -> dict[Ladder, Standing]:
        """How an account stands on each ladder that it has played on."""
        ...

    async def ladders(self) -> Sequence[Ladder]:
        """Those on which somebody has played, sorted."""
        ...
