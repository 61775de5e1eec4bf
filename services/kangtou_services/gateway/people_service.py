"""PeopleService: profiles and blocks."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

import grpc

from kangtou.v1 import account_pb2
from kangtou.v1 import people_pb2 as pb
from kangtou.v1 import people_pb2_grpc as rpc

from ..blocks import BLOCKS_MOST, Blocks
from ..identity import Identity
from ..ratings import RatingStore
from ..refusals import refusal
from .account_service import account_to_pb
from .auth import Callers
from .calls import Context
from .rating_service import ratings_to_pb

if TYPE_CHECKING:
    from .server import Parts


class PeopleService(rpc.PeopleServiceServicer):
    """kangtou.v1.PeopleService."""

    def __init__(self, identity: Identity, ratings: RatingStore, blocks: Blocks, callers: Callers) -> None:
        self._identity = identity
        self._ratings = ratings
        self._blocks = blocks
        self._callers = callers

    async def GetProfile(self, request: pb.GetProfileRequest, context: Context) -> pb.GetProfileResponse:
        """Refused: unknown_account."""
        session = await self._callers.session(context)
        account_id = request.account_id or session.account.account_id
        found = (await self._identity.accounts([account_id])).get(account_id)
        if found is None:
            return pb.GetProfileResponse(refused=refusal("unknown_account"))
        profile = pb.Profile(
            account=account_to_pb(found),
            joined_ms=await self._identity.joined(account_id),
            ratings=ratings_to_pb(await self._ratings.of(account_id)),
        )
        return pb.GetProfileResponse(profile=profile)

    async def Block(self, request: pb.BlockRequest, context: Context) -> pb.BlockResponse:
        """Refused: unknown_account, block_self, too_many_blocks."""
        mine = (await self._callers.session(context)).account.account_id
        if request.account_id == mine:
            return pb.BlockResponse(refused=refusal("block_self"))
        if request.account_id not in await self._identity.accounts([request.account_id]):
            return pb.BlockResponse(refused=refusal("unknown_account"))
        if not await self._blocks.block(mine, request.account_id, time.time_ns() // 1_000_000):
            return pb.BlockResponse(refused=refusal("too_many_blocks", limit=BLOCKS_MOST))
        return pb.BlockResponse()

    async def Unblock(self, request: pb.UnblockRequest, context: Context) -> pb.UnblockResponse:
        """Also of an account that is no longer there."""
        mine = (await self._callers.session(context)).account.account_id
        await self._blocks.unblock(mine, request.account_id)
        return pb.UnblockResponse()

    async def ListBlocks(self, request: pb.ListBlocksRequest, context: Context) -> pb.ListBlocksResponse:
        """The caller's own."""
        mine = (await self._callers.session(context)).account.account_id
        blocked = await self._blocks.of(mine)
        known = await self._identity.accounts(blocked)
        return pb.ListBlocksResponse(
            accounts=[
                account_to_pb(known[one]) if one in known else account_pb2.Account(account_id=one) for one in blocked
            ]
        )


def add(
    identity: Identity, blocks: Blocks
) -> Callable[[grpc.aio.Server, Parts], tuple[str, Callable[[], Coroutine[Any, Any, None]] | None]]:
    """What adds this service to a gateway."""

    def extra(server: grpc.aio.Server, parts: Parts) -> tuple[str, None]:
        service = PeopleService(identity, parts.backend.ratings, blocks, parts.callers)
        rpc.add_PeopleServiceServicer_to_server(service, server)
        return pb.DESCRIPTOR.services_by_name["PeopleService"].full_name, None

    return extra
