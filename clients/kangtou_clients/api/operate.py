"""What operators do at a running server: `client.operate`. The account needs the role of operator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kangtou.v1 import operate_pb2 as pb
from kangtou.v1 import operate_pb2_grpc as rpc

from .values import Refused, refused_from

if TYPE_CHECKING:
    from .client import Client


class Operate:
    """What is shown is given as the protocol's messages. All calls may be repeated."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._stub = rpc.OperateServiceStub(client.channel)

    async def tables(self, actor_id: str = "", limit: int = 0) -> pb.ListLiveTablesResponse:
        """The matches in play."""
        request = pb.ListLiveTablesRequest(actor_id=actor_id, limit=limit)
        return await self._client.unary(self._stub.ListLiveTables, request)

    async def members(self) -> tuple[pb.Member, ...]:
        """Actors and gateways."""
        return tuple((await self._client.unary(self._stub.ListMembers, pb.ListMembersRequest())).members)

    async def drain(self, member_id: str, *, stop: bool = False, undo: bool = False) -> Refused | None:
        """An actor or a gateway takes nothing new and lets go of what it has."""
        request = pb.DrainRequest(id=member_id, stop=stop, undo=undo)
        response = await self._client.unary(self._stub.Drain, request)
        return refused_from(response.refused) if response.HasField("refused") else None

    async def move(self, match_id: str, actor_id: str = "") -> str | Refused:
        """A match goes to another actor; to which it went."""
        request = pb.MoveMatchRequest(match_id=match_id, actor_id=actor_id)
        response = await self._client.unary(self._stub.MoveMatch, request)
        return refused_from(response.refused) if response.HasField("refused") else response.moved.actor_id

    async def end(self, match_id: str, cause: str = "") -> Refused | None:
        """End a match outside the rules."""
        response = await self._client.unary(self._stub.EndMatch, pb.EndMatchRequest(match_id=match_id, cause=cause))
        return refused_from(response.refused) if response.HasField("refused") else None

    async def accounts(self, text: str = "", role: str = "", limit: int = 0) -> pb.FindAccountsResponse:
        """Accounts by id, by a part of the name, by role."""
        request = pb.FindAccountsRequest(text=text, role=role, limit=limit)
        return await self._client.unary(self._stub.FindAccounts, request)

    async def change(self, request: pb.ChangeAccountRequest) -> pb.FoundAccount | Refused:
        """Roles, ban, tokens, deletion; the account as it is then."""
        response = await self._client.unary(self._stub.ChangeAccount, request)
        return refused_from(response.refused) if response.HasField("refused") else response.account

    async def maintenance(self, wanted: pb.MaintenanceState | None = None) -> pb.MaintenanceState:
        """Whether the server takes nothing new; begin or end that."""
        return (await self._client.unary(self._stub.Maintenance, pb.MaintenanceRequest(set=wanted))).state
