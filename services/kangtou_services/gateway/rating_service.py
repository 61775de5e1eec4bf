"""RatingService: leaderboards and ratings, for every account."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import grpc

from kangtou.v1 import rating_pb2 as pb
from kangtou.v1 import rating_pb2_grpc as rpc

from ..identity import Identity
from ..ratings import Applier, Ladder, RatingStore, Standing
from ..ratings.values import LEAST_GAMES, shown, spread
from .account_service import kind_from_pb, kind_to_pb
from .auth import Callers
from .calls import CallError, Code, Context

if TYPE_CHECKING:
    from .server import Parts

PAGE, PAGE_MOST = 50, 200
_STARTS_MOST = 1_000_000


class RatingService(rpc.RatingServiceServicer):
    """kangtou.v1.RatingService."""

    def __init__(self, store: RatingStore, identity: Identity, callers: Callers) -> None:
        self._store = store
        self._identity = identity
        self._callers = callers

    async def ListLadders(self, request: pb.ListLaddersRequest, context: Context) -> pb.ListLaddersResponse:
        """Those on which somebody has played."""
        await self._callers.session(context)
        return pb.ListLaddersResponse(ladders=map(ladder_to_pb, await self._store.ladders()))

    async def GetLeaderboard(self, request: pb.GetLeaderboardRequest, context: Context) -> pb.GetLeaderboardResponse:
        """A page of one ladder, the best first."""
        await self._callers.session(context)
        size = min(request.page_size, PAGE_MOST) if request.page_size > 0 else PAGE
        start = _start(request.page_token)
        ladder = Ladder(request.ladder.game, request.ladder.variant, kind_from_pb(request.ladder.kind))
        rows = await self._store.board(ladder, start, size + 1)
        names = await self._identity.accounts([row.account_id for row in rows[:size]])
        found = [
            pb.LeaderboardRow(
                rank=row.rank,
                account_id=row.account_id,
                name=names[row.account_id].name if row.account_id in names else "",
                rating=rating_to_pb(ladder, row.standing),
            )
            for row in rows[:size]
        ]
        token = str(start + size) if len(rows) > size else ""
        return pb.GetLeaderboardResponse(rows=found, next_page_token=token, least_games=LEAST_GAMES)

    async def GetRatings(self, request: pb.GetRatingsRequest, context: Context) -> pb.GetRatingsResponse:
        """An account's; none of one that is not known."""
        session = await self._callers.session(context)
        held = await self._store.of(request.account_id or session.account.account_id)
        return pb.GetRatingsResponse(ratings=ratings_to_pb(held))


def _start(token: str) -> int:
    if not token:
        return 0
    if not (token.isascii() and token.isdigit() and len(token) <= 7) or int(token) > _STARTS_MOST:
        raise CallError(Code.INVALID_ARGUMENT, "this is no page token", "分页标记无效")
    return int(token)


def ladder_to_pb(ladder: Ladder) -> pb.Ladder:
    """As clients see it."""
    return pb.Ladder(game=ladder.game, variant=ladder.variant, kind=kind_to_pb(ladder.kind))


def rating_to_pb(ladder: Ladder, standing: Standing) -> pb.Rating:
    """As clients see it."""
    return pb.Rating(
        ladder=ladder_to_pb(ladder),
        rating=shown(standing.mu),
        deviation=spread(standing.sigma),
        floor=shown(standing.floor),
        games=standing.games,
        provisional=standing.provisional,
        last_ms=standing.last_ms,
        mu=standing.mu,
        sigma=standing.sigma,
    )


def ratings_to_pb(held: Mapping[Ladder, Standing]) -> Iterable[pb.Rating]:
    """All of one account."""
    return [rating_to_pb(ladder, standing) for ladder, standing in held.items()]


def add(
    identity: Identity,
) -> Callable[[grpc.aio.Server, Parts], tuple[str, Callable[[], Coroutine[Any, Any, None]]]]:
    """What adds this service to a gateway, and has the gateway apply new results."""

    def extra(server: grpc.aio.Server, parts: Parts) -> tuple[str, Callable[[], Coroutine[Any, Any, None]]]:
        store = parts.backend.ratings
        applier = Applier(store)
        applier.start()
        rpc.add_RatingServiceServicer_to_server(RatingService(store, identity, parts.callers), server)
        return pb.DESCRIPTOR.services_by_name["RatingService"].full_name, applier.stop

    return extra
