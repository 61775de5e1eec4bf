"""`python -m kangtou_services runner`: plays the tournaments of a server. One at a time does, by a lease.

A second runner waits until the first is gone. Whoever has the lease has a greater number than all before, and a log
takes nothing from a smaller one (store.py).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
import sys
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import structlog
import uvloop

from .. import logs
from ..accounts.accounts import Accounts, AccountSettings
from ..accounts.memory import MemoryAccountStore
from ..accounts.redis import RedisAccountStore
from ..gateway.router import Router
from ..identity import StoreUnavailable
from ..marks import MemoryMarks, RedisMarks
from ..memory import settle
from ..observe.expose import exposed
from ..opening import clocks_of
from ..runtime import Backend, on_redis
from ..settings import Settings
from .commands import Commands
from .ids import tournament_of
from .parts import Parts, parts_of
from .players import Players
from .store import Overtaken

if TYPE_CHECKING:
    from .conductor import Conductor

log = structlog.get_logger(__name__)

LEASE_MS = 10_000
RENEW_S = 2.0
LOOK_S = 0.2


def _wall_ms() -> int:
    return time.time_ns() // 1_000_000


class Runner:
    """Takes up whatever is submitted. `players`: processes of built-in bots."""

    def __init__(self, backend: Backend, accounts: Accounts, address: str, players: int = 2) -> None:
        self._backend = backend
        self._owner = f"runner-{secrets.token_hex(4)}"
        self._router = Router(backend.settings, backend.log, backend.directory, self._owner)
        self._players = Players(address, players, self._told)
        self._commands = Commands(backend.settings)
        self._conductors: dict[str, tuple[Conductor, asyncio.Task[None]]] = {}
        clocks = clocks_of(backend.settings)
        self._parts: Parts = parts_of(backend, accounts, self._router, clocks, self._players, self._commands, _wall_ms)
        self._fence = 0
        self.meter = self._parts.meter

    def _told(self, said: Mapping[str, Any]) -> None:
        held = self._conductors.get(tournament_of(str(said["match"])))
        if held is not None:
            held[0].told(said)

    async def run(self) -> None:
        """Until cancelled."""
        await self._router.start()
        await self._after_the_last()
        renewing = asyncio.create_task(self._renew(), name="lease")
        try:
            while True:
                await self._look()
                await asyncio.sleep(LOOK_S)
        finally:
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)
            await self._let_go()
            await self._players.stop()
            await self._router.stop()
            with contextlib.suppress(StoreUnavailable):
                await self._backend.tournaments.leave(self._owner)

    async def _after_the_last(self) -> None:
        """Whoever ran here before is dead (a data folder has one server): its lease need not be waited for."""
        note = self._backend.settings.run_dir / "runner.owner"
        note.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        last = note.read_text() if note.exists() else ""
        while last:
            try:
                await self._backend.tournaments.leave(last)
                break
            except StoreUnavailable:
                await asyncio.sleep(LOOK_S)
        try:
            note.write_text(self._owner)
        except OSError as error:  # the disk is full: whoever comes next waits for the lease
            log.warning("runner_not_noted", error=error.strerror)

    async def _renew(self) -> None:
        while True:
            with contextlib.suppress(StoreUnavailable):
                fence = await self._backend.tournaments.lease(self._owner, LEASE_MS)
                if fence != self._fence:
                    log.info("lease", owner=self._owner, fence=fence)
                    await self._let_go()
                    self._fence = fence
            await asyncio.sleep(RENEW_S if self._fence else LOOK_S)

    async def _look(self) -> None:
        if not self._fence:
            return
        try:
            active = await self._backend.tournaments.active()
        except StoreUnavailable:
            return  # nobody else can write either
        for tournament in active:
            if tournament not in self._conductors:
                self._take(tournament)

    def _take(self, tournament: str) -> None:
        self._players.start()  # they load while this process does
        from .conductor import Conductor  # with numpy, which a server without tournaments does not need

        conductor = Conductor(tournament, self._parts, self._fence)
        task = asyncio.create_task(conductor.run(), name="tournament")
        self._conductors[tournament] = (conductor, task)
        self.meter.open = len(self._conductors)
        task.add_done_callback(lambda done: self._ended(tournament, done))

    def _ended(self, tournament: str, task: asyncio.Task[None]) -> None:
        self._conductors.pop(tournament, None)
        self.meter.open = len(self._conductors)
        if task.cancelled() or (error := task.exception()) is None:
            return
        if isinstance(error, Overtaken):
            log.warning("overtaken", tournament=tournament, why=str(error))
        else:
            log.error("tournament_failed", tournament=tournament, error=type(error).__name__, text=str(error)[:300])

    async def _let_go(self) -> None:
        tasks = [task for _, task in self._conductors.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def accounts_of(backend: Backend) -> Accounts:
    """The accounts of a server, for making those of bots."""
    client, settings = backend.client, AccountSettings()
    if client is None:
        return Accounts(MemoryAccountStore(), MemoryMarks(), settings)
    return Accounts(RedisAccountStore(client, backend.settings.replicas), RedisMarks(client), settings)


async def _serve(settings: Settings) -> None:
    backend = await on_redis(settings)
    try:
        runner = Runner(backend, accounts_of(backend), settings.front, settings.tournament_players)
        work = asyncio.ensure_future(runner.run())
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, work.cancel)
        async with exposed(settings, "runner", "runner", runner.meter.gather):
            with contextlib.suppress(asyncio.CancelledError):
                await work
    finally:
        await backend.close()


def main(settings: Settings) -> int:
    """Serve until SIGTERM."""
    logs.configure(settings.log_level, "runner", settings.log_format)
    settle()
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    if sys.platform == "linux":
        uvloop.run(_serve(settings))
    else:
        asyncio.run(_serve(settings))
    return 0
