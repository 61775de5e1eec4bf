"""A table before and between its matches, and the list of tables as it changes. Tables are the protocol's messages."""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator, Collection, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import grpc
from tenacity import wait_random_exponential

from kangtou.v1 import game_pb2
from kangtou.v1 import lobby_pb2 as pb
from kangtou.v1 import table_pb2 as table_pb
from kangtou.v1 import table_pb2_grpc as rpc
from kangtou.wire import option_to_pb
from kangtou_engine.cards import Seat
from kangtou_engine.shuffle import entropy_commitment

from .values import Refused, Unavailable, failed, refused_from

if TYPE_CHECKING:
    from .client import Client

ENTROPY_BYTES = 32
PATIENCE = 8  # attempts in a row to get back to the list
KINDS = {
    "": game_pb2.ACCOUNT_KIND_UNSPECIFIED,
    "human": game_pb2.ACCOUNT_KIND_HUMAN,
    "bot": game_pb2.ACCOUNT_KIND_BOT,
}
STARTS = {"seated": pb.START_RULE_SEATED, "ready": pb.START_RULE_READY, "owner": pb.START_RULE_OWNER}
STATES = {"open": pb.TABLE_STATE_OPEN, "playing": pb.TABLE_STATE_PLAYING, "over": pb.TABLE_STATE_OVER}


@dataclass(frozen=True, slots=True)
class TableTerms:
    """How a table is opened: what makes its match start (`seated`, `ready`, `owner`), who may sit (`human`, `bot`).

    Seconds 0: the server's. `fill_after_s`: when house bots take the free seats; `only_guests`: not by themselves.

    `watch`: what spectators see, `none`, `no_hands`, `round` or `open`, so many seconds late.
    `scorer`: an account; "": at an unrated table its owner.
    """

    start: str = "seated"
    private: bool = False
    rated: bool = False
    kind: str = ""
    ready_s: int = 0
    rematch_s: int = 0
    fill_after_s: int = 0
    only_guests: bool = False
    watch: str = "no_hands"
    watch_delay_s: int = 0
    scorer: str = ""


AS_USUAL = TableTerms()


@dataclass(frozen=True, slots=True)
class TableFilter:
    """Which tables; what is left empty does not matter."""

    game: str = ""
    states: Collection[str] = ("open",)
    rules: str = ""
    options: Mapping[str, int | bool | str] = field(default_factory=dict)
    free_seats: int = 0
    rated: bool | None = None
    kind: str = ""
    seats: int = 0

    def states_pb(self) -> list[pb.TableState.ValueType]:
        """For the protocol."""
        return [STATES[state] for state in self.states]

    def filter_pb(self) -> pb.TableFilter:
        """For the protocol."""
        return pb.TableFilter(
            rules=self.rules,
            options={name: option_to_pb(value) for name, value in self.options.items()},
            free_seats=self.free_seats,
            rated=self.rated,
            kind=KINDS[self.kind],
            seats=self.seats,
        )


@dataclass(frozen=True, slots=True)
class TableChange:
    """Of a list: `snapshot` (all that there are now), `added`, `changed`; `removed` has only the table's id."""

    what: str
    tables: tuple[pb.Table, ...] = ()
    match_id: str = ""


@dataclass(frozen=True, slots=True)
class Rematch:
    """That one agreed to another match: its id and one's seat in it, and the entropy that was committed to."""

    table: pb.Table
    match_id: str
    seat: Seat
    entropy: bytes = field(repr=False)


class Tables:
    """`client.tables`."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._stub = rpc.TableServiceStub(client.channel)

    async def change_seat(self, match_id: str, seat: Seat, command_id: str = "") -> pb.Table | Refused:
        """Take another free seat."""
        request = table_pb.ChangeSeatRequest(match_id=match_id, command_id=_id(command_id), seat=seat)
        return _table(await self._client.unary(self._stub.ChangeSeat, request))

    async def ready(self, match_id: str, ready: bool = True, command_id: str = "") -> pb.Table | Refused:
        """Say that one is ready, or not."""
        request = table_pb.SetReadyRequest(match_id=match_id, command_id=_id(command_id), ready=ready)
        return _table(await self._client.unary(self._stub.SetReady, request))

    async def start(self, match_id: str, command_id: str = "") -> pb.Table | Refused:
        """As the owner, start the match."""
        request = table_pb.StartTableRequest(match_id=match_id, command_id=_id(command_id))
        return _table(await self._client.unary(self._stub.StartTable, request))

    async def fill(self, match_id: str, command_id: str = "") -> pb.Table | Refused:
        """As the owner, have bots of the house take the free seats."""
        request = table_pb.FillSeatsRequest(match_id=match_id, command_id=_id(command_id))
        return _table(await self._client.unary(self._stub.FillSeats, request))

    async def remove(self, match_id: str, account_id: str, command_id: str = "") -> pb.Table | Refused:
        """As the owner, remove somebody before the start."""
        request = table_pb.RemovePlayerRequest(match_id=match_id, command_id=_id(command_id), account_id=account_id)
        return _table(await self._client.unary(self._stub.RemovePlayer, request))

    async def allow(self, match_id: str, account_id: str, command_id: str = "") -> pb.Table | Refused:
        """As the owner, let somebody come back who was removed."""
        request = table_pb.AllowPlayerRequest(match_id=match_id, command_id=_id(command_id), account_id=account_id)
        return _table(await self._client.unary(self._stub.AllowPlayer, request))

    async def rematch(self, match_id: str, account_id: str, command_id: str = "") -> Rematch | Refused:
        """Agree on another match at a table, as the account that one is. It has begun when `settled` says so."""
        entropy = secrets.token_bytes(ENTROPY_BYTES)
        request = table_pb.AgreeRematchRequest(
            match_id=match_id, command_id=_id(command_id), entropy_commitment=entropy_commitment(entropy)
        )
        table = _table(await self._client.unary(self._stub.AgreeRematch, request))
        if isinstance(table, Refused):
            return table
        seats = [seat.account_id for seat in table.seats]
        return Rematch(table, table.current_match_id, seats.index(account_id), entropy)

    async def settled(self, agreed: Rematch) -> pb.Table | Refused:
        """Wait until the match that one agreed to plays, or the table is open again, or it comes to nothing."""
        everything = TableFilter(states=())
        async with aclosing(self.watch(everything, match_id=agreed.table.match_id)) as changes:
            async for change in changes:
                if isinstance(change, Refused):
                    return change
                for table in change.tables:
                    if not _agreeing(table) and not _being_made(table):
                        return table
        return Refused("", "unknown_table", "there is no such table", "没有这张牌桌")

    async def watch(
        self, wanted: TableFilter, *, match_id: str = "", code: str = ""
    ) -> AsyncGenerator[TableChange | Refused, None]:
        """A list as it changes, or one table until it goes; after a lost connection again from a snapshot."""
        request = table_pb.WatchTablesRequest(
            game=wanted.game, states=wanted.states_pb(), filter=wanted.filter_pb(), match_id=match_id, code=code
        )
        pause, lost = wait_random_exponential(multiplier=0.1, max=2.0), 0
        while True:
            call = self._stub.WatchTables(request, metadata=self._client.metadata())
            found: list[pb.Table] = []
            try:
                async for response in call:
                    lost = 0
                    if response.HasField("refused"):
                        yield refused_from(response.refused)
                        return
                    if response.HasField("snapshot"):
                        found += response.snapshot.tables
                        if not response.snapshot.more:
                            yield TableChange("snapshot", tuple(found))
                            found = []
                        continue
                    yield _change(response)
                    if response.removed and match_id:
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


def _agreeing(table: pb.Table) -> bool:
    """Whether others may still agree on another match."""
    return table.state == pb.TABLE_STATE_OVER and table.rematch_until_ms > 0


def _being_made(table: pb.Table) -> bool:
    """Whether the next match is about to play: shown as open, with every seat taken and nobody to get ready."""
    taken = all(seat.account_id for seat in table.seats)
    return table.state == pb.TABLE_STATE_OPEN and taken and not table.ready_until_ms


def _change(response: table_pb.WatchTablesResponse) -> TableChange:
    what = response.WhichOneof("change")
    if what == "removed":
        return TableChange(what, (), response.removed)
    table = response.added if what == "added" else response.changed
    return TableChange(what or "changed", (table,), table.match_id)


def _id(command_id: str) -> str:
    return command_id or secrets.token_hex(8)


def _table(response: Any) -> pb.Table | Refused:
    if response.HasField("refused"):
        return refused_from(response.refused)
    table: pb.Table = response.table
    return table
