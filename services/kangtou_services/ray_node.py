"""Ray's own processes where a server has several nodes: its head, and a raylet for each node. Started by `ray start`.

Without this (one node) the pool has a Ray of its own inside (actors.py). The head's state is kept in Redis, so that it
can be killed and started again while raylets, actors and tables go on (Ray: GCS fault tolerance).
"""

from __future__ import annotations

import hashlib
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote, urlsplit

import structlog

from .settings import Settings

log = structlog.get_logger(__name__)

NAMESPACE = "kangtou"  # of the head's state in Redis
OBJECT_STORE = 80_000_000  # bytes; nothing is kept there, Ray wants some
HEAD_AWAY_S = 7 * 24 * 3600  # how long raylets and actors live on without the head


class NoHeadStore(Exception):
    """There is no Redis in which the head can keep its state; the text says what is needed."""


def folder(settings: Settings, part: str) -> Path:
    """Ray's folder for a process of this data folder: short, since it holds unix sockets, and nobody else's."""
    name = hashlib.sha256(str(settings.data.absolute()).encode()).hexdigest()[:12]
    return Path(os.environ.get("RAY_TMPDIR", "/tmp")) / f"kt-{part}-{name}"


def fresh(path: Path) -> Path:
    """Nothing of an earlier run: among others the note by which Ray believes that its head still runs."""
    shutil.rmtree(path, ignore_errors=True)
    return path


def clean(settings: Settings) -> None:
    """Nothing is left of Ray's folders."""
    for part in ("head", "node"):
        fresh(folder(settings, part))


def started(settings: Settings, part: str) -> bool:
    """Whether the process of this folder serves: Ray writes this note when everything of it does."""
    return (folder(settings, part) / "ray_current_cluster").exists()


def patient() -> None:
    """For this process and its children: the head's absence is no reason to end."""
    os.environ.setdefault("RAY_gcs_rpc_server_reconnect_timeout_s", str(HEAD_AWAY_S))


def head_store(settings: Settings) -> tuple[str, str, str]:
    """`host:port`, user and password of the Redis for the head's state. Raises NoHeadStore."""
    url = settings.ray_redis_url or settings.redis_url
    parts = urlsplit(url)
    if parts.scheme != "redis" or not parts.hostname:
        raise NoHeadStore(
            "Ray's head keeps its state in one Redis server at a TCP address without TLS: set KANGTOU_RAY_REDIS_URL to "
            "a redis:// URL"
        )
    return f"{parts.hostname}:{parts.port or 6379}", unquote(parts.username or ""), unquote(parts.password or "")


def become_head(settings: Settings) -> int:
    """`python -m kangtou_services head`: become Ray's head, for a supervisor that keeps it alive; 2 if it cannot."""
    try:
        address, user, password = head_store(settings)
    except NoHeadStore as no:
        sys.stderr.write(f"kangtou: {no}\n")
        return 2
    patient()
    os.environ["RAY_REDIS_ADDRESS"] = address
    os.environ["RAY_external_storage_namespace"] = NAMESPACE  # noqa: SIM112 - Ray's spelling
    command = [
        *_start(settings, fresh(folder(settings, "head")), "head"),
        "--head",
        f"--port={settings.ray_port}",
        "--num-cpus=0",  # no tables: they would end with it
        f"--ray-client-server-port={settings.ray_port + 1}",  # not to be had without; its own default is one for all
        "--include-dashboard=false",
        "--no-monitor",
        *([f"--redis-username={user}"] if user else []),
        *([f"--redis-password={password}"] if password else []),
    ]
    return os.execv(command[0], command)


def start_raylet(settings: Settings, cpus: int, stopping: Callable[[], bool]) -> subprocess.Popen[bytes] | None:
    """Start the raylet of this node; the process ends when that does. None: stopped meanwhile.

    On a busy machine Ray gives up after 30 s, and is started again.
    """
    while not stopping():
        command = [
            *_start(settings, fresh(folder(settings, "node")), settings.node),
            f"--address={settings.ray_address}",
            f"--num-cpus={cpus}",
        ]
        raylet = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=sys.stderr.fileno())
        while raylet.poll() is None:
            if started(settings, "node"):
                return raylet
            if stopping():
                raylet.terminate()
            time.sleep(0.1)
        log.warning("raylet_did_not_start", exit=raylet.returncode)
    return None


def wait_for_head(settings: Settings, stopping: Callable[[], bool]) -> bool:
    """Until something listens at the head's address: Ray would wait for minutes and then give up. False: stopped."""
    host, _, port = settings.ray_address.rpartition(":")
    while not stopping():
        try:
            with socket.create_connection((host.strip("[]"), int(port)), 1.0):
                return True
        except OSError:
            time.sleep(0.2)
    return False


def _start(settings: Settings, temp: Path, name: str) -> list[str]:
    return [
        *(sys.executable, "-m", "ray.scripts.scripts", "start", "--block", "--disable-usage-stats"),
        f"--node-ip-address={settings.address}",
        f"--node-name={name}",
        f"--temp-dir={temp}",
        f"--object-store-memory={OBJECT_STORE}",
        "--min-worker-port=0",
        "--max-worker-port=0",
        "--dashboard-agent-listen-port=0",
        "--include-log-monitor=false",
    ]
