"""Where an evening takes place."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from kangtou_services.ratings import RatingStore, RedisRatingStore
from tests.servers import patient

from ...faults.server import Server, running
from ...house.houses import SECRET, house_at
from ...inprocess import until
from ...services.towns import town_of

SUBSTITUTE_MS = 40
HOUSE = 3  # bots of the house


@dataclass(frozen=True)
class Place:
    """What an evening needs of a server."""

    addresses: Sequence[str]
    ratings: RatingStore
    house: int
    server: Server | None = None


@asynccontextmanager
async def in_this_process(folder: Path) -> AsyncIterator[Place]:
    """Two gateways and a table host, everything in memory. Nothing of it is left over: no task, no descriptor."""
    async with town_of("", 1) as town:
        await town.client()  # what gRPC opens once for a process stays
    tasks, files = asyncio.all_tasks(), psutil.Process().num_fds()
    given = {"substitute_ms": SUBSTITUTE_MS, "open_wait_ms": 10_000, "house_secret": SECRET}
    async with town_of("", 2, **given) as town, house_at(town, folder, HOUSE):
        yield Place(town.addresses, town.backend.ratings, HOUSE)
    left = asyncio.all_tasks() - tasks
    assert not left, left
    gc.collect()
    await until(lambda: psutil.Process().num_fds() <= files)


@asynccontextmanager
async def of_processes(data: Path) -> AsyncIterator[Place]:
    """`up`: Redis, two gateways, two table actors under Ray."""
    with running(data, substitute_ms=SUBSTITUTE_MS, open_wait_ms=10_000, house_bots=HOUSE) as server:
        client = patient(f"unix://{data / 'redis' / 'redis.sock'}")
        try:
            yield Place([server.address] * 2, RedisRatingStore(client), HOUSE, server)
        finally:
            await client.aclose()
