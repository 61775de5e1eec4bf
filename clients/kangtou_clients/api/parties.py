"""Two who queue together: `Parties(client)`."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from kangtou.v1 import party_pb2 as pb
from kangtou.v1 import party_pb2_grpc as rpc

from .lobby import Wanted
from .values import Refused, refused_from

if TYPE_CHECKING:
    from .client import Client


class Parties:
    """Parties of two, for games with fixed partners. Given as the protocol's messages."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._stub = rpc.PartyServiceStub(client.channel)

    async def create(
        self, wanted: Wanted, *, rated: bool = False, pool: str = "", command_id: str = ""
    ) -> pb.Party | Refused:
        """A party for this choice; its `code` is for the other to join."""
        request = pb.CreatePartyRequest(
            choice=wanted.choice(),
            rules=wanted.rules,
            clock=wanted.clock(),
            rated=rated,
            pool=pool,
            command_id=command_id or secrets.token_hex(8),
        )
        response = await self._client.unary(self._stub.CreateParty, request)
        return refused_from(response.refused) if response.HasField("refused") else response.party

    async def join(self, code: str) -> pb.Party | Refused:
        """Become the second of a party."""
        response = await self._client.unary(self._stub.JoinParty, pb.JoinPartyRequest(code=code))
        return refused_from(response.refused) if response.HasField("refused") else response.party

    async def find(self, code: str) -> pb.Party | Refused:
        """A party as it stands."""
        response = await self._client.unary(self._stub.GetParty, pb.GetPartyRequest(code=code))
        return refused_from(response.refused) if response.HasField("refused") else response.party

    async def leave(self, code: str) -> Refused | None:
        """End it, for both."""
        response = await self._client.unary(self._stub.LeaveParty, pb.LeavePartyRequest(code=code))
        return refused_from(response.refused) if response.HasField("refused") else None


def wanted_of(party: pb.Party) -> Wanted:
    """What a party is for."""
    options = {}
    for name, value in party.choice.options.items():
        options[name] = getattr(value, value.WhichOneof("kind") or "text")
    choice, clock = party.choice, party.clock
    return Wanted(
        choice.game,
        choice.version,
        choice.seats,
        options,
        clock.turn_ms,
        clock.window_ms,
        bank_ms=clock.bank_ms,
        increment_ms=clock.increment_ms,
        lag_ms=clock.lag_ms,
    )
