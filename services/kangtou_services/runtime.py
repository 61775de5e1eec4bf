"""What every server process stands on: log, store, directory and archive, on Redis or in memory."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from redis.asyncio import Redis

from kangtou_engine.registry import Registry

from .archive.archiver import Archiver
from .directory import Directory, MemoryDirectory, RedisDirectory
from .games import load_registry
from .log.base import EventLog, MatchStore
from .log.commit import Disks
from .log.memory import MemoryLog, MemoryMatchStore, MemoryServer
from .log.redis import RedisLog, RedisMatchStore
from .redis_client import connect, load_library
from .settings import Settings


@dataclass(frozen=True, slots=True)
class Backend:
    """The seams of design §7, chosen."""

    settings: Settings
    registry: Registry
    log: EventLog
    store: MatchStore
    directory: Directory
    archiver: Archiver
    client: Redis | None  # None: in memory
    close: Callable[[], Awaitable[None]]


async def on_redis(settings: Settings) -> Backend:
    """On the Redis of the settings. Raises redis.RedisError or OSError when it cannot be reached."""
    client = connect(settings.redis)
    await load_library(client)
    disks = Disks(replicas=settings.replicas)
    event_log, store = RedisLog(client, disks), RedisMatchStore(client, disks)
    registry = load_registry(settings.extra_games)

    async def close() -> None:
        await event_log.close()
        await client.aclose()

    return Backend(
        settings,
        registry,
        event_log,
        store,
        RedisDirectory(client),
        Archiver.of(settings, event_log, store, registry),
        client,
        close,
    )


def in_memory(settings: Settings) -> Backend:
    """All in this process: for practice and tests."""
    server = MemoryServer()
    event_log, store = MemoryLog(server), MemoryMatchStore(server)
    registry = load_registry(settings.extra_games)

    async def close() -> None:
        await event_log.close()

    return Backend(
        settings,
        registry,
        event_log,
        store,
        MemoryDirectory(),
        Archiver.of(settings, event_log, store, registry),
        None,
        close,
    )
