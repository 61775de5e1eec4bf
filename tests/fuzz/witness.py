"""A table that nobody hurts: four bots of the client library play match after match on the port meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from kangtou_clients.api import Ending, Match, connect
from kangtou_clients.bots.player import Tally, dice, play

from .place import Place

PACE_S = 0.05
GAMES = ("hongshi", "erbaiwu")


class Witness:
    """What the bots have seen."""

    def __init__(self) -> None:
        self.tally = Tally()
        self.causes: list[str] = []
        self.stopping = False


@asynccontextmanager
async def witnesses(place: Place) -> AsyncIterator[Witness]:
    """Tables at work; when the context ends they are left."""
    witness = Witness()
    tasks = [asyncio.create_task(_table(place, witness, game, number)) for number, game in enumerate(GAMES)]
    try:
        yield witness
        for task in tasks:
            if task.done():
                task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _table(place: Place, witness: Witness, game: str, number: int) -> None:
    people = await place.more_people(4, f"w{number}")
    async with AsyncExitStack() as stack:
        sessions = []
        for one in people:
            client = await stack.enter_async_context(connect(place.gateway.address, one.token))
            sessions.append(await stack.enter_async_context(client.play()))
        while True:
            match = await place.table(game, people)
            followed = await asyncio.gather(*(session.attach(match) for session in sessions))
            seats = [one for one in followed if isinstance(one, Match)]
            assert len(seats) == 4, followed
            endings = await asyncio.gather(*(play(one, "random", dice(), witness.tally, PACE_S) for one in seats))
            witness.causes += [one.cause if isinstance(one, Ending) else one.code for one in endings]
