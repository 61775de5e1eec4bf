"""The twins that every contract suite runs on, behind one face each."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any, Protocol
from uuid import uuid4

import pytest
from redis.asyncio import Redis

from kangtou_services.embedded import EmbeddedServer
from kangtou_services.lobby import MemoryLobbyStore, RedisLobbyStore
from kangtou_services.log.base import EventLog, MatchStore
from kangtou_services.log.memory import MemoryLog, MemoryMatchStore, MemoryServer
from kangtou_services.log.redis import RedisLog, RedisMatchStore
from kangtou_services.marks import MemoryMarks, RedisMarks
from kangtou_services.redis_cluster import servers

from ..redis_cluster import RedisCluster, redis_cluster
from ..servers import client_of, redis_server
from .halls import Hall


class LogTwin(Protocol):
    """A log, what lies beside it, and how to harm it."""

    store: MatchStore

    def writer(self) -> EventLog:
        """A log as another process would have it."""
        ...

    async def lose_tail(self, match: str, entries: int) -> None:
        """The store comes back without the last entries of a match."""
        ...


class MemoryTwin:
    """In memory."""

    def __init__(self) -> None:
        self._server = MemoryServer()
        self.store: MatchStore = MemoryMatchStore(self._server)

    def writer(self) -> EventLog:
        return MemoryLog(self._server)

    async def lose_tail(self, match: str, entries: int) -> None:
        self._server.lose_tail(match, entries)

    async def close(self) -> None:
        return


class RedisTwin:
    """On a real server."""

    def __init__(self, client: Redis) -> None:
        self._client = client
        self._writers: list[RedisLog] = []
        self.store: MatchStore = RedisMatchStore(client)

    def writer(self) -> EventLog:
        self._writers.append(RedisLog(self._client))
        return self._writers[-1]

    async def lose_tail(self, match: str, entries: int) -> None:
        """Write the stream anew without them and cut all connections, as a restart would."""
        stream = f"{{m:{match}}}:log"
        rows: Any = await self._client.xrange(stream)
        await self._client.delete(stream)
        for name, fields in rows[:-entries]:
            await self._client.xadd(stream, fields, id=name)
        for server in await servers(self._client):
            await server.client_kill_filter(_type="normal", skipme=True)

    async def close(self) -> None:
        for writer in self._writers:
            await writer.close()


@pytest.fixture(scope="session")
def valkey() -> Iterator[EmbeddedServer]:
    """One server for the session: append-only file, fsync always."""
    with redis_server() as server:
        yield server


@pytest.fixture(scope="session")
def cluster() -> Iterator[RedisCluster]:
    """One cluster of three primaries for the session."""
    with redis_cluster() as servers:
        yield servers


@pytest.fixture(params=["memory", "valkey", "cluster"])
async def twin(request: pytest.FixtureRequest) -> AsyncIterator[LogTwin]:
    """Each of the twins."""
    if request.param == "memory":
        yield MemoryTwin()
        return
    async with client_of(request.getfixturevalue(request.param)) as client:
        redis_twin = RedisTwin(client)
        yield redis_twin
        await redis_twin.close()


@pytest.fixture
def match() -> str:
    """An id that no other test uses."""
    return uuid4().hex[:16]


@pytest.fixture(params=["memory", "valkey", "cluster"])
async def hall(request: pytest.FixtureRequest) -> AsyncIterator[Hall]:
    """On each of the twins."""
    if request.param == "memory":
        yield Hall(MemoryLobbyStore(), MemoryMarks(), MemoryMatchStore())
        return
    async with client_of(request.getfixturevalue(request.param)) as client:
        for shared in ("kt:tables", "kt:tables:sweeper"):
            await client.delete(shared)
        yield Hall(RedisLobbyStore(client), RedisMarks(client), RedisMatchStore(client))
