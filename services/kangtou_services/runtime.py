"""What every server process stands on: log, store, directory and archive, on Redis or in memory."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import structlog
from redis.asyncio import Redis
from redis.exceptions import RedisError

from kangtou_engine.registry import Registry

from .archive.archiver import Archiver
from .blocks import Blocks, MemoryBlocks, RedisBlocks
from .directory import Directory, MemoryDirectory, RedisDirectory
from .games import load_registry
from .house import House, Lent, MemoryNeeds, NeedStore, RedisNeeds, Unserved
from .log.base import EventLog, MatchStore
from .log.disks import Disks
from .log.memory import MemoryLog, MemoryMatchStore, MemoryServer
from .log.redis import RedisLog, RedisMatchStore
from .observe.log import LogMeter
from .operate import MemoryOrders, Orders, RedisOrders
from .ratings import MemoryRatingStore, RatingStore, RedisRatingStore
from .ratings.noting import Noting
from .redis_client import connect, load_library
from .settings import Settings
from .talk import MemoryTalk, RedisTalk, Talk
from .tournament.memory import MemoryTournamentStore
from .tournament.redis import RedisTournamentStore
from .tournament.store import TournamentStore

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Backend:
    """The seams of design §7, chosen."""

    settings: Settings
    registry: Registry
    log: EventLog
    store: MatchStore
    directory: Directory
    archiver: Archiver
    ratings: RatingStore
    client: Redis | None  # None: in memory
    close: Callable[[], Awaitable[None]]
    house: House = field(default_factory=Unserved)
    tournaments: TournamentStore = field(default_factory=MemoryTournamentStore)
    needs: NeedStore = field(default_factory=MemoryNeeds)
    blocks: Blocks = field(default_factory=MemoryBlocks)
    talk: Talk = field(default_factory=MemoryTalk)
    orders: Orders = field(default_factory=MemoryOrders)
    log_meter: LogMeter = field(default_factory=LogMeter)  # of `log`, if it is on Redis


def _archiver(
    settings: Settings, event_log: EventLog, store: MatchStore, noting: Noting, registry: Registry
) -> Archiver:
    archiver = Archiver.of(settings, event_log, store, registry)
    archiver.on_archived.append(noting)
    return archiver


async def _ready(client: Redis, wait_ms: int) -> None:
    """Load the functions, as soon as Redis answers: one that is away must not look like a process that dies.

    Also where nothing listens: the embedded server may wait for room on its disk. `up` looks at a given address itself.
    """
    until = time.monotonic() + wait_ms / 1000
    while True:
        try:
            await load_library(client)
            return
        except (RedisError, OSError) as error:
            if time.monotonic() >= until:
                raise
            _log.warning("redis_awaited", reason=str(error)[:200])
            await asyncio.sleep(0.5)


async def on_redis(settings: Settings) -> Backend:
    """On the Redis of the settings. Raises redis.RedisError or OSError when it cannot be reached."""
    client = connect(settings.redis)
    try:
        await _ready(client, settings.redis_wait_ms)
    except BaseException:
        await client.aclose()
        raise
    registry = load_registry(settings.extra_games)
    ratings = RedisRatingStore(client, settings.replicas)
    disks, needs = Disks(replicas=settings.replicas), RedisNeeds(client, settings.replicas)
    meter = LogMeter()
    event_log, store = RedisLog(client, disks, meter=meter), RedisMatchStore(client, disks)
    archiver = _archiver(settings, event_log, store, Noting(ratings, registry), registry)

    async def close() -> None:
        await event_log.close()
        await client.aclose()
        archiver.close()

    return Backend(
        settings,
        registry,
        event_log,
        store,
        RedisDirectory(client),
        archiver,
        ratings,
        client,
        close,
        Lent(needs),
        tournaments=RedisTournamentStore(client, settings.replicas),
        needs=needs,
        blocks=RedisBlocks(client, settings.replicas),
        talk=RedisTalk(client),
        log_meter=meter,
        orders=RedisOrders(client),
    )


def in_memory(settings: Settings) -> Backend:
    """All in this process: for practice and tests."""
    server = MemoryServer()
    registry, ratings = load_registry(settings.extra_games), MemoryRatingStore()
    event_log, store, needs = MemoryLog(server), MemoryMatchStore(server), MemoryNeeds()
    archiver = _archiver(settings, event_log, store, Noting(ratings, registry), registry)

    async def close() -> None:
        await event_log.close()
        archiver.close()

    return Backend(
        settings,
        registry,
        event_log,
        store,
        MemoryDirectory(),
        archiver,
        ratings,
        None,
        close,
        Lent(needs),
        needs=needs,
    )
