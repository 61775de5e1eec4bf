"""Many bots at once: at given seats, or through the queue; one stream for all of them, or one each."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, field
from typing import Literal

from kangtou_engine.cards import Seat
from kangtou_engine.game import Pick

from ..api import CallFailed, Client, Gone, Place, Refused, Session, Wanted
from ..api.tournaments import Tournaments
from .bot import Bot
from .player import Tally, dice, play

Streams = Literal["one", "each"]
Progress = Callable[[Tally], None]


@dataclass(frozen=True, slots=True)
class Job:
    """A seat to play. `seat` None: the account's only one."""

    match_id: str
    seat: Seat | None = None
    entropy: bytes = field(default=b"", repr=False)


def _quiet(tally: Tally) -> None:
    """No progress is shown."""


async def run_seats(
    client: Client,
    jobs: Sequence[Job],
    policy: str,
    *,
    streams: Streams = "one",
    seed: int | None = None,
    progress: Progress = _quiet,
) -> Tally:
    """Play all these seats of one account to the end of their matches."""
    tally, pick = Tally(), dice(seed)
    async with AsyncExitStack() as stack:
        shared = await stack.enter_async_context(client.play())

        async def one(job: Job) -> None:
            session = shared if streams == "one" else await stack.enter_async_context(client.play())
            await play_job(session, job, policy, pick, tally)
            progress(tally)

        async with asyncio.TaskGroup() as group:
            for job in jobs:
                group.create_task(one(job))
    return tally


async def run_queue(
    client: Client,
    wanted: Wanted,
    policy: str,
    *,
    matches: int,
    concurrency: int = 1,
    rated: bool = False,
    pool: str = "",
    seed: int | None = None,
    progress: Progress = _quiet,
) -> Tally | Refused:
    """Queue and play that many matches, up to `concurrency` at a time. A refusal by the queue ends it."""
    tally, pick = Tally(), dice(seed)
    left = matches
    refused: list[Refused] = []

    async def one(session: Session) -> None:
        nonlocal left
        while left > 0 and not refused:
            left -= 1
            async with client.lobby.quick(wanted, rated=rated, pool=pool) as queue:
                place = await queue.place()
            if isinstance(place, Place):
                await play_job(session, Job(place.match_id, place.seat, place.entropy), policy, pick, tally)
                progress(tally)
            else:
                refused.append(place)

    async with client.play() as session, asyncio.TaskGroup() as group:
        for _ in range(min(concurrency, matches)):
            group.create_task(one(session))
    return refused[0] if refused and not tally.matches else tally


async def run_entered(
    client: Client, session: Session, make: Callable[[], Bot], chance: Callable[[], Pick], tally: Tally
) -> None:
    """Play whatever games of tournaments the account is told of, in one stream, until cancelled. Raises ApiError.

    A seat that cannot be had any more (its match has ended) is counted as refused.
    """

    async def one(job: Job) -> None:
        try:
            await play_job(session, job, make(), chance(), tally)
        except CallFailed:
            tally.refused += 1

    async with asyncio.TaskGroup() as group, aclosing(Tournaments(client).enter()) as games:
        async for game in games:
            group.create_task(one(Job(game.match_id, game.seat)))


async def play_job(
    session: Session, job: Job, policy: str | Bot, pick: Pick, tally: Tally, pace_s: float = 0.0
) -> None:
    """Attach and play one seat to the end. Raises CallFailed if it cannot be had."""
    match = await session.attach(job.match_id, seat=job.seat, entropy=job.entropy)
    if isinstance(match, Refused):
        raise CallFailed(match.code, match.text_en)
    try:
        await play(match, policy, pick, tally, pace_s)
    except Gone:
        return  # another session of this account took the seat: it plays on there
