"""Other people, and how good they are: `People(client)`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from kangtou.v1 import people_pb2 as pb
from kangtou.v1 import people_pb2_grpc as rpc
from kangtou.v1 import rating_pb2, rating_pb2_grpc

from .accounts import KINDS, account_from
from .values import Account, Refused, refused_from

if TYPE_CHECKING:
    from .client import Client

PAGE = 100


class People:
    """Profiles, blocks, ratings and leaderboards. What is shown is given as the protocol's messages."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._stub = rpc.PeopleServiceStub(client.channel)
        self._ratings = rating_pb2_grpc.RatingServiceStub(client.channel)

    async def profile(self, account_id: str = "") -> pb.Profile | Refused:
        """Who somebody is; by default the caller."""
        response = await self._client.unary(self._stub.GetProfile, pb.GetProfileRequest(account_id=account_id))
        return refused_from(response.refused) if response.HasField("refused") else response.profile

    async def block(self, account_id: str) -> Refused | None:
        """No queue pairs the two any more, and they may not sit at a table that the caller owns."""
        response = await self._client.unary(self._stub.Block, pb.BlockRequest(account_id=account_id))
        return refused_from(response.refused) if response.HasField("refused") else None

    async def unblock(self, account_id: str) -> None:
        """Take that back."""
        await self._client.unary(self._stub.Unblock, pb.UnblockRequest(account_id=account_id))

    async def blocks(self) -> tuple[Account, ...]:
        """Whom the caller has blocked, the first one first."""
        response = await self._client.unary(self._stub.ListBlocks, pb.ListBlocksRequest())
        return tuple(map(account_from, response.accounts))

    async def ladders(self) -> tuple[rating_pb2.Ladder, ...]:
        """Those on which somebody has played."""
        return tuple((await self._client.unary(self._ratings.ListLadders, rating_pb2.ListLaddersRequest())).ladders)

    async def leaderboard(
        self, game: str, variant: str = "", kind: str = "human"
    ) -> AsyncIterator[rating_pb2.LeaderboardRow]:
        """The best first, page by page as they are read. `kind` is `human` or `bot`. Raises CallFailed."""
        token = ""
        while True:
            ladder = rating_pb2.Ladder(game=game, variant=variant, kind=KINDS[kind])
            request = rating_pb2.GetLeaderboardRequest(ladder=ladder, page_size=PAGE, page_token=token)
            response = await self._client.unary(self._ratings.GetLeaderboard, request)
            for row in response.rows:
                yield row
            token = response.next_page_token
            if not token:
                return

    async def ratings(self, account_id: str = "") -> tuple[rating_pb2.Rating, ...]:
        """On each ladder that the account has played on; by default the caller's."""
        request = rating_pb2.GetRatingsRequest(account_id=account_id)
        return tuple((await self._client.unary(self._ratings.GetRatings, request)).ratings)
