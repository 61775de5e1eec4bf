"""A server of two nodes: `up --head` and `up --join`, each with raylet, table actors and a gateway. Loopback only.

Linux answers on all of 127.0.0.0/8, so that nodes have addresses of their own. (127.0.0.1 Ray would replace.)
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import psutil
from redis import Redis

from tests.faults.server import IMPORTS, ROOT
from tests.servers import free_port

START_S = 300.0  # Ray on a busy machine


class Node:
    """One `up`."""

    def __init__(self, data: Path, name: str, address: str, settings: Mapping[str, object]) -> None:
        self.data = data
        self.name = name
        self.address = address
        self.port = free_port()
        given = {
            "data": data,
            "node": name,
            "address": address,
            "host": address,
            "port": self.port,
            "actors": 2,
            "house_bots": 0,
            "tournaments": "false",
            **settings,
        }
        self._environment = {
            **os.environ,
            **{f"KANGTOU_{key.upper()}": str(value) for key, value in given.items()},
            "PYTHONPATH": IMPORTS,
        }
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def gateway(self) -> str:
        """Where its gateway listens."""
        return f"{self.address}:{self.port}"

    def start(self) -> None:
        """Start and wait for the ready line. Raises RuntimeError with the last words."""
        self.data.mkdir(parents=True, exist_ok=True)
        with (self.data / "up.err").open("ab") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "kangtou_services", "up"],
                env=self._environment,
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
            )
        assert self.process.stdout is not None
        os.set_blocking(self.process.stdout.fileno(), False)
        until, said = time.monotonic() + START_S, b""
        while b"ready " not in said:
            said += self.process.stdout.read() or b""
            if self.process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"node {self.name} did not start: {self._last_words()}")
            time.sleep(0.05)

    def _last_words(self) -> str:
        files = [self.data / name for name in ("up.err", "head.log", "pool.log")]
        return "\n".join(f"{file.name}: {file.read_text(errors='replace')[-1500:]}" for file in files if file.exists())

    def processes(self) -> list[psutil.Process]:
        """All of them, the supervisor last: its children, and what Ray has cut loose from them."""
        if self.process is None or self.process.poll() is not None:
            return []
        up = psutil.Process(self.process.pid)
        return [*up.children(recursive=True), up]

    def child(self, name: str) -> psutil.Process:
        """The one process of that name."""
        (found,) = [process for process in self.processes() if process.name() == name]
        return found

    def kill(self) -> None:
        """SIGKILL to all processes at once: the node is gone."""
        processes = self.processes()
        for process in processes:
            process.send_signal(signal.SIGKILL)
        psutil.wait_procs(processes, timeout=20)
        self._over()

    def stop(self) -> None:
        """SIGTERM, wait, kill what does not end."""
        if self.process is None:
            return
        seen = self.processes()
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
        for process in seen:
            if process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
                process.kill()
        self._over()

    def _over(self) -> None:
        assert self.process is not None
        self.process.wait(20)
        if self.process.stdout is not None:
            self.process.stdout.close()
        self.process = None


class Nodes:
    """The two. `data` and `address` are what a Load wants: the archive's folder, where to connect."""

    def __init__(self, folder: Path, **settings: object) -> None:
        self.ray_port = free_port()
        self.data = folder / "a"
        ports = {"redis_port": free_port(), "ray_port": self.ray_port}
        self.first = Node(self.data, "a", "127.0.0.11", {"head": "true", **ports, **settings})
        self.second = Node(folder / "b", "b", "127.0.0.12", {"join": self.data / "join.json", **settings})

    @property
    def both(self) -> tuple[Node, Node]:
        """The head's first."""
        return self.first, self.second

    @property
    def address(self) -> str:
        """Both gateways: a client uses the first that it reaches."""
        return addresses(self.both)

    @property
    def redis_url(self) -> str:
        """The head's Redis, as those that join have it."""
        return str(json.loads((self.data / "join.json").read_text())["redis_url"])

    def redis(self) -> Redis:
        """A client for looking."""
        return Redis.from_url(self.redis_url, decode_responses=True)

    def actors(self) -> dict[str, str]:
        """Node of every actor that gives signs of life, by id."""
        with self.redis() as client:
            keys = [f"kt:actor:{name}" for name in client.smembers("kt:actors")]
            texts = client.mget(keys) if keys else []
        found = [json.loads(text) for text in texts if text]
        return {one["id"]: one["node"] for one in found}

    def owners(self, matches: set[str]) -> dict[str, str]:
        """The actor that hosts each match."""
        asked = sorted(matches)
        with self.redis() as client, client.pipeline(transaction=False) as pipe:
            for match in asked:
                pipe.get(f"{{m:{match}}}:owner")
            found = cast("list[str | None]", pipe.execute())
        return {match: owner for match, owner in zip(asked, found, strict=True) if owner}


def addresses(nodes: tuple[Node, ...]) -> str:
    """For gRPC: it goes through them in this order."""
    return "ipv4:" + ",".join(node.gateway for node in nodes)


@contextmanager
def two_nodes(folder: Path, **settings: object) -> Iterator[Nodes]:
    """Both, for the time of a test; nothing of them is left over."""
    nodes = Nodes(folder, **settings)
    try:
        for node in nodes.both:
            node.start()
        yield nodes
    finally:
        for node in reversed(nodes.both):
            node.stop()
