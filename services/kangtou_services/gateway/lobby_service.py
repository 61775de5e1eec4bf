"""LobbyService: games, tables with free seats, the queue."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import grpc
import structlog

from kangtou.v1 import game_pb2, party_pb2, table_pb2
from kangtou.v1 import lobby_pb2 as pb
from kangtou.v1 import lobby_pb2_grpc as rpc
from kangtou.v1.party_pb2_grpc import add_PartyServiceServicer_to_server
from kangtou.v1.table_pb2_grpc import add_TableServiceServicer_to_server

from ..accounts.deletion import Deletions
from ..archive.index import Index
from ..blocks import Blocks
from ..house_rules import HouseRules
from ..identity import Identity
from ..lobby import (
    BadPage,
    Lobby,
    LobbySettings,
    LobbyStore,
    Matches,
    MemoryLobbyStore,
    RedisLobbyStore,
    Sweeper,
)
from ..lobby.filling import Calls
from ..lobby.rematch import Result
from ..marks import Marks
from ..matchmaking import Matchmaker
from ..opening import Choice, Clocks, Games, LiveMatches, Opening, clocks_of
from ..refusals import refusal
from ..settings import Settings
from .auth import Callers
from .calls import CallError, Code, Context
from .choosing import chosen
from .lobby_messages import TICKETS, Messages, game_info, status_to_pb, terms_of
from .matching import QueueStores, matchmaker_of
from .party_service import PartyService
from .table_service import TableService

if TYPE_CHECKING:
    from .server import Parts

_log = structlog.get_logger(__name__)

_PAGE, _PAGE_MOST = 50, 200
_NAMES = tuple(
    module.DESCRIPTOR.services_by_name[name].full_name
    for module, name in ((pb, "LobbyService"), (table_pb2, "TableService"), (party_pb2, "PartyService"))
)


class LobbyService(rpc.LobbyServiceServicer):
    """kangtou.v1.LobbyService."""

    def __init__(
        self,
        games: Games,
        messages: Messages,
        clocks: Clocks,
        lobby: Lobby,
        maker: Matchmaker,
        callers: Callers,
        identity: Identity,
        fill_after_ms: int = 0,
    ) -> None:
        self._games = games
        self._messages = messages
        self._clocks = clocks
        self._lobby = lobby
        self._maker = maker
        self._callers = callers
        self._fill_after_ms = fill_after_ms
        self._identity = identity

    async def ListGames(self, request: pb.ListGamesRequest, context: Context) -> pb.ListGamesResponse:
        """For everybody, also without a token."""
        return pb.ListGamesResponse(games=[game_info(self._games, name) for name in self._games.names()])

    async def OpenTable(self, request: pb.OpenTableRequest, context: Context) -> pb.OpenTableResponse:
        """A table with free seats."""
        account = (await self._callers.session(context)).account
        choice = self._chosen(request.choice, request.rules, request.clock, rated=request.rated)
        if isinstance(choice, game_pb2.Refusal):
            return pb.OpenTableResponse(refused=choice)
        terms = terms_of(request, account, self._fill_after_ms)
        if isinstance(terms, game_pb2.Refusal):
            return pb.OpenTableResponse(refused=terms)
        if terms.scorer and terms.scorer not in await self._identity.accounts([terms.scorer]):
            no = refusal("unknown_scorer", account=terms.scorer if terms.scorer.isascii() else "?")
            return pb.OpenTableResponse(refused=no)
        opened = await self._lobby.open_table(account, choice, request.command_id, terms, private=request.private)
        if isinstance(opened, game_pb2.Refusal):
            return pb.OpenTableResponse(refused=opened)
        return pb.OpenTableResponse(table=self._messages.table(opened, account))

    async def ListTables(self, request: pb.ListTablesRequest, context: Context) -> pb.ListTablesResponse:
        """A page of public tables, the newest first."""
        account = (await self._callers.session(context)).account
        size = min(request.page_size, _PAGE_MOST) if request.page_size > 0 else _PAGE
        wanted = self._messages.wanted(request.game, request.states, request.filter)
        try:
            found, token = await self._lobby.page(wanted, size, request.page_token)
        except BadPage as error:
            raise CallError(Code.INVALID_ARGUMENT, "this is no page token", "分页标记无效") from error
        tables = [self._messages.table(table, account) for table in found]
        return pb.ListTablesResponse(tables=tables, next_page_token=token)

    async def GetTable(self, request: pb.GetTableRequest, context: Context) -> pb.GetTableResponse:
        """One table, of the lobby or of any match that is not long over."""
        account = (await self._callers.session(context)).account
        found = await self._lobby.table(request.match_id, account, request.code)
        if isinstance(found, game_pb2.Refusal):
            return pb.GetTableResponse(refused=found)
        return pb.GetTableResponse(table=self._messages.table(found, account))

    async def Sit(self, request: pb.SitRequest, context: Context) -> pb.SitResponse:
        """Take a seat."""
        account = (await self._callers.session(context)).account
        seat = request.seat if request.HasField("seat") else None
        commitment = request.entropy_commitment
        sat = await self._lobby.sit(account, request.match_id, seat, commitment, request.command_id, request.code)
        if isinstance(sat, game_pb2.Refusal):
            return pb.SitResponse(refused=sat)
        return pb.SitResponse(seat=sat[0], table=self._messages.table(sat[1], account))

    async def Stand(self, request: pb.StandRequest, context: Context) -> pb.StandResponse:
        """Give it back."""
        account = (await self._callers.session(context)).account
        stood = await self._lobby.stand(account, request.match_id, request.command_id)
        if isinstance(stood, game_pb2.Refusal):
            return pb.StandResponse(refused=stood)
        return pb.StandResponse(table=self._messages.table(stood, account))

    def _chosen(
        self, given: game_pb2.GameChoice, rules: str, clock: game_pb2.Clock, *, rated: bool
    ) -> Choice | game_pb2.Refusal:
        return chosen(self._games, self._clocks, given, rules, clock, rated=rated)

    async def QuickMatch(self, request: pb.QuickMatchRequest, context: Context) -> AsyncIterator[pb.QuickMatchResponse]:
        """A ticket's status until the table is ready. When the call ends, the ticket gives its place up."""
        account = (await self._callers.session(context)).account
        choice = self._chosen(request.choice, request.rules, request.clock, rated=request.rated)
        ticket = request.command_id
        if isinstance(choice, game_pb2.Refusal):
            yield pb.QuickMatchResponse(state=pb.TICKET_STATE_REFUSED, refused=choice, ticket_id=ticket)
            return
        news = self._maker.quick(account, request.pool, choice, request.entropy_commitment, ticket, request.party)
        async with aclosing(news):
            async for status in news:
                yield status_to_pb(status, ticket)

    async def AnswerMatch(self, request: pb.AnswerMatchRequest, context: Context) -> pb.AnswerMatchResponse:
        """Take or decline what a ticket is offered."""
        mine = (await self._callers.session(context)).account.account_id
        answer = await self._maker.answer(mine, request.ticket_id, request.match_id, request.accept)
        return pb.AnswerMatchResponse(refused=answer if isinstance(answer, game_pb2.Refusal) else None)

    async def CancelTicket(self, request: pb.CancelTicketRequest, context: Context) -> pb.CancelTicketResponse:
        """Take a ticket back, if it is in time."""
        account = (await self._callers.session(context)).account
        status = await self._maker.cancel(account.account_id, request.ticket_id)
        return pb.CancelTicketResponse(state=TICKETS[status.state], match_id=status.match_id, seat=max(status.seat, 0))


# ---- a gateway's part ----


class ArchivedResults:
    """Results as the archive's index has them: a match is archived before it counts as ended."""

    def __init__(self, index: Index) -> None:
        self._index = index

    async def result(self, match_id: str) -> Result | None:
        """See lobby.Results."""
        try:
            return await asyncio.to_thread(self._index.find, match_id)
        except OSError as error:
            _log.warning("result_not_read", match=match_id, error=type(error).__name__)
            return None  # it is asked for again


def lobby_settings(settings: Settings) -> LobbySettings:
    """The lobby's part of the settings."""
    return LobbySettings(
        open_most=settings.open_tables, bot_open_most=settings.bot_open_tables, idle_ms=settings.idle_table_ms
    )


@dataclass(frozen=True, slots=True)
class _Stores:
    queue: QueueStores
    tables: LobbyStore


def add(
    identity: Identity, marks: Marks, deletions: Deletions, blocks: Blocks
) -> Callable[[grpc.aio.Server, Parts], tuple[tuple[str, ...], Callable[[], Coroutine[Any, Any, None]]]]:
    """What adds this service to a gateway. Gateways without Redis that are given the same share one lobby."""
    in_memory = _Stores(QueueStores.in_memory(), MemoryLobbyStore())

    def extra(server: grpc.aio.Server, parts: Parts) -> tuple[tuple[str, ...], Callable[[], Coroutine[Any, Any, None]]]:
        client, settings, matches = parts.backend.client, parts.backend.settings, parts.backend.store
        stores = in_memory
        if client is not None:
            replicas = settings.replicas
            stores = _Stores(QueueStores.on(client, replicas), RedisLobbyStore(client, replicas))
        games: Games = parts.backend.registry
        clocks = clocks_of(settings)
        opening, live = Opening(matches, parts.router, clocks), LiveMatches(matches)
        maintained = parts.maintenance.on
        maker = matchmaker_of(stores.queue, parts.backend, marks, opening, live, blocks, maintained, parts.queues)
        known = Matches(matches, opening, live, ArchivedResults(parts.backend.archiver.index))
        lobby = Lobby(
            stores.tables, marks, known, lobby_settings(settings), blocks=blocks, calls=Calls(parts.backend.needs)
        )
        sweeper = Sweeper(lobby)
        deletions.on_delete += [maker.forget, lobby.leave_all]
        maker.start()
        sweeper.start()
        messages = Messages(HouseRules(games))
        service = LobbyService(games, messages, clocks, lobby, maker, parts.callers, identity, settings.fill_after_ms)
        rpc.add_LobbyServiceServicer_to_server(service, server)
        parties = PartyService(games, clocks, stores.queue.parties, maker, identity, marks, parts.callers)
        add_PartyServiceServicer_to_server(parties, server)
        add_TableServiceServicer_to_server(TableService(lobby, messages, parts.callers), server)

        async def stop() -> None:
            await maker.stop()
            await sweeper.stop()
            await lobby.stop()

        return _NAMES, stop

    return extra
