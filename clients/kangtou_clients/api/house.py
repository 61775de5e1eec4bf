"""Being a bot of the house: joining it, what it is needed for, and the end of that."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

import grpc
from tenacity import wait_random_exponential

from kangtou.v1 import house_pb2 as pb
from kangtou.v1 import house_pb2_grpc as rpc
from kangtou.wire import options_from_pb
from kangtou_engine.cards import Seat

from .lobby import Wanted
from .values import Refused, Unavailable, failed, refused_from

if TYPE_CHECKING:
    from .client import Client

SIT, QUEUE, SEAT, MATCH, DELEGATE = "sit", "queue", "seat", "match", "delegate"
_KINDS = {
    pb.OFFER_KIND_SIT: SIT,
    pb.OFFER_KIND_QUEUE: QUEUE,
    pb.OFFER_KIND_SEAT: SEAT,
    pb.OFFER_KIND_MATCH: MATCH,
    pb.OFFER_KIND_DELEGATE: DELEGATE,
}
OUTCOMES = {
    "done": pb.OFFER_OUTCOME_DONE,
    "declined": pb.OFFER_OUTCOME_DECLINED,
    "given_back": pb.OFFER_OUTCOME_GIVEN_BACK,
}


@dataclass(frozen=True, slots=True)
class Offer:
    """What a bot is needed for, and nobody else until it is settled.

    sit       take `seat` of the table `place`
    queue     queue for `wanted` in the pool `place`
    seat      play at the table `place`, where one sits, match after match
    match     play one's `seat` in the match `place`
    delegate  attach to the match `place` as the substitute of `seat`
    """

    offer_id: str
    kind: str
    game: str
    place: str
    seat: Seat = 0
    number: int = -1
    wanted: Wanted = field(default_factory=lambda: Wanted(""))


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """An offer is no longer one's own."""

    offer_id: str


class House:
    """`client.house`: for accounts of the house."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._stub = rpc.HouseServiceStub(client.channel)

    async def join(self, secret: str) -> Refused | None:
        """Make this account, a bot's, one of the house."""
        response = await self._client.unary(self._stub.JoinHouse, pb.JoinHouseRequest(secret=secret))
        return refused_from(response.refused) if response.HasField("refused") else None

    async def serve(
        self, process_id: str, capacity: Mapping[str, int]
    ) -> AsyncGenerator[Offer | Withdrawn | None, None]:
        """What one is needed for, for ever; None when the server has begun to listen, again after a lost connection.

        `capacity`: how many offers of each game at once. An offer may come again. Raises CallFailed, but not because
        the server cannot be reached.
        """
        request = pb.ServeRequest(process_id=process_id, capacity=dict(capacity))
        pause, lost = wait_random_exponential(multiplier=0.1, max=1.0), 0
        while True:
            call = self._stub.Serve(request, metadata=self._client.metadata())
            try:
                async for response in call:
                    lost = 0
                    what = response.WhichOneof("news")
                    if what == "ready":
                        yield None
                    elif what == "withdrawn":
                        yield Withdrawn(response.withdrawn)
                    elif what == "offer" and response.offer.kind in _KINDS:
                        yield _offer(response.offer)
            except grpc.aio.AioRpcError as error:
                reason = failed(error)
                if not isinstance(reason, Unavailable) and reason.status != "CANCELLED":
                    raise reason from None
            finally:
                call.cancel()
            lost += 1
            await self._client.pause(pause, lost)

    async def settle(self, process_id: str, offer: Offer, outcome: str) -> bool:
        """End an offer: `done`, `declined` or `given_back`. False if it was one's own no more. Raises CallFailed."""
        request = pb.SettleOfferRequest(
            process_id=process_id, offer_id=offer.offer_id, outcome=OUTCOMES[outcome], number=offer.number
        )
        return (await self._client.unary(self._stub.SettleOffer, request)).held


def _offer(message: pb.HouseOffer) -> Offer:
    choice, clock = message.choice, message.clock
    wanted = Wanted(
        choice.game,
        choice.version,
        choice.seats,
        cast("Mapping[str, int | bool | str]", options_from_pb(choice)),
        turn_ms=clock.turn_ms,
        window_ms=clock.window_ms,
        bank_ms=clock.bank_ms,
        increment_ms=clock.increment_ms,
        lag_ms=clock.lag_ms,
        lag_match_ms=clock.lag_match_ms,
    )
    return Offer(
        message.offer_id,
        _KINDS[message.kind],
        message.game,
        message.place,
        message.seat,
        message.number,
        wanted,
    )
