"""A Redis Cluster of three primaries for tests: embedded servers, each on a folder of its own, ended by process id."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from redis import Redis
from redis.exceptions import RedisError

from kangtou_services.embedded import EmbeddedServer, EmbeddedSettings

from .servers import free_port

SLOTS = 16_384
PRIMARIES = 3
WAIT_S = 60.0


class RedisCluster:
    """Its servers, of which each has a third of the slots."""

    def __init__(self, servers: list[EmbeddedServer], password: str = "") -> None:
        self.servers = servers
        self.password = password

    @property
    def url(self) -> str:
        """For a client; the last server is not named: clients have to find it."""
        login = f":{self.password}@" if self.password else ""
        named = ",".join(f"127.0.0.1:{server.settings.port}" for server in self.servers[:2])
        return f"redis+cluster://{login}{named}"

    def ask(self, server: EmbeddedServer, *command: Any) -> Any:
        """One command to one server."""
        with Redis.from_url(server.url, decode_responses=True) as client:
            return client.execute_command(*command)

    def form(self) -> None:
        """Share the slots out, introduce the servers to one another, wait until all agree."""
        for number, server in enumerate(self.servers):
            first, last = SLOTS * number // PRIMARIES, SLOTS * (number + 1) // PRIMARIES - 1
            self.ask(server, "CLUSTER", "ADDSLOTSRANGE", first, last)
            self.ask(server, "CLUSTER", "SET-CONFIG-EPOCH", number + 1)
        for server in self.servers[1:]:
            bus = server.settings.overrides["cluster-port"]
            self.ask(self.servers[0], "CLUSTER", "MEET", "127.0.0.1", server.settings.port, bus)
        self.wait()

    def wait(self) -> None:
        """Until every server sees the whole cluster."""
        until = time.monotonic() + WAIT_S
        while not all(self._whole(server) for server in self.servers):
            assert time.monotonic() < until, [self.ask(server, "CLUSTER", "NODES") for server in self.servers]
            time.sleep(0.05)

    def _whole(self, server: EmbeddedServer) -> bool:
        try:
            info = str(self.ask(server, "CLUSTER", "INFO"))
        except (RedisError, OSError):  # it reads its data
            return False
        return all(
            part in info.replace(" ", "").replace("'", "")
            for part in ("cluster_state:ok", f"cluster_known_nodes:{PRIMARIES}", f"cluster_slots_ok:{SLOTS}")
        )


@contextmanager
def redis_cluster(password: str = "", **overrides: str) -> Iterator[RedisCluster]:
    """Three servers with the settings of redis.conf."""
    with tempfile.TemporaryDirectory(prefix="kt-") as folder, ExitStack() as stack:
        servers = []
        given = {name.replace("_", "-"): value for name, value in overrides.items()}
        if password:
            given["masterauth"] = password
        for number in range(PRIMARIES):
            cluster = {"cluster-enabled": "yes", "cluster-port": str(free_port()), "cluster-node-timeout": "2000"}
            settings = EmbeddedSettings(
                Path(folder) / str(number), port=free_port(), password=password, overrides={**cluster, **given}
            )
            server = EmbeddedServer(settings)
            stack.callback(server.stop)
            server.start()
            servers.append(server)
        made = RedisCluster(servers, password)
        made.form()
        yield made
