"""The directory in memory: for practice and for tests, which can stop its clock and switch it off."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable

from .base import ALIVE_MS, KEEP_BEAT_MS, Actor, DirectoryUnavailable, Gateway
from .watch import View, deaths


class MemoryDirectory:
    """A Directory.

    wall_ms   wall clock, ms; also what heartbeats expire by
    reached   everything fails with DirectoryUnavailable while this is False
    """

    def __init__(self, wall_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000) -> None:
        self._wall_ms = wall_ms
        self._actors: dict[str, Actor] = {}
        self._gateways: dict[str, Gateway] = {}
        self._beats: dict[str, int] = {}
        self._graves: set[str] = set()
        self._announced = asyncio.Event()
        self.reached = True

    async def register(self, actor: Actor) -> bool:
        """See Directory."""
        await self._use()
        if actor.id in self._graves:
            return False
        self._actors[actor.id] = actor
        self._beats[actor.id] = self._wall_ms()
        return True

    async def leave(self, actor_id: str) -> None:
        """See Directory."""
        await self._use()
        self._actors.pop(actor_id, None)

    async def living(self) -> list[Actor]:
        """See Directory."""
        await self._use()
        return [actor for name, actor in sorted(self._actors.items()) if self._fresh(name)]

    async def is_alive(self, actor_id: str) -> bool:
        """See Directory."""
        await self._use()
        return actor_id in self._actors and self._fresh(actor_id)

    async def declare_dead(self, actor_id: str) -> None:
        """See Directory."""
        await self._use()
        self._graves.add(actor_id)
        self._actors.pop(actor_id, None)
        self._announced.set()

    async def last_beat(self, actor_id: str) -> int | None:
        """See Directory."""
        await self._use()
        beat = self._beats.get(actor_id)
        return beat if beat is not None and self._wall_ms() - beat < KEEP_BEAT_MS else None

    def watch_dead(self) -> AsyncGenerator[str, None]:
        """See Directory."""
        return deaths(self, self._wall_ms)

    async def register_gateway(self, gateway: Gateway) -> None:
        """See Directory."""
        await self._use()
        self._gateways[gateway.id] = gateway
        self._beats[gateway.id] = self._wall_ms()

    async def leave_gateway(self, gateway_id: str) -> None:
        """See Directory."""
        await self._use()
        self._gateways.pop(gateway_id, None)

    async def gateways(self) -> list[Gateway]:
        """See Directory."""
        await self._use()
        return [gateway for name, gateway in sorted(self._gateways.items()) if self._fresh(name)]

    async def look(self) -> View:
        """For a watch."""
        await self._use()
        living = frozenset(name for name in self._actors if self._fresh(name))
        return View(frozenset(self._actors), living, frozenset(self._graves))

    async def wait(self, seconds: float) -> None:
        """For a watch."""
        try:
            async with asyncio.timeout(seconds):
                await self._announced.wait()
        except TimeoutError:
            return
        self._announced.clear()

    def _fresh(self, name: str) -> bool:
        return self._wall_ms() - self._beats[name] < ALIVE_MS

    async def _use(self) -> None:
        await asyncio.sleep(0)
        if not self.reached:
            raise DirectoryUnavailable("the directory in memory is switched off")
