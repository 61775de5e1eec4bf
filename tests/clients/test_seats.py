"""The process that plays many seats of built-in bots, in this process: interruptions, and its orders."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

import pytest

from kangtou_clients.bots.seats import Seats
from kangtou_engine.registry import REGISTRY
from tests.inprocess import Server, until, whole_server

NAMES = ("ann", "bob", "cat", "dan")


def order(match: str, seat: int) -> str:
    """As the runner writes it."""
    return json.dumps(
        {"play": match, "seat": seat, "token": f"t-{NAMES[seat]}", "bot": "greedy", "dice": "d", "alone": True}
    )


async def all_seats(match: str) -> AsyncIterator[str]:
    """Orders for a whole match, and then nothing more for as long as it is wanted."""
    for seat in range(len(NAMES)):
        yield order(match, seat)
    await asyncio.Event().wait()


async def remind(server: Server, match: str) -> None:
    """Put the open questions again, over and over, as after an outage of the log."""
    host = server.hosts[0].host
    while True:
        await asyncio.sleep(0.001)
        if match in host.slots:
            host._remind(host.slots[match])


@pytest.mark.parametrize("game", REGISTRY.names())
async def test_a_question_that_is_put_again_is_answered(game: str) -> None:
    """Also by a seat that was waiting for those before it: nobody's clock runs out, the match ends at once."""
    async with whole_server() as server:
        await server.make("m1", game=game, options={"rounds": 2}, turn_ms=600_000)
        playing = [
            asyncio.create_task(Seats(server.address).obey(all_seats("m1"))),
            asyncio.create_task(remind(server, "m1")),
        ]
        try:
            await until(lambda: "m1" in server.hosts[0].host.slots)
            table = server.hosts[0].host.slots["m1"].table
            await until(lambda: table.over, 60)
            assert table.cause == "rules"
        finally:
            for task in playing:
                task.cancel()
            await asyncio.gather(*playing, return_exceptions=True)
