"""The table's process dies while house bots stand in: who has which seat is not forgotten with it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from typing import Any

import grpc

from kangtou_clients.api import Client, Match, Refused, connect
from kangtou_clients.api.house import Offer, Withdrawn
from kangtou_clients.bots.player import Tally, dice, play
from kangtou_services.games import load_registry
from kangtou_services.gateway import house_service
from kangtou_services.gateway.server import Parts
from kangtou_services.house import Lent, MemoryNeeds
from tests.inprocess import Server, until, whole_server

GAMES = load_registry("tests.games.parrot:GAME")


class Helper:
    """An account of the house that attaches where it is asked to, and plays until it is told to vanish."""

    def __init__(self, server: Server, name: str) -> None:
        server.identity.roles[name] = frozenset({"player", "house"})
        self.name = name
        self.offers: list[tuple[str, int]] = []
        self.tally = Tally()
        self._client = connect(server.address, f"t-{name}", registry=GAMES)
        self._playing: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Serve."""
        async with self._client as client, client.play() as session:
            try:
                async with aclosing(client.house.serve(self.name, {"parrot": 4})) as news:
                    async for one in news:
                        if isinstance(one, Offer):
                            self.offers.append((one.place, one.seat))
                            match = await session.attach(one.place, seat=one.seat, delegate=True)
                            assert isinstance(match, Match), match
                            self._playing.add(asyncio.create_task(self._play(match)))
                        else:
                            assert one is None or isinstance(one, Withdrawn)
            finally:
                for task in self._playing:
                    task.cancel()
                await asyncio.gather(*self._playing, return_exceptions=True)

    async def _play(self, match: Match) -> None:
        await play(match, "greedy", dice(), self.tally)


@asynccontextmanager
async def housed() -> AsyncIterator[Server]:
    """Two hosts and a gateway that lends house bots."""
    needs = MemoryNeeds()

    def extra(server: grpc.aio.Server, parts: Parts) -> tuple[str, Callable[[], Coroutine[Any, Any, None]]]:
        return house_service.add(parts.identity, needs)(server, parts)

    async with whole_server(hosts=2, house=Lent(needs), extras=[extra], heartbeat_ms=100) as server:
        yield server


async def away(client: Client, seat: int) -> None:
    answer = await client.hand_over("m1", command_id=f"h{seat}", seat=seat)
    assert not isinstance(answer, Refused), answer


async def test_an_account_keeps_to_its_seat_when_the_table_moves() -> None:
    """Both go on at their seats. When one vanishes the other does not get its seat; the new host knows of nothing."""
    async with housed() as server, AsyncExitStack() as stack:
        people = ("ann", "bob")
        await server.make("m1", people=people, options={"rounds": 1000}, turn_ms=5_000, substitute_ms=200)
        for name in ("cat", "dan"):
            client = await stack.enter_async_context(connect(server.address, f"t-{name}", registry=GAMES))
            session = await stack.enter_async_context(client.play())
            match = await session.attach("m1")
            assert isinstance(match, Match)
            stack.callback(asyncio.create_task(play(match, "random", dice(), Tally())).cancel)
        owners = [
            await stack.enter_async_context(connect(server.address, f"t-{name}", registry=GAMES)) for name in people
        ]
        seats = [await (await stack.enter_async_context(client.play())).attach("m1") for client in owners]
        first = seats[0]
        assert isinstance(first, Match)
        await until(lambda: first.seq > 2)
        helpers = [Helper(server, name) for name in ("eve", "fay")]
        tasks = [asyncio.create_task(helper.run()) for helper in helpers]
        for task in tasks:
            stack.callback(task.cancel)
        for seat, client in enumerate(owners):
            await away(client, seat)
        await until(lambda: all(helper.tally.moves > 3 for helper in helpers))
        assert sorted(helper.offers[0] for helper in helpers) == [("m1", 0), ("m1", 1)]
        await server.crash_host(server.host_of("m1"))
        moves = [helper.tally.moves for helper in helpers]
        await until(lambda: all(h.tally.moves > n + 3 for h, n in zip(helpers, moves, strict=True)))
        tasks[0].cancel()
        third = Helper(server, "gil")
        tasks.append(asyncio.create_task(third.run()))
        stack.callback(tasks[-1].cancel)
        await until(lambda: third.tally.moves > 3)
        assert third.offers == helpers[0].offers[:1]
        assert set(helpers[1].offers) == set(helpers[1].offers[:1])
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
