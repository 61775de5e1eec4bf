"""Listing and joining tables over gRPC: one gateway process, table actors, Valkey with fsync always.

    python -m bench.lobby [--tables 2000] [--calls 400]

All calls are made one after the other by one client, so what is shown is what one person waits. Listings are pages of
50 with every option of every table; before each measured listing a table changes, so that the gateway has to read it.
Joins are to tables of 红十: every fourth one fills a table and includes making its match.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TypeVar

from kangtou.v1 import lobby_pb2 as pb
from kangtou.v1 import lobby_pb2_grpc as rpc
from kangtou_clients.api import Client, Login, Place, TableFilter, Wanted, connect
from tests.faults.server import running

T = TypeVar("T")

GAMES = (Wanted("hongshi"), Wanted("duizhu", rules="quick"), Wanted("wushik", rules="liaoning"), Wanted("erbaiwu"))
JOINED = Wanted("hongshi", rules="quick")
AT_ONCE = 16


def percentile(values: Sequence[float], part: float) -> float:
    """The value below which that part of them lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * part))]


def show(what: str, waits: Sequence[float]) -> None:
    """A line of the table, milliseconds."""
    median, p95, p99 = statistics.median(waits), percentile(waits, 0.95), percentile(waits, 0.99)
    print(f"{what:<34} {len(waits):>5} calls   median {median:6.1f} ms   p95 {p95:6.1f} ms   p99 {p99:6.1f} ms")


async def timed(call: Callable[[], Awaitable[T]], waits: list[float]) -> T:
    """Do something, and note how many milliseconds it took."""
    began = time.perf_counter()
    result = await call()
    waits.append((time.perf_counter() - began) * 1000)
    return result


async def account(address: str, name: str) -> Client:
    """A client with an account of its own."""
    client = connect(address)
    login = await client.accounts.register(name, "bot")
    assert isinstance(login, Login), login
    return client


async def open_all(client: Client, count: int) -> list[float]:
    """Open tables of all games, several at a time."""
    waits: list[float] = []
    turns = iter(range(count))

    async def some() -> None:
        for number in turns:
            table = await timed(lambda: client.lobby.open(GAMES[number % len(GAMES)]), waits)  # noqa: B023
            assert isinstance(table, pb.Table), table

    await asyncio.gather(*(some() for _ in range(AT_ONCE)))
    return waits


async def list_all(client: Client, changing: Client, calls: int) -> None:
    """Pages of the list, by different filters; a table changes before each."""
    stub = rpc.LobbyServiceStub(client.channel)
    table = await changing.lobby.open(Wanted("hongshi"))
    assert isinstance(table, pb.Table), table
    first = await client.unary(stub.ListTables, pb.ListTablesRequest(page_size=50))
    token = first.next_page_token
    for _ in range(10):
        page = await client.unary(stub.ListTables, pb.ListTablesRequest(page_size=50, page_token=token))
        token = page.next_page_token or token
    asked = {
        "first page": pb.ListTablesRequest(page_size=50, states=[pb.TABLE_STATE_OPEN]),
        "twelfth page": pb.ListTablesRequest(page_size=50, page_token=token),
        "by game, rules and free seats": pb.ListTablesRequest(
            page_size=50, game="duizhu", filter=TableFilter(rules="quick", free_seats=2).filter_pb()
        ),
        "by an option": pb.ListTablesRequest(page_size=50, filter=TableFilter(options={"rounds": 8}).filter_pb()),
    }
    everything: list[float] = []
    for what, request in asked.items():
        waits: list[float] = []
        for number in range(calls // len(asked)):
            if number % 2:
                await changing.lobby.stand(table.match_id)
            else:
                await changing.lobby.sit(table.match_id)
            response = await timed(lambda: client.unary(stub.ListTables, request), waits)  # noqa: B023
            assert len(response.tables) >= 10
        show(f"list, {what}", waits)
        everything += waits
    show("list, all", everything)


async def join_all(clients: Sequence[Client], calls: int) -> None:
    """One after the other sits down at a table; the last one makes the match."""
    first: list[float] = []
    last: list[float] = []
    for _ in range(calls // len(clients)):
        table = await clients[0].lobby.open(JOINED)
        assert isinstance(table, pb.Table), table
        match = table.match_id
        for client in clients:
            place = await timed(lambda: client.lobby.sit(match), last if client is clients[-1] else first)  # noqa: B023
            assert isinstance(place, Place), place
    show("join, a seat", first)
    show("join, the last seat, with its match", last)
    show("join, all", first + last)


async def measure(address: str, tables: int, calls: int) -> None:
    """Print the table."""
    clients = [await account(address, name) for name in ("host", "reader", "changer", "ann", "bob", "cat", "dan")]
    host, reader, changer, *joining = clients
    show(f"open, {AT_ONCE} at a time", await open_all(host, tables))
    await list_all(reader, changer, calls)
    await join_all(joining, calls)
    for client in clients:
        await client.close()


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description="listing and joining tables")
    parser.add_argument("--tables", type=int, default=2_000, help="open tables while it is measured")
    parser.add_argument("--calls", type=int, default=400, help="measured listings, and joins")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kt-bench-") as folder:
        settings = {"gateways": 1, "actors": 1, "bot_open_tables": 100_000, "log_level": "error"}
        with running(Path(folder) / "data", **settings) as server:
            asyncio.run(measure(server.address, given.tables, given.calls))


if __name__ == "__main__":
    main()
