"""House bots: always a ticket in the pool `house`, for whoever wants to play at once.

There is one account less than a game has seats, and an account sits once in a match, so house bots never play among
themselves: a match comes about when somebody else joins the pool.
"""

from __future__ import annotations

import asyncio
import contextlib

from kangtou_engine.cards import Seat
from kangtou_engine.game import Pick
from kangtou_engine.registry import REGISTRY

from ..api import ApiError, Client, Gone, Login, Place, Refused, Session, Wanted, connect
from .player import Tally, dice, play
from .runner import Job, play_job

POOL = "house"
NAMES = ("炕头小二", "炕头老张", "炕头大姐", "炕头老叔", "炕头三妹")
PAUSE_S = 1.0


async def serve(address: str, tables: int, policy: str = "greedy") -> None:
    """Serve until cancelled, up to `tables` matches of each account in each game at once."""
    async with asyncio.TaskGroup() as group:
        for place, name in enumerate(NAMES):
            group.create_task(_account(address, name, place, tables, policy))


async def _account(address: str, name: str, place: int, tables: int, policy: str) -> None:
    async with connect(address) as client:
        login = await _login(client, name)
        if isinstance(login, Refused):
            raise RuntimeError(f"the house cannot register: {login.code}")
        async with client.play() as session, asyncio.TaskGroup() as group:
            for game in REGISTRY.names():
                seats = REGISTRY.game(game).config().seats
                if place < seats - 1:
                    group.create_task(_game(client, session, game, tables, policy))


async def stand_in(session: Session, match_id: str, seat: Seat, policy: str, pick: Pick, tally: Tally) -> bool:
    """Play a seat for its owner, who is away, until he takes it back or the match ends. False if it was not let in.

    Raises CallFailed.
    """
    match = await session.attach(match_id, seat=seat, delegate=True)
    if isinstance(match, Refused):
        return False
    with contextlib.suppress(Gone):  # the owner plays again
        await play(match, policy, pick, tally)
    return True


async def _login(client: Client, name: str) -> Login | Refused:
    while True:
        with contextlib.suppress(ApiError):
            return await client.accounts.register(name, "bot")
        await asyncio.sleep(PAUSE_S)


async def _game(client: Client, session: Session, game: str, tables: int, policy: str) -> None:
    free = asyncio.Semaphore(max(1, tables))
    tally, pick = Tally(), dice()
    async with asyncio.TaskGroup() as group:

        async def one(place: Place) -> None:
            try:
                await play_job(session, Job(place.match_id, place.seat, place.entropy), policy, pick, tally)
            finally:
                free.release()

        while True:
            await free.acquire()
            try:
                async with client.lobby.quick(Wanted(game), pool=POOL) as queue:
                    place = await queue.place()
            except ApiError:
                place = None
            if isinstance(place, Place):
                group.create_task(one(place))
            else:
                free.release()
                await asyncio.sleep(PAUSE_S)
