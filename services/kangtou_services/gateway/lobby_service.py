"""LobbyService: games, tables with free seats, the queue."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import grpc

from kangtou.v1 import game_pb2
from kangtou.v1 import lobby_pb2 as pb
from kangtou.v1 import lobby_pb2_grpc as rpc
from kangtou.wire import option_to_pb

from ..agreement import Member
from ..identity import Identity
from ..lobby import BadPage, Lobby, LobbyStore, MemoryLobbyStore, RedisLobbyStore, Table, TableState
from ..marks import Marks
from ..matchmaking import Matchmaker, MatchmakingSettings, MemoryPoolStore, PoolStore, RedisPoolStore, State, Status
from ..matchmaking.matcher import Matcher
from ..opening import Clocks, Games, LiveMatches, Opening, check_choice
from .account_service import kind_to_pb
from .auth import Callers
from .calls import CallError, Code, Context

if TYPE_CHECKING:
    from .server import Parts

_PAGE, _PAGE_MOST = 50, 200
_TICKETS = {
    State.WAITING: pb.TICKET_STATE_WAITING,
    State.LEFT: pb.TICKET_STATE_WAITING,
    State.SILENT: pb.TICKET_STATE_WAITING,
    State.MATCHED: pb.TICKET_STATE_MATCHED,
    State.READY: pb.TICKET_STATE_READY,
    State.CANCELLED: pb.TICKET_STATE_CANCELLED,
}
_TABLES = {
    TableState.OPEN: pb.TABLE_STATE_OPEN,
    TableState.FULL: pb.TABLE_STATE_OPEN,  # its match is being made
    TableState.PLAYING: pb.TABLE_STATE_PLAYING,
    TableState.OVER: pb.TABLE_STATE_OVER,
}


class LobbyService(rpc.LobbyServiceServicer):
    """kangtou.v1.LobbyService."""

    def __init__(self, games: Games, clocks: Clocks, lobby: Lobby, maker: Matchmaker, callers: Callers) -> None:
        self._games = games
        self._clocks = clocks
        self._lobby = lobby
        self._maker = maker
        self._callers = callers

    async def ListGames(self, request: pb.ListGamesRequest, context: Context) -> pb.ListGamesResponse:
        """For everybody, also without a token."""
        return pb.ListGamesResponse(games=[game_info(self._games, name) for name in self._games.names()])

    async def OpenTable(self, request: pb.OpenTableRequest, context: Context) -> pb.OpenTableResponse:
        """A table with free seats."""
        account = (await self._callers.session(context)).account
        choice = check_choice(self._games, self._clocks, request.choice, request.clock)
        if isinstance(choice, game_pb2.Refusal):
            return pb.OpenTableResponse(refused=choice)
        opened = await self._lobby.open_table(account, choice, request.command_id)
        if isinstance(opened, game_pb2.Refusal):
            return pb.OpenTableResponse(refused=opened)
        return pb.OpenTableResponse(table=table_to_pb(opened))

    async def ListTables(self, request: pb.ListTablesRequest, context: Context) -> pb.ListTablesResponse:
        """A page of tables, the newest first."""
        await self._callers.session(context)
        size = min(request.page_size, _PAGE_MOST) if request.page_size > 0 else _PAGE
        states = {state for state, number in _TABLES.items() if number in request.states}
        try:
            found, token = await self._lobby.page(request.game, states, size, request.page_token)
        except BadPage as error:
            raise CallError(Code.INVALID_ARGUMENT, "this is no page token", "分页标记无效") from error
        return pb.ListTablesResponse(tables=map(table_to_pb, found), next_page_token=token)

    async def GetTable(self, request: pb.GetTableRequest, context: Context) -> pb.GetTableResponse:
        """One table, of the lobby or of any match that is not long over."""
        await self._callers.session(context)
        found = await self._lobby.table(request.match_id)
        if isinstance(found, game_pb2.Refusal):
            return pb.GetTableResponse(refused=found)
        return pb.GetTableResponse(table=table_to_pb(found))

    async def Sit(self, request: pb.SitRequest, context: Context) -> pb.SitResponse:
        """Take a seat."""
        account = (await self._callers.session(context)).account
        seat = request.seat if request.HasField("seat") else None
        commitment = request.entropy_commitment
        sat = await self._lobby.sit(account, request.match_id, seat, commitment, request.command_id)
        if isinstance(sat, game_pb2.Refusal):
            return pb.SitResponse(refused=sat)
        return pb.SitResponse(seat=sat[0], table=table_to_pb(sat[1]))

    async def Stand(self, request: pb.StandRequest, context: Context) -> pb.StandResponse:
        """Give it back."""
        account = (await self._callers.session(context)).account
        stood = await self._lobby.stand(account, request.match_id, request.command_id)
        if isinstance(stood, game_pb2.Refusal):
            return pb.StandResponse(refused=stood)
        return pb.StandResponse(table=table_to_pb(stood))

    async def QuickMatch(self, request: pb.QuickMatchRequest, context: Context) -> AsyncIterator[pb.QuickMatchResponse]:
        """A ticket's status until the table is ready. When the call ends, the ticket gives its place up."""
        account = (await self._callers.session(context)).account
        choice = check_choice(self._games, self._clocks, request.choice, request.clock, rated=request.rated)
        ticket = request.command_id
        if isinstance(choice, game_pb2.Refusal):
            yield pb.QuickMatchResponse(state=pb.TICKET_STATE_REFUSED, refused=choice, ticket_id=ticket)
            return
        news = self._maker.quick(account, request.pool, choice, request.entropy_commitment, ticket)
        async with aclosing(news):
            async for status in news:
                yield status_to_pb(status, ticket)

    async def CancelTicket(self, request: pb.CancelTicketRequest, context: Context) -> pb.CancelTicketResponse:
        """Take a ticket back, if it is in time."""
        account = (await self._callers.session(context)).account
        status = await self._maker.cancel(account.account_id, request.ticket_id)
        return pb.CancelTicketResponse(state=_TICKETS[status.state], match_id=status.match_id, seat=max(status.seat, 0))


# ---- values as messages ----


def game_info(games: Games, name: str) -> pb.GameInfo:
    """The newest version of a game, with its options."""
    spec = games.game(name).spec
    options = [
        pb.OptionInfo(name=row.name, rule=row.rule, allowed=row.allowed(), default_value=option_to_pb(row.default))
        for row in spec.option_rows
    ]
    return pb.GameInfo(
        game=spec.name,
        version=spec.version,
        title_en=spec.title[0],
        title_zh=spec.title[1],
        seats=spec.seats_allowed,
        options=options,
    )


def table_to_pb(table: Table) -> pb.Table:
    """A table as clients see it."""
    return pb.Table(
        match_id=table.table_id,
        state=_TABLES[table.state],
        choice=table.choice.choice_pb(),
        clock=table.choice.clock_pb(),
        rated=table.choice.rated,
        seats=map(_seat_to_pb, table.members),
    )


def _seat_to_pb(member: Member | None) -> pb.SeatInfo:
    if member is None:
        return pb.SeatInfo()
    return pb.SeatInfo(account_id=member.account_id, name=member.name, kind=kind_to_pb(member.kind))


def status_to_pb(status: Status | game_pb2.Refusal, ticket_id: str) -> pb.QuickMatchResponse:
    """A ticket's status as clients see it."""
    if isinstance(status, game_pb2.Refusal):
        return pb.QuickMatchResponse(state=pb.TICKET_STATE_REFUSED, refused=status, ticket_id=ticket_id)
    return pb.QuickMatchResponse(
        state=_TICKETS[status.state],
        match_id=status.match_id,
        seat=max(status.seat, 0),
        waiting=status.waiting,
        ticket_id=ticket_id,
    )


# ---- a gateway's part ----


@dataclass(frozen=True, slots=True)
class _Stores:
    pools: PoolStore
    tables: LobbyStore


def add(
    identity: Identity, marks: Marks
) -> Callable[[grpc.aio.Server, Parts], tuple[str, Callable[[], Coroutine[Any, Any, None]] | None]]:
    """What adds this service to a gateway. Gateways without Redis that are given the same share one lobby."""
    in_memory = _Stores(MemoryPoolStore(), MemoryLobbyStore())

    def extra(server: grpc.aio.Server, parts: Parts) -> tuple[str, Callable[[], Coroutine[Any, Any, None]]]:
        client, settings, matches = parts.backend.client, parts.backend.settings, parts.backend.store
        stores = in_memory
        if client is not None:
            replicas = settings.replicas
            stores = _Stores(RedisPoolStore(client, replicas), RedisLobbyStore(client, replicas))
        games: Games = parts.backend.registry
        clocks = Clocks(settings.turn_ms, settings.window_ms, settings.open_wait_ms)
        opening, live = Opening(matches, parts.router, clocks), LiveMatches(matches)
        matcher = Matcher(stores.pools, games, opening, live)
        quick = MatchmakingSettings(bot_tickets=settings.bot_tickets)
        maker = Matchmaker(stores.pools, marks, matcher, live, quick)
        lobby = Lobby(stores.tables, marks, games, matches, opening, live)
        maker.start()
        lobby.start()
        rpc.add_LobbyServiceServicer_to_server(LobbyService(games, clocks, lobby, maker, parts.callers), server)

        async def stop() -> None:
            await maker.stop()
            await lobby.stop()

        return pb.DESCRIPTOR.services_by_name["LobbyService"].full_name, stop

    return extra
