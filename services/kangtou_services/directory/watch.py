"""Who is dead: judging by what is heard, and not by what could not be heard."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import Protocol

from .base import ALIVE_MS, DirectoryUnavailable

LOOK_S = 0.5
GAP_MS = 1_500  # between two looks; a longer one is a break


@dataclass(frozen=True, slots=True)
class View:
    """One look at the directory: who is listed, who of them lives, who was declared dead."""

    listed: frozenset[str]
    living: frozenset[str]
    graves: frozenset[str]


class Source(Protocol):
    """What a watch looks at."""

    async def look(self) -> View:
        """Raises DirectoryUnavailable."""
        ...

    async def wait(self, seconds: float) -> None:
        """Return after the time, or earlier when a death has been announced. Never raises for a lost connection."""
        ...


class Judge:
    """Told of every look, says who has died.

    A heartbeat expires in the store also while that cannot be reached, or while the watcher itself is held up. So
    silence only counts if looks have succeeded regularly through the whole time that a heartbeat lasts.
    """

    def __init__(self) -> None:
        self._since: int | None = None
        self._last = 0
        self._told: set[str] | None = None

    def missed(self) -> None:
        """A look failed."""
        self._since = None

    def look(self, now_ms: int, view: View) -> list[str]:
        """Deaths not yet told. `now_ms` by a clock that does not jump. Graves of before the first look are old."""
        if self._told is None:
            self._told = set(view.graves)
        if self._since is None or now_ms - self._last > GAP_MS:
            self._since = now_ms
        self._last = now_ms
        dead = set(view.graves)
        silent = view.listed - view.living
        if now_ms - self._since >= ALIVE_MS:
            dead |= silent
        news = sorted(dead - self._told)
        self._told = (self._told & (silent | view.graves)) | dead  # one that lives again can die again
        return news


async def deaths(
    source: Source, clock_ms: Callable[[], int] = lambda: time.monotonic_ns() // 1_000_000
) -> AsyncGenerator[str, None]:
    """See Directory.watch_dead."""
    judge = Judge()
    while True:
        try:
            view = await source.look()
        except DirectoryUnavailable:
            judge.missed()
            await asyncio.sleep(LOOK_S / 2)
            continue
        for name in judge.look(clock_ms(), view):
            yield name
        await source.wait(LOOK_S)
