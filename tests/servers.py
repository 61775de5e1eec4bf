"""Redis servers for tests: embedded ones, each on a folder of its own, ended by their process id."""

from __future__ import annotations

import asyncio
import socket
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Protocol

from redis.asyncio import Redis

from kangtou_services.embedded import EmbeddedServer, EmbeddedSettings
from kangtou_services.redis_client import connect


def free_port() -> int:
    """A TCP port of this machine that nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def redis_server(*, port: int = 0, **overrides: str) -> Iterator[EmbeddedServer]:
    """A server with the settings of deploy/redis.conf, on a unix socket. Names of overrides with `_` for `-`."""
    with tempfile.TemporaryDirectory(prefix="kt-") as folder:
        given = {name.replace("_", "-"): value for name, value in overrides.items()}
        server = EmbeddedServer(EmbeddedSettings(Path(folder) / "redis", port=port, overrides=given))
        server.start()
        try:
            yield server
        finally:
            server.stop()


class HasUrl(Protocol):
    """A server, or a cluster."""

    @property
    def url(self) -> str:
        """For a client."""
        ...


def patient(url: str) -> Redis:
    """A client with the patience of a test: bursts of calls on a machine that does other work meanwhile."""
    return connect(url, connect_s=10, reply_s=30)


@asynccontextmanager
async def client_of(server: HasUrl) -> AsyncIterator[Redis]:
    """A patient client, closed at the end."""
    client = patient(server.url)
    try:
        yield client
    finally:
        await client.aclose()
        await asyncio.sleep(0)
