"""A whole server for fault tests: `up` as a child, its processes by role, and ways to hurt them. Loopback only."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self, cast

import psutil
from redis import Redis

from tests.servers import free_port

ROOT = Path(__file__).parents[2]
IMPORTS = os.pathsep.join(str(ROOT / name) for name in (".", "engine", "services", "clients", "proto"))
"""For children: this checkout's code, also where the environment was installed from another one."""


class Server:
    """`python -m kangtou_services up` on a folder of its own. Settings by name as in settings.py."""

    def __init__(self, data: Path, **settings: object) -> None:
        self.data = data
        self.port = free_port()
        given = {"data": data, "port": self.port, "gateways": 2, "actors": 2, "house_bots": 0, **settings}
        self.environment = {
            **os.environ,
            **{f"KANGTOU_{name.upper()}": str(value) for name, value in given.items()},
            "PYTHONPATH": IMPORTS,
        }
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        """Where the gateways listen."""
        return f"127.0.0.1:{self.port}"

    @property
    def redis_url(self) -> str:
        """Where its Redis is."""
        return self.environment.get("KANGTOU_REDIS_URL") or f"unix://{self.data / 'redis' / 'redis.sock'}"

    def start(self, timeout_s: float = 300.0) -> None:
        """Start and wait for the ready line. Raises RuntimeError with the server's last words."""
        self.data.mkdir(parents=True, exist_ok=True)
        errors = (self.data / "up.err").open("ab")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "kangtou_services", "up"],
            env=self.environment,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
        )
        errors.close()
        assert self.process.stdout is not None
        os.set_blocking(self.process.stdout.fileno(), False)
        until = time.monotonic() + timeout_s
        said = b""
        while b"ready " not in said:
            said += self.process.stdout.read() or b""
            if self.process.poll() is not None or time.monotonic() > until:
                words = (self.data / "up.err").read_text(errors="replace")[-2000:]
                raise RuntimeError(f"the server did not start: {words}")
            time.sleep(0.02)

    def stop(self) -> int:
        """SIGTERM, wait; the exit code. Kills what does not end."""
        if self.process is None:
            return 0
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.kill_everything()
            return -1
        finally:
            if self.process.stdout is not None:
                self.process.stdout.close()

    def revived(self) -> Self:
        """Itself, started again if it has ended."""
        if self.process is None or self.process.poll() is not None:
            self.stop()
            self.start()
        return self

    def redis(self) -> Redis:
        """A client for looking."""
        return Redis.from_url(self.redis_url, decode_responses=True)

    def processes(self) -> list[psutil.Process]:
        """All processes of the server, the supervisor last."""
        if self.process is None or self.process.poll() is not None:
            return []
        up = psutil.Process(self.process.pid)
        return [*up.children(recursive=True), up]

    def actors(self) -> dict[str, int]:
        """Process ids of the living table actors, by actor id."""
        return self._listed("actor")

    def gateways(self) -> dict[str, int]:
        """Process ids of the living gateways, by gateway id."""
        return self._listed("gateway")

    def _listed(self, kind: str) -> dict[str, int]:
        with self.redis() as client:
            keys = [f"kt:{kind}:{name}" for name in client.smembers(f"kt:{kind}s")]
            texts = client.mget(keys) if keys else []
        found = [json.loads(text) for text in texts if text]
        return {one["id"]: one["pid"] for one in found if psutil.pid_exists(one["pid"])}

    def redis_pid(self) -> int:
        """Of the embedded server."""
        return int((self.data / "redis" / "redis.pid").read_text())

    def owner(self, match: str) -> str | None:
        """The actor that hosts a match."""
        with self.redis() as client:
            return cast("str | None", client.get(f"{{m:{match}}}:owner"))

    def kill_everything(self) -> None:
        """SIGKILL to all processes at once."""
        processes = self.processes()
        for process in processes:
            process.kill()
        psutil.wait_procs(processes, timeout=10)
        if self.process is not None:
            self.process.wait(10)
            if self.process.stdout is not None:
                self.process.stdout.close()


@contextmanager
def running(data: Path, **settings: object) -> Iterator[Server]:
    """A server for the time of a test; nothing of it is left over."""
    server = Server(data, **settings)
    try:
        server.start()
        yield server
    finally:
        seen = server.processes()
        server.stop()
        for process in seen:
            if process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
                process.kill()
