"""Two small things that writes outside tables need: the first use of a command id, and how often somebody tried.

Redis keys (each alone in its slot): {c:<hash>} the value of a claim; {n:<hash>} a count. Both expire.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, cast

from redis.asyncio import Redis

from .functions import reached


def digest(*parts: str) -> str:
    """A short hash of several texts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


class Marks(Protocol):
    """All methods raise StoreUnavailable."""

    async def claim(self, what: str, owner: str, command_id: str, value: str, keep_ms: int) -> str:
        """The value of the first claim for this id: `value` if this is the first. Forgotten after `keep_ms`."""
        ...

    async def find(self, what: str, owner: str, command_id: str) -> str | None:
        """The value of the first claim for this id; None if there was none, or it is forgotten."""
        ...

    async def count(self, what: str, whom: str, window_ms: int) -> tuple[int, int]:
        """Count one more: how many in the window that began with the first, and how many ms are left of it."""
        ...


@dataclass(slots=True)
class _Mark:
    value: str
    ends: float
    count: int = 0


class MemoryMarks:
    """Marks in this process. `clock` in seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._marks: dict[str, _Mark] = {}
        self._sweep_at = 1024

    async def claim(self, what: str, owner: str, command_id: str, value: str, keep_ms: int) -> str:
        """See Marks."""
        return self._mark(f"c {digest(what, owner, command_id)}", value, keep_ms).value

    async def find(self, what: str, owner: str, command_id: str) -> str | None:
        """See Marks."""
        mark = self._marks.get(f"c {digest(what, owner, command_id)}")
        return mark.value if mark is not None and mark.ends > self._clock() else None

    async def count(self, what: str, whom: str, window_ms: int) -> tuple[int, int]:
        """See Marks."""
        mark = self._mark(f"n {digest(what, whom)}", "", window_ms)
        mark.count += 1
        return mark.count, max(1, int((mark.ends - self._clock()) * 1000))

    def _mark(self, key: str, value: str, keep_ms: int) -> _Mark:
        now = self._clock()
        if len(self._marks) >= self._sweep_at:
            self._marks = {name: mark for name, mark in self._marks.items() if mark.ends > now}
            self._sweep_at = max(1024, 2 * len(self._marks))
        mark = self._marks.get(key)
        if mark is None or mark.ends <= now:
            mark = self._marks[key] = _Mark(value, now + keep_ms / 1000)
        return mark


class RedisMarks:
    """Marks in Redis. The client is the caller's to close."""

    def __init__(self, client: Redis) -> None:
        self._client = client

    async def claim(self, what: str, owner: str, command_id: str, value: str, keep_ms: int) -> str:
        """See Marks."""
        key = f"{{c:{digest(what, owner, command_id)}}}"
        async with reached():
            before = cast("str | None", await self._client.set(key, value, px=keep_ms, nx=True, get=True))
        return value if before is None else before

    async def find(self, what: str, owner: str, command_id: str) -> str | None:
        """See Marks."""
        async with reached():
            return cast("str | None", await self._client.get(f"{{c:{digest(what, owner, command_id)}}}"))

    async def count(self, what: str, whom: str, window_ms: int) -> tuple[int, int]:
        """See Marks."""
        key = f"{{n:{digest(what, whom)}}}"
        async with reached(), self._client.pipeline(transaction=True) as pipe:
            pipe.set(key, 0, px=window_ms, nx=True)
            pipe.incr(key)
            pipe.pttl(key)
            _, number, left = await pipe.execute()
        return int(number), max(1, int(left))
