"""TableService: a table before and between its matches, and the list as it changes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, TypeVar

from kangtou.v1 import game_pb2
from kangtou.v1 import table_pb2 as pb
from kangtou.v1 import table_pb2_grpc as rpc

from ..identity import Account
from ..lobby import Lobby, Table
from ..lobby.board import Change
from .auth import Callers
from .calls import CallError, Code, Context
from .lobby_messages import Messages

if TYPE_CHECKING:
    from google.protobuf.message import Message

R = TypeVar("R", bound="Message")

_PIECE = 50  # tables in one message of a snapshot
_WATCHES_MOST = 8  # of one account at one gateway


class TableService(rpc.TableServiceServicer):
    """kangtou.v1.TableService."""

    def __init__(self, lobby: Lobby, messages: Messages, callers: Callers) -> None:
        self._lobby = lobby
        self._messages = messages
        self._callers = callers
        self._watches: dict[str, int] = {}

    async def WatchTables(
        self, request: pb.WatchTablesRequest, context: Context
    ) -> AsyncIterator[pb.WatchTablesResponse]:
        """A snapshot, then changes, until the caller ends it."""
        account = (await self._callers.session(context)).account
        asked = self._messages.wanted(request.game, request.states, request.filter)
        one = ""
        if request.match_id or request.code:
            found = await self._lobby.table(request.match_id, account, request.code)
            if isinstance(found, game_pb2.Refusal):
                yield pb.WatchTablesResponse(refused=found)
                return
            one = found.table_id

        def wanted(table: Table) -> bool:
            return (table.table_id == one if one else not table.terms.code) and asked(table)

        self._begin(account)
        try:
            changes = self._lobby.board.watch(wanted)
            async with aclosing(changes):
                async for change in changes:
                    for response in self._told(change, account):
                        yield response
        finally:
            self._end(account)

    def _begin(self, account: Account) -> None:
        number = self._watches.get(account.account_id, 0)
        if number >= _WATCHES_MOST:
            text = f"this account watches {number} lists here already"
            raise CallError(Code.RESOURCE_EXHAUSTED, text, f"该账号已在此观看 {number} 个列表")
        self._watches[account.account_id] = number + 1

    def _end(self, account: Account) -> None:
        self._watches[account.account_id] -= 1
        if not self._watches[account.account_id]:
            del self._watches[account.account_id]

    def _told(self, change: Change, account: Account) -> list[pb.WatchTablesResponse]:
        if change.snapshot is not None:
            tables = [self._messages.table(table, account) for table in change.snapshot]
            pieces = [tables[start : start + _PIECE] for start in range(0, len(tables), _PIECE)] or [[]]
            return [
                pb.WatchTablesResponse(snapshot=pb.TableSnapshot(tables=piece, more=piece is not pieces[-1]))
                for piece in pieces
            ]
        if change.table is None:
            return [pb.WatchTablesResponse(removed=change.table_id)]
        table = self._messages.table(change.table, account)
        return [pb.WatchTablesResponse(added=table) if change.added else pb.WatchTablesResponse(changed=table)]

    async def ChangeSeat(self, request: pb.ChangeSeatRequest, context: Context) -> pb.ChangeSeatResponse:
        """Another free seat."""
        account = (await self._callers.session(context)).account
        changed = await self._lobby.change_seat(account, request.match_id, request.seat, request.command_id)
        return self._answer(pb.ChangeSeatResponse, changed, account)

    async def SetReady(self, request: pb.SetReadyRequest, context: Context) -> pb.SetReadyResponse:
        """Ready, or not."""
        account = (await self._callers.session(context)).account
        after = await self._lobby.set_ready(account, request.match_id, request.command_id, ready=request.ready)
        return self._answer(pb.SetReadyResponse, after, account)

    async def StartTable(self, request: pb.StartTableRequest, context: Context) -> pb.StartTableResponse:
        """By the owner."""
        account = (await self._callers.session(context)).account
        started = await self._lobby.start(account, request.match_id, request.command_id)
        return self._answer(pb.StartTableResponse, started, account)

    async def FillSeats(self, request: pb.FillSeatsRequest, context: Context) -> pb.FillSeatsResponse:
        """Bots of the house, by the owner."""
        account = (await self._callers.session(context)).account
        after = await self._lobby.fill(account, request.match_id, request.command_id)
        return self._answer(pb.FillSeatsResponse, after, account)

    async def RemovePlayer(self, request: pb.RemovePlayerRequest, context: Context) -> pb.RemovePlayerResponse:
        """By the owner."""
        account = (await self._callers.session(context)).account
        after = await self._lobby.remove(account, request.match_id, request.account_id, request.command_id)
        return self._answer(pb.RemovePlayerResponse, after, account)

    async def AllowPlayer(self, request: pb.AllowPlayerRequest, context: Context) -> pb.AllowPlayerResponse:
        """By the owner."""
        account = (await self._callers.session(context)).account
        after = await self._lobby.allow(account, request.match_id, request.account_id, request.command_id)
        return self._answer(pb.AllowPlayerResponse, after, account)

    async def AgreeRematch(self, request: pb.AgreeRematchRequest, context: Context) -> pb.AgreeRematchResponse:
        """Another match."""
        account = (await self._callers.session(context)).account
        commitment = request.entropy_commitment
        after = await self._lobby.rematch(account, request.match_id, commitment, request.command_id)
        return self._answer(pb.AgreeRematchResponse, after, account)

    def _answer(self, kind: type[R], result: Table | game_pb2.Refusal, account: Account) -> R:
        made: Any = kind
        if isinstance(result, game_pb2.Refusal):
            return made(refused=result)  # type: ignore[no-any-return]
        return made(table=self._messages.table(result, account))  # type: ignore[no-any-return]
