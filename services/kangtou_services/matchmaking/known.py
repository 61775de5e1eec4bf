"""What a pool is told of somebody who comes: the rating to pair by, and whom the account does not want to meet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from kangtou_engine.errors import BadOptions

from ..blocks import Blocks
from ..identity import Account
from ..opening import Choice, Games
from ..ratings import RatingStore
from ..ratings.values import NEW, ladder_of, shown


@dataclass(frozen=True, slots=True)
class Known:
    """`rating` as people see it; None where it does not matter."""

    rating: int | None = None
    blocks: tuple[str, ...] = ()


class Knowledge(Protocol):
    """Asked about people only. Raises StoreUnavailable."""

    async def __call__(self, account: Account, choice: Choice) -> Known:
        """What is known when the account queues for this."""
        ...


async def nobody_known(account: Account, choice: Choice) -> Known:
    """Of nobody anything: for pools in which it does not matter."""
    return Known()


class KnownPeople:
    """Knowledge from ratings and blocks. Ratings matter in rated pools alone."""

    def __init__(self, ratings: RatingStore, blocks: Blocks, games: Games) -> None:
        self._ratings = ratings
        self._blocks = blocks
        self._games = games

    async def __call__(self, account: Account, choice: Choice) -> Known:
        """See Knowledge."""
        blocks = await self._blocks.of(account.account_id)
        return Known(await self._rating(account, choice) if choice.rated else None, blocks)

    async def _rating(self, account: Account, choice: Choice) -> int | None:
        try:
            config = self._games.game(choice.game, choice.version).config(choice.options, choice.seats)
        except BadOptions:
            return None  # the choice was checked; a game of another release
        ladder = ladder_of(config, account.kind)
        held = await self._ratings.standings(ladder, [account.account_id])
        return shown(held.get(account.account_id, NEW).mu)
