"""Finding a table: open ones with free seats, and the queue."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

import grpc
from tenacity import wait_random_exponential

from kangtou.v1 import game_pb2
from kangtou.v1 import lobby_pb2 as pb
from kangtou.v1 import lobby_pb2_grpc as rpc
from kangtou.wire import option_to_pb
from kangtou_engine.cards import Seat
from kangtou_engine.shuffle import entropy_commitment

from .spectating import POLICIES
from .tables import AS_USUAL, ENTROPY_BYTES, KINDS, STARTS, TableFilter, TableTerms
from .values import Refused, Unavailable, failed, refused_from

if TYPE_CHECKING:
    from .client import Client

PATIENCE = 8  # attempts in a row to get back to the queue


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to play. `version` and `seats` 0: the newest, the game's default. Clocks in ms, 0: the server's.

    `rules`: named house rules instead of options.
    """

    game: str
    version: int = 0
    seats: int = 0
    options: Mapping[str, int | bool | str] = field(default_factory=dict)
    turn_ms: int = 0
    window_ms: int = 0
    rules: str = ""
    bank_ms: int = 0
    increment_ms: int = 0
    lag_ms: int = 0
    lag_match_ms: int = 0

    def choice(self) -> game_pb2.GameChoice:
        """For the protocol."""
        options = {name: option_to_pb(value) for name, value in self.options.items()}
        return game_pb2.GameChoice(game=self.game, version=self.version, seats=self.seats, options=options)

    def clock(self) -> game_pb2.Clock:
        """For the protocol."""
        return game_pb2.Clock(
            turn_ms=self.turn_ms,
            window_ms=self.window_ms,
            bank_ms=self.bank_ms,
            increment_ms=self.increment_ms,
            lag_ms=self.lag_ms,
            lag_match_ms=self.lag_match_ms,
        )


@dataclass(frozen=True, slots=True)
class Place:
    """A seat in a match, and the entropy whose commitment was given for it: hand both to `Session.attach`."""

    match_id: str
    seat: Seat
    entropy: bytes

    def __repr__(self) -> str:
        return f"Place({self.match_id!r}, seat={self.seat})"


@dataclass(frozen=True, slots=True)
class Queued:
    """A ticket's status: waiting (with how many wait in all), offered, matched, ready, cancelled or refused.

    answer_by_ms  offered: until when the match may be taken (Unix ms)
    accepted      how many have taken it; `answered`: whether this ticket has
    estimate_ms   how long others waited lately (median); 0: not known
    """

    state: str
    waiting: int = 0
    match_id: str = ""
    seat: Seat = 0
    refused: Refused | None = None
    answer_by_ms: int = 0
    accepted: int = 0
    answered: bool = False
    estimate_ms: int = 0


_STATES = {
    pb.TICKET_STATE_WAITING: "waiting",
    pb.TICKET_STATE_MATCHED: "matched",
    pb.TICKET_STATE_READY: "ready",
    pb.TICKET_STATE_CANCELLED: "cancelled",
    pb.TICKET_STATE_REFUSED: "refused",
    pb.TICKET_STATE_OFFERED: "offered",
}


class Lobby:
    """`client.lobby`. Tables and games are given as the protocol's messages."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._stub = rpc.LobbyServiceStub(client.channel)

    async def games(self) -> tuple[pb.GameInfo, ...]:
        """The games that are played here, with their options."""
        return tuple((await self._client.unary(self._stub.ListGames, pb.ListGamesRequest())).games)

    async def tables(self, game: str = "", wanted: TableFilter | None = None) -> AsyncIterator[pb.Table]:
        """Public tables, the newest first: open ones unless something else is wanted."""
        wanted = wanted or TableFilter(game)
        token = ""
        while True:
            request = pb.ListTablesRequest(
                game=wanted.game,
                page_size=100,
                page_token=token,
                states=wanted.states_pb(),
                filter=wanted.filter_pb(),
            )
            response = await self._client.unary(self._stub.ListTables, request)
            for table in response.tables:
                yield table
            token = response.next_page_token
            if not token:
                return

    async def table(self, match_id: str, code: str = "") -> pb.Table | Refused:
        """One table, a private one by its code."""
        response = await self._client.unary(self._stub.GetTable, pb.GetTableRequest(match_id=match_id, code=code))
        return refused_from(response.refused) if response.HasField("refused") else response.table

    async def open(self, wanted: Wanted, command_id: str = "", terms: TableTerms = AS_USUAL) -> pb.Table | Refused:
        """Open a table with free seats. The match starts when all are taken, unless the terms are others."""
        request = pb.OpenTableRequest(
            choice=wanted.choice(),
            clock=wanted.clock(),
            command_id=command_id or secrets.token_hex(8),
            rules=wanted.rules,
            start=STARTS[terms.start],
            private=terms.private,
            rated=terms.rated,
            kind=KINDS[terms.kind],
            ready_s=terms.ready_s,
            rematch_s=terms.rematch_s,
            fill_after_s=terms.fill_after_s,
            only_guests=terms.only_guests,
            watch=POLICIES[terms.watch],
            watch_delay_s=terms.watch_delay_s,
            scorer_id=terms.scorer,
        )
        response = await self._client.unary(self._stub.OpenTable, request)
        return refused_from(response.refused) if response.HasField("refused") else response.table

    async def sit(
        self, match_id: str, seat: Seat | None = None, command_id: str = "", code: str = "", commit: bool = True
    ) -> Place | Refused:
        """Take a seat, any free one by default; at a private table by its code. `commit`: to an own entropy."""
        entropy = secrets.token_bytes(ENTROPY_BYTES) if commit else b""
        request = pb.SitRequest(
            match_id=match_id,
            entropy_commitment=entropy_commitment(entropy) if commit else "",
            command_id=command_id or secrets.token_hex(8),
            code=code,
        )
        if seat is not None:
            request.seat = seat
        response = await self._client.unary(self._stub.Sit, request)
        if response.HasField("refused"):
            return refused_from(response.refused)
        return Place(response.table.current_match_id or match_id, response.seat, entropy)

    async def stand(self, match_id: str, command_id: str = "") -> pb.Table | Refused:
        """Give a seat back before a match starts or after it is over; an owner without a seat gives the table up."""
        request = pb.StandRequest(match_id=match_id, command_id=command_id or secrets.token_hex(8))
        response = await self._client.unary(self._stub.Stand, request)
        return refused_from(response.refused) if response.HasField("refused") else response.table

    def quick(
        self,
        wanted: Wanted,
        *,
        rated: bool = False,
        pool: str = "",
        command_id: str = "",
        party: str = "",
        take: bool = True,
    ) -> QuickMatch:
        """Queue for a match: `async with lobby.quick(…) as queue: place = await queue.place()`.

        party   the code of a party: its other member becomes the partner
        take    take a match that is offered by itself; else call `answer`
        """
        found = QuickMatch(self._client, self._stub, wanted, rated, pool, command_id or secrets.token_hex(8), party)
        found.take = take
        return found


class QuickMatch:
    """A ticket in the queue. Leaving the context before there is a place takes it back."""

    def __init__(
        self,
        client: Client,
        stub: rpc.LobbyServiceStub,
        wanted: Wanted,
        rated: bool,
        pool: str,
        command_id: str,
        party: str = "",
    ) -> None:
        self._client = client
        self._stub = stub
        self.entropy = secrets.token_bytes(ENTROPY_BYTES)
        self.ticket_id = command_id
        self.take = True
        self._settled = False
        self._request = pb.QuickMatchRequest(
            choice=wanted.choice(),
            clock=wanted.clock(),
            rated=rated,
            pool=pool,
            entropy_commitment=entropy_commitment(self.entropy),
            command_id=command_id,
            rules=wanted.rules,
            party=party,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if not self._settled:
            await self.cancel()

    async def cancel(self) -> Place | None:
        """Take the ticket back; the place, if it was too late. Raises CallFailed."""
        self._settled = True
        request = pb.CancelTicketRequest(ticket_id=self.ticket_id)
        response = await self._client.unary(self._stub.CancelTicket, request)
        if response.state in (pb.TICKET_STATE_MATCHED, pb.TICKET_STATE_READY):
            return Place(response.match_id, response.seat, self.entropy)
        return None

    async def answer(self, match_id: str, *, accept: bool) -> Refused | None:
        """Take or decline a match that is offered. Who declines repeatedly waits before queueing again."""
        request = pb.AnswerMatchRequest(ticket_id=self.ticket_id, match_id=match_id, accept=accept)
        response = await self._client.unary(self._stub.AnswerMatch, request)
        return refused_from(response.refused) if response.HasField("refused") else None

    async def place(self) -> Place | Refused:
        """Until there is a table."""
        async for status in self.statuses():
            if status.state == "ready":
                return Place(status.match_id, status.seat, self.entropy)
            if status.refused is not None:
                return status.refused
        return Refused("", "cancelled", "the ticket was taken back", "排队已取消")

    async def statuses(self) -> AsyncIterator[Queued]:
        """The ticket's status whenever it changes; after a lost connection the same ticket is joined again."""
        pause = wait_random_exponential(multiplier=0.1, max=2.0)
        lost = 0
        while True:
            call = self._stub.QuickMatch(self._request, metadata=self._client.metadata())
            try:
                async for response in call:
                    lost = 0
                    status = _queued(response)
                    self._settled = status.state in ("ready", "cancelled", "refused")
                    if status.state == "offered" and self.take and not status.answered:
                        await self.answer(status.match_id, accept=True)  # if it is off by now, a status says so
                    yield status
                    if self._settled:
                        return
                return
            except grpc.aio.AioRpcError as error:
                reason = failed(error)
                if not isinstance(reason, Unavailable) or lost >= PATIENCE:
                    raise reason from None
            finally:
                call.cancel()
            lost += 1
            await self._client.pause(pause, lost)


def _queued(message: pb.QuickMatchResponse) -> Queued:
    refused = refused_from(message.refused) if message.HasField("refused") else None
    state = _STATES.get(message.state, "waiting")
    return Queued(
        state,
        message.waiting,
        message.match_id,
        message.seat,
        refused,
        message.answer_by_ms,
        message.accepted,
        message.answered,
        message.estimate_ms,
    )
