"""House bots at a town: programs of a house that serve in this process, and players for the other seats."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from kangtou_clients.api import Client, Match, Place, Refused, Session, Wanted
from kangtou_clients.bots.house import serve
from kangtou_clients.bots.player import Tally, dice, play
from tests.inprocess import until
from tests.services.towns import Town

SECRET = "the house"


@asynccontextmanager
async def house_at(
    town: Town, folder: Path, accounts: int = 3, tables: int = 4, gateway: int = 0
) -> AsyncIterator[asyncio.Task[None]]:
    """A program of the house, once all of its accounts serve."""
    said: list[str] = []
    serving = asyncio.create_task(
        serve(
            town.addresses[gateway],
            secret=SECRET,
            keep=folder,
            accounts=accounts,
            tables=tables,
            told=said.append,
            registry=town.backend.registry,
        )
    )
    try:
        await until(lambda: len(said) == accounts or serving.done())
        yield serving
    finally:
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)


async def seated(client: Client, table: str, seat: int | None = None) -> Place:
    """Take a seat; it must be free."""
    place = await client.lobby.sit(table, seat)
    assert isinstance(place, Place), place
    return place


async def attached(session: Session, place: Place) -> Match:
    """In the match of a place."""
    match = await session.attach(place.match_id, seat=place.seat, entropy=place.entropy)
    assert isinstance(match, Match), match
    return match


async def bot_plays(client: Client, place: Place) -> None:
    """A bot of nobody's house, to the end."""
    async with client.play() as session:
        await play(await attached(session, place), "random", dice(), Tally())


async def table_with(town: Town, wanted: Wanted, person: Client, others: int) -> tuple[Place, list[asyncio.Task[None]]]:
    """A person on seat 0 and bots on all the others, who play."""
    table = await person.lobby.open(wanted)
    assert not isinstance(table, Refused), table
    place = await seated(person, table.match_id, 0)
    bots = [await town.client(f"Bot {number}", number % len(town.addresses)) for number in range(others)]
    seats = [await seated(bot, table.match_id) for bot in bots]  # the last one makes the match
    return place, [asyncio.create_task(bot_plays(*one)) for one in zip(bots, seats, strict=True)]


async def hands_over(client: Client, place: Place, *, leave: bool = False) -> None:
    """A seat goes to a substitute, once the match has begun."""
    for _ in range(100):
        answer = await client.hand_over(place.match_id, command_id=secrets.token_hex(8), leave=leave, seat=place.seat)
        if not isinstance(answer, Refused):
            return
        assert answer.code == "not_begun", answer
        await asyncio.sleep(0.05)
    raise TimeoutError("it does not begin")


async def takes_back(client: Client, place: Place) -> None:
    """Its owner plays again."""
    answer = await client.take_back(place.match_id, command_id=secrets.token_hex(8), seat=place.seat)
    assert not isinstance(answer, Refused), answer
