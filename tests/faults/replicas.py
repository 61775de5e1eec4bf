"""A primary and its replica under one address, and failovers between them: kill -9, promote, point the address there.

The address is a symbolic link to a unix socket: whoever connects anew reaches the server that it points to now.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from redis import Redis
from redis.exceptions import RedisError

from kangtou_services.embedded import EmbeddedServer, EmbeddedSettings
from tests.servers import free_port

WAIT_S = 60.0


class Pair:
    """Two servers. `primary` is the one to which `url` leads."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._link = folder / "redis.sock"
        self._started = 0
        self.primary = self._made()
        self.replica = self.primary

    @property
    def url(self) -> str:
        """For clients: of whoever is the primary when they connect."""
        return f"unix://{self._link}"

    def start(self) -> None:
        """Both."""
        self.primary.start()
        self._point()
        self.add_replica()

    def add_replica(self) -> None:
        """A fresh replica, once it has everything."""
        self.replica = self._made(replicaof=f"127.0.0.1 {self.primary.settings.port}")
        self.replica.start()
        self._until(self.replica, lambda info: info["master_link_status"] == "up")
        self._until(self.primary, lambda info: info.get("slave0", {}).get("state") == "online")

    def cut(self) -> None:
        """The replica gets nothing any more; the primary does not notice but by that."""
        with _client(self.replica) as client:
            client.replicaof("127.0.0.1", str(free_port()))

    def fail_over(self) -> int:
        """kill -9 of the primary; the replica takes its place. When it was killed, Unix ms."""
        self.primary.kill()
        at = time.time_ns() // 1_000_000
        with _client(self.replica) as client:
            client.replicaof("NO", "ONE")
        self.primary = self.replica
        self._point()
        return at

    def stop(self) -> None:
        """Both."""
        for server in {self.primary, self.replica}:
            server.kill()

    def _made(self, **overrides: str) -> EmbeddedServer:
        self._started += 1
        folder = self._folder / f"redis{self._started}"
        return EmbeddedServer(EmbeddedSettings(folder, port=free_port(), overrides=overrides))

    def _point(self) -> None:
        fresh = self._link.with_suffix(".new")
        fresh.symlink_to(self.primary.socket)
        fresh.replace(self._link)

    @staticmethod
    def _until(server: EmbeddedServer, holds: Any) -> None:
        until = time.monotonic() + WAIT_S
        with _client(server) as client:
            while not holds(client.info("replication")):
                if time.monotonic() > until:
                    raise TimeoutError(f"{server.folder.name} does not replicate")
                time.sleep(0.02)


@contextmanager
def _client(server: EmbeddedServer) -> Iterator[Redis]:
    client = Redis.from_url(server.url, decode_responses=True)
    try:
        yield client
    finally:
        client.close()


@contextmanager
def replicated(folder: Path) -> Iterator[Pair]:
    """A pair for the time of a test."""
    folder.mkdir(parents=True, exist_ok=True)
    pair = Pair(folder)
    try:
        pair.start()
        yield pair
    except RedisError as error:
        raise AssertionError("the pair failed") from error
    finally:
        pair.stop()
