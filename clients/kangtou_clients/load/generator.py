"""Tables that come and go: arrivals by chance, players from a pool, connections shared."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from random import Random
from typing import Self

import grpc

from ..api import CallFailed, Client, Place, Refused
from ..api.channel import open_channel
from .figures import Figures
from .plan import SEATS, Plan
from .players import Player
from .table import Shared, Table

STREAMS_MOST = 200  # of one connection; servers allow 256
REGISTER_AT_ONCE = 16
GRACE_S = 60.0  # in which matches end when nobody thinks any more
TICK_S = 1.0

Tick = Callable[["Load"], None]


class Load:
    """A load on one server: `async with Load(address, plan) as load`. Raises what the API raises where it must stop."""

    def __init__(self, address: str, plan: Plan, chance: Random | None = None) -> None:
        self.address = address
        self.plan = plan
        self.loop = asyncio.get_running_loop()
        self.shared = Shared(plan, chance or Random(), Figures(self.loop.time()))
        self.stopping = asyncio.Event()  # measure no longer
        self.wanted = 0
        self.tables: set[Table] = set()
        self._channels: list[grpc.aio.Channel] = []
        self._players = 0
        self._idle: list[Player] = []
        self._all: list[Player] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._failed: BaseException | None = None
        self._ticked = 0.0
        self._arrived = 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def figures(self) -> Figures:
        """What is being measured."""
        return self.shared.figures

    # ---- what a run is made of ----

    async def prepare(self, players: int, told: Callable[[int], None] = lambda done: None) -> None:
        """Make sure of that many players, so that their registration is not measured. Raises ApiError."""
        while (missing := players - len(self._all)) > 0 and not self.stopping.is_set():
            some = (self._new_player() for _ in range(min(missing, REGISTER_AT_ONCE)))
            self._idle += await asyncio.gather(*some)
            told(len(self._all))

    async def grow(self, tables: int, ramp_s: float, tick: Tick) -> None:
        """Let tables arrive, as a Poisson process, until so many are wanted."""
        more = tables - self.wanted
        arrived = self.loop.time()
        for _ in range(max(more, 0)):
            arrived += self.shared.chance.expovariate(more / ramp_s) if ramp_s else 0.0
            await self._sleep_until(arrived, tick)
            if self.stopping.is_set():
                return
            self.wanted += 1
            self._arrive(arrived)

    async def measure(self, seconds: float, tick: Tick) -> Figures:
        """Figures of the next so many seconds, or of fewer if it is stopped."""
        self.shared.figures = found = Figures(self.loop.time())
        await self._sleep_until(found.began + seconds, tick)
        return found

    async def wind_down(self) -> int:
        """Let all matches end quickly; how many had to be left to the server's clock."""
        self.wanted = 0
        self.shared.hurry = True
        tables = list(self.tables)
        for table in tables:
            table.hurry()
        if tables:
            await asyncio.wait([table.ended for table in tables], timeout=GRACE_S)
        self.shared.hurry = False
        return sum(not table.ended.done() for table in tables)

    async def close(self) -> None:
        """End everything."""
        for table in self.tables:
            table.stop()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(player.close() for player in self._all))
        await asyncio.gather(*(channel.close() for channel in self._channels))

    # ---- tables ----

    def _arrive(self, arrived: float) -> None:
        """A table's players, who meant to come at `arrived`."""
        game, self._arrived = self.plan.games[self._arrived % len(self.plan.games)], self._arrived + 1
        table = Table(self.shared, game, arrived)
        self.tables.add(table)
        task = asyncio.create_task(self._host(table), name="load-table")
        self._tasks.add(task)
        task.add_done_callback(self._hosted)

    async def _host(self, table: Table) -> None:
        """From its opening to its end."""
        taken: list[Player] = []
        try:
            while len(taken) < SEATS + self.plan.watchers:
                taken.append(self._idle.pop() if self._idle else await self._new_player())
            seated, watching = taken[:SEATS], taken[SEATS:]
            places = await self._places(table, seated)
            if places is None:
                return
            table.start(list(zip(seated, places, strict=True)), watching)
            await table.ended
            for player in taken:
                player.leave(places[0].match_id)
        except CallFailed as error:
            self.figures.refused[error.status] += 1
        finally:
            self.tables.discard(table)
            self._idle += taken

    async def _places(self, table: Table, players: list[Player]) -> list[Place] | None:
        """Open it and sit down, one after the other; None if the server refuses, which is counted."""
        opened = await players[0].client.lobby.open(self.plan.wanted(table.game))
        found: list[Place] = []
        for player in players:
            if isinstance(opened, Refused):
                self.figures.refused[opened.code] += 1
                return None
            place = await player.client.lobby.sit(opened.match_id)
            if isinstance(place, Refused):
                self.figures.refused[place.code] += 1
                return None
            found.append(place)
        return found

    def _hosted(self, task: asyncio.Task[None]) -> None:
        """Another table comes in the place of one that is gone."""
        self._tasks.discard(task)
        if task.cancelled():
            return
        if (error := task.exception()) is not None:
            self._failed = error
            self.stopping.set()
        elif len(self.tables) < self.wanted and not self.stopping.is_set():
            pause = self.shared.chance.expovariate(1 / self.plan.pause_s) if self.plan.pause_s else 0.0
            due = self.loop.time() + pause
            self.loop.call_at(due, lambda: self._arrive(due) if len(self.tables) < self.wanted else None)

    # ---- players ----

    async def _new_player(self) -> Player:
        """Registered, on one of the connections."""
        number, self._players = self._players, self._players + 1
        most = max(self.plan.connections, number // STREAMS_MOST + 1)
        if len(self._channels) < most:
            self._channels.append(open_channel(self.address))
        channel = self._channels[number % len(self._channels)]
        player = Player(Client(self.address, channel=channel), self.shared.chance, self._lost)
        await player.register()
        self._all.append(player)
        return player

    def _lost(self) -> None:
        self.figures.lost += 1

    # ---- time ----

    async def _sleep_until(self, due: float, tick: Tick) -> None:
        """Until then or until it is stopped, with a tick about every second. Raises what made a table fail."""
        while not self.stopping.is_set() and (left := due - self.loop.time()) > 0:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(min(left, TICK_S)):
                    await self.stopping.wait()
            if self.loop.time() >= self._ticked + TICK_S:
                self._ticked = self.loop.time()
                tick(self)
        if self._failed is not None:
            raise self._failed
