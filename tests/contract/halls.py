"""What tests of tables stand on: several gateways' lobbies on one store."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from uuid import uuid4

from kangtou.v1 import game_pb2 as pb
from kangtou_services.agreement import Member
from kangtou_services.identity import Account
from kangtou_services.lobby import (
    Lobby,
    LobbySettings,
    LobbyStore,
    Matches,
    Sweeper,
    Table,
    TableState,
)
from kangtou_services.lobby.base import Answer
from kangtou_services.lobby.rematch import Result
from kangtou_services.lobby.seating import Done, sit
from kangtou_services.log.base import MatchStore
from kangtou_services.marks import Marks
from kangtou_services.opening import Choice, LiveMatches, Opening

from .rooms import CLOCKS, OpenTables, choose


@dataclass
class Gateway:
    """One gateway's part."""

    lobby: Lobby
    sweeper: Sweeper
    tables: OpenTables


@dataclass(frozen=True)
class Ended:
    """A Result."""

    scores: tuple[int, ...]
    places: tuple[int, ...]
    cause: str = "rules"


@dataclass
class Told:
    """Results as a test gives them."""

    of: dict[str, Ended] = field(default_factory=dict)

    async def result(self, match_id: str) -> Result | None:
        return self.of.get(match_id)


@dataclass
class Hall:
    """What gateways share."""

    store: LobbyStore
    marks: Marks
    matches: MatchStore
    now: int = 1_800_000_000_000
    results: Told = field(default_factory=Told)
    made: list[str] = field(default_factory=list)

    @asynccontextmanager
    async def gateway(self, *, sweeps: bool = False, **settings: int) -> AsyncIterator[Gateway]:
        """One more."""
        tables = OpenTables()
        opening = Opening(self.matches, tables, CLOCKS, lambda: self.now)
        wanted = LobbySettings(sweep_s=0.05, **settings)
        known = Matches(self.matches, opening, LiveMatches(self.matches), self.results)
        lobby = Lobby(self.store, self.marks, known, wanted, lambda: self.now)
        sweeper = Sweeper(lobby)
        if sweeps:
            sweeper.start()
        try:
            yield Gateway(lobby, sweeper, tables)
        finally:
            await sweeper.stop()
            await lobby.stop()

    async def listed(self, gateway: Gateway, *states: TableState) -> list[str]:
        """Ids of all tables, page by page; the list is shared with other tests, so only those made here."""
        found: list[Table] = []
        token = ""
        for _ in range(10_000):
            page, token = await gateway.lobby.page(lambda table: not states or table.state in states, 3, token)
            found += page
            if not token:
                return [table.table_id for table in found if table.table_id in self.made]
        raise AssertionError("the list does not end")


def anything(table: Table) -> bool:
    """Every table."""
    return True


def person(name: str = "p") -> Account:
    """An account."""
    return Account(f"{name}-{uuid4().hex[:8]}", name, "human")


def new_command() -> str:
    """A command id."""
    return uuid4().hex


def code_of(answer: object) -> str:
    """The code of a refusal in both languages."""
    assert isinstance(answer, pb.Refusal), answer
    assert answer.text_en
    assert answer.text_zh
    return answer.code


async def opened(hall: Hall, gateway: Gateway, choice: Choice | None = None) -> Table:
    """A new table."""
    table = await gateway.lobby.open_table(person("host"), choice or choose(), new_command())
    assert isinstance(table, Table), table
    hall.made.append(table.table_id)
    return table


async def sat(
    gateway: Gateway, table: Table, account: Account, seat: int | None = None, commitment: str = ""
) -> tuple[int, Table]:
    """Somebody sits down, who must not be refused."""
    answer = await gateway.lobby.sit(account, table.table_id, seat, commitment, new_command())
    assert not isinstance(answer, pb.Refusal), answer
    return answer


async def fill(hall: Hall, table: Table) -> None:
    """Two sit down, and the gateway dies before it makes the match."""
    for number in range(2):
        (now,) = await hall.store.tables([table.table_id])
        assert now is not None
        done = sit(now, Member(f"a{number}", "a", "human"), None, "", hall.now)
        assert isinstance(done, Done)
        assert await hall.store.put(done.table, True, f"a{number}/c", Answer("sit", seat=done.seat))
