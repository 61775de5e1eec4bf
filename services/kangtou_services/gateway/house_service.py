"""HouseService: who is of the house, and what house bots are asked to do. docs/house-bots.md."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import grpc
import structlog

from kangtou.v1 import game_pb2
from kangtou.v1 import house_pb2 as pb
from kangtou.v1 import house_pb2_grpc as rpc

from ..agreement import BOT
from ..house import Kind, Need, NeedStore, Outcome, Worker
from ..house.desk import Desk, Withdrawn
from ..identity import HOUSE, Account, Identity, good_command_id
from ..matchmaking import Pool
from ..refusals import refusal
from .auth import Callers, token_of
from .calls import Context, garbage

if TYPE_CHECKING:
    from .server import Parts

_log = structlog.get_logger(__name__)

_KINDS = {
    Kind.SIT: pb.OFFER_KIND_SIT,
    Kind.QUEUE: pb.OFFER_KIND_QUEUE,
    Kind.SEAT: pb.OFFER_KIND_SEAT,
    Kind.MATCH: pb.OFFER_KIND_MATCH,
    Kind.DELEGATE: pb.OFFER_KIND_DELEGATE,
}
_OUTCOMES = {
    pb.OFFER_OUTCOME_DONE: Outcome.DONE,
    pb.OFFER_OUTCOME_DECLINED: Outcome.DECLINED,
    pb.OFFER_OUTCOME_GIVEN_BACK: Outcome.GIVEN_BACK,
}
_CAPACITY_MOST = 1_000


class HouseService(rpc.HouseServiceServicer):
    """kangtou.v1.HouseService. `secret`: of the settings; "": nobody can join."""

    def __init__(self, identity: Identity, callers: Callers, desk: Desk, secret: str) -> None:
        self._identity = identity
        self._callers = callers
        self._desk = desk
        self._secret = secret

    async def JoinHouse(self, request: pb.JoinHouseRequest, context: Context) -> pb.JoinHouseResponse:
        """Give the account its mark. A repeat changes nothing."""
        account = (await self._callers.session(context)).account
        if account.kind != BOT:
            return pb.JoinHouseResponse(refused=refusal("bad_kind"))
        if not self._secret or not self._callers.guessed(request.secret, self._secret, context):
            _log.warning("not_of_the_house", account=account.account_id)
            return pb.JoinHouseResponse(refused=refusal("not_of_the_house"))
        await self._identity.set_roles(account.account_id, account.roles | {HOUSE})
        await self._callers.look(token_of(context), afresh=True)
        return pb.JoinHouseResponse()

    async def Serve(self, request: pb.ServeRequest, context: Context) -> AsyncIterator[pb.ServeResponse]:
        """Offers, until the caller ends it."""
        worker = self._worker((await self._callers.session(context)).account, request.process_id)
        capacity = {game: min(max(number, 0), _CAPACITY_MOST) for game, number in request.capacity.items()}
        yield pb.ServeResponse(ready=pb.ServeReady())
        async with aclosing(self._desk.serve(worker, capacity)) as news:
            async for one in news:
                if isinstance(one, Withdrawn):
                    yield pb.ServeResponse(withdrawn=one.need_id)
                else:
                    yield pb.ServeResponse(offer=_offer(one))

    async def SettleOffer(self, request: pb.SettleOfferRequest, context: Context) -> pb.SettleOfferResponse:
        """The end of an offer."""
        worker = self._worker((await self._callers.session(context)).account, request.process_id)
        if request.outcome not in _OUTCOMES or not request.offer_id:
            raise garbage()
        held = await self._desk.settle(worker, request.offer_id, _OUTCOMES[request.outcome], request.number)
        return pb.SettleOfferResponse(held=held)

    def _worker(self, account: Account, process: str) -> Worker:
        if not good_command_id(process):
            raise garbage()
        return Worker(account.account_id, process)


def _offer(need: Need) -> pb.HouseOffer:
    pool = Pool.from_json(need.pool) if need.pool else None
    return pb.HouseOffer(
        offer_id=need.need_id,
        kind=_KINDS[need.kind],
        game=need.game,
        place=pool.name if pool else need.place,
        seat=max(need.seat, 0),
        number=need.number,
        choice=pool.choice.choice_pb() if pool else game_pb2.GameChoice(),
        clock=pool.choice.clock_pb() if pool else game_pb2.Clock(),
    )


def add(
    identity: Identity, needs: NeedStore
) -> Callable[[grpc.aio.Server, Parts], tuple[str, Callable[[], Coroutine[Any, Any, None]]]]:
    """What adds this service to a gateway."""

    def extra(server: grpc.aio.Server, parts: Parts) -> tuple[str, Callable[[], Coroutine[Any, Any, None]]]:
        desk = Desk(needs, parts.backend.store)
        desk.start()
        service = HouseService(identity, parts.callers, desk, parts.backend.settings.house_secret)
        rpc.add_HouseServiceServicer_to_server(service, server)
        return "kangtou.v1.HouseService", desk.stop

    return extra
