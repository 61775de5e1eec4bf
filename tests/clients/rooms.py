"""A whole server on an event loop of its own, in a thread, with bots to play against: for commands and screens."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

from kangtou_clients.api import Match, Place, connect
from kangtou_clients.bots.player import Tally, dice, play
from kangtou_services.gateway.server import start
from kangtou_services.gateway.wiring import wired
from kangtou_services.host.serve import serving
from kangtou_services.runtime import in_memory
from kangtou_services.settings import Settings

T = TypeVar("T")
LEISURE_MS = 600_000


class Rooms:
    """The server. `do` runs something on its loop."""

    def __init__(self, data: Path) -> None:
        self.settings = Settings(data=data, port=0, link_secret="s", open_wait_ms=300, house_bots=0)
        self.loop = asyncio.new_event_loop()
        self._address: Future[str] = Future()
        self._stop = asyncio.Event()
        self._bots: list[Future[None]] = []
        self._thread = threading.Thread(target=self.loop.run_until_complete, args=(self._run(),))
        self._thread.start()

    @property
    def address(self) -> str:
        """Where it listens."""
        return self._address.result(30)

    async def _run(self) -> None:
        backend = in_memory(self.settings)
        identity, extras = wired(backend)
        async with serving(backend, "a0"):
            running = await start(backend, identity, extras)
            self._address.set_result(running.address)
            await self._stop.wait()
            await running.stop()
        await backend.close()

    def do(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Run something on its loop."""
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    def bots(self, match_id: str, seats: list[int], *, seed: int = 1) -> None:
        """Bots sit down at these seats of a table and play."""
        for seat in seats:
            self._bots.append(self.do(_bot(self.address, match_id, seat, seed + seat)))

    def stop(self) -> None:
        """End it; bots that still play are ended."""
        for bot in self._bots:
            bot.cancel()
        self.loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(30)
        self.loop.close()


async def _bot(address: str, match_id: str, seat: int, seed: int) -> None:
    async with connect(address) as client:
        login = await client.accounts.register(f"bot {seat}", "bot")
        client.token = getattr(login, "token", client.token)
        place = await client.lobby.sit(match_id, seat)
        assert isinstance(place, Place), place
        async with client.play() as session:
            match = None
            while not isinstance(match, Match):
                await asyncio.sleep(0.05)
                match = await session.attach(match_id, seat=seat, entropy=place.entropy)
            await play(match, "greedy", dice(seed), Tally())
