"""A snapshot of a running Redis at one instant, over an ordinary connection: what a new replica is sent (SYNC).

Nothing stops meanwhile. The server writes the snapshot from a fork, so that it is of one instant, all keys together.
"""

from __future__ import annotations

import hashlib
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from redis import ConnectionPool, Redis
from redis.exceptions import RedisError

ANSWER_S = 120.0  # without a byte; while it makes the snapshot, Redis sends one now and then
_PIECE = 1 << 20
Progress = Callable[[int, int], None]  # bytes, of so many


class BackupError(Exception):
    """A backup cannot be made or put back; `code` is a word of the commands' catalogue, with its parameters."""

    def __init__(self, code: str, **params: str | int) -> None:
        super().__init__(code, params)
        self.code = code
        self.params = params


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What was taken: size, SHA-256, and an instant just before that of the snapshot (Unix ms)."""

    bytes: int
    sha256: str
    taken_ms: int


def primaries(url: str) -> list[str]:
    """The URLs of all primaries: that of the server itself unless it is part of a cluster. Raises BackupError."""
    try:
        with Redis.from_url(url, decode_responses=True) as client:
            info: Any = client.info("cluster")
            if not info.get("cluster_enabled"):
                return [url]
            nodes: Any = client.execute_command("CLUSTER", "NODES")
    except (RedisError, OSError) as error:
        raise BackupError("redis_away", reason=str(error)) from error
    if isinstance(nodes, dict):
        found = [(name, "master" in str(node["flags"]) and node["slots"]) for name, node in nodes.items()]
    else:
        lines = [line.split() for line in str(nodes).splitlines()]
        found = [(line[1].partition("@")[0], "master" in line[2] and len(line) > 8) for line in lines]
    masters = sorted(name for name, with_slots in found if with_slots)
    if len(masters) < 2:
        return [url]
    scheme, _, rest = url.partition("://")
    login = f"{rest.rpartition('@')[0]}@" if "@" in rest else ""
    return [f"{scheme}://{login}{name}" for name in masters]


def take(url: str, target: Path, progress: Progress) -> Snapshot:
    """Write a snapshot of one server into a file. Raises BackupError."""
    connection: Any = ConnectionPool.from_url(url, protocol=2).make_connection()
    try:
        connection.connect()
        taken_ms = time.time_ns() // 1_000_000
        connection.send_command("SYNC")
        stream: socket.socket = connection._sock  # what follows is no reply, and nothing of it has been read yet
        stream.settimeout(ANSWER_S)
        total, begun = _announced(stream)
        size, digest = _written(stream, target, total, begun, progress)
    except (RedisError, OSError) as error:
        raise BackupError("redis_away", reason=str(error) or type(error).__name__) from error
    finally:
        connection.disconnect()
    return Snapshot(size, digest, taken_ms)


def _announced(stream: socket.socket) -> tuple[int, bytes]:
    """How long the snapshot will be, and what has come of it. Line ends before it are signs of life."""
    head = b""
    while b"\r\n" not in head:
        piece = stream.recv(4096)
        if not piece:
            raise BackupError("redis_away", reason="the connection was closed")
        head = (head + piece).lstrip(b"\n")
    line, _, begun = head.partition(b"\r\n")
    if not line.startswith(b"$") or not line[1:].isdigit():
        raise BackupError("no_snapshot", reason=line[:200].decode(errors="replace"))
    return int(line[1:]), begun


def _written(stream: socket.socket, target: Path, total: int, begun: bytes, progress: Progress) -> tuple[int, str]:
    digest, size, piece = hashlib.sha256(), 0, begun[:total]
    with target.open("wb") as out:
        while True:
            out.write(piece)
            digest.update(piece)
            size += len(piece)
            progress(size, total)
            if size >= total:
                return size, digest.hexdigest()
            piece = stream.recv(min(_PIECE, total - size))
            if not piece:
                raise BackupError("redis_away", reason="the snapshot was broken off")
