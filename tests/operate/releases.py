"""Two releases of one server on one Redis: the older has Parrot's first rules, the newer the second as well.

Actors and gateways of either run here; each is a start of its own with the registry of its release.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from kangtou_clients.api import Client, connect
from kangtou_engine.registry import SPECS, Registry
from kangtou_services.embedded import EmbeddedServer, EmbeddedSettings
from kangtou_services.gateway.server import Running, start
from kangtou_services.gateway.wiring import wired
from kangtou_services.host.serve import Serving, serving
from kangtou_services.identity import Issued
from kangtou_services.operate.base import STOP
from kangtou_services.runtime import Backend, on_redis
from kangtou_services.settings import Settings
from tests.games import parrot, parrot_two
from tests.servers import free_port

OLD, NEW = "tests.games.parrot:GAME", "tests.games.parrot:GAME,tests.games.parrot_two:GAME"
OLD_GAMES, NEW_GAMES = Registry((*SPECS, parrot.GAME)), Registry((*SPECS, parrot.GAME, parrot_two.GAME))
WAIT_S = 120.0


@dataclass
class Member:
    """An actor that runs until it is told to stop."""

    served: Serving
    drained: asyncio.Event
    stack: AsyncExitStack

    @property
    def id(self) -> str:
        """The actor's."""
        return self.served.host.actor_id


@dataclass
class Releases:
    """The server. `old`, `new`: what processes of a release stand on."""

    old: Backend
    new: Backend
    port: int
    actors: list[Member] = field(default_factory=list)
    gateways: list[Running] = field(default_factory=list)

    @property
    def address(self) -> str:
        """Of its gateways, whichever run."""
        return f"127.0.0.1:{self.port}"

    async def actor(self, backend: Backend, name: str) -> Member:
        """Start one."""
        drained, stack = asyncio.Event(), AsyncExitStack()
        served = await stack.enter_async_context(serving(backend, name, drained=drained.set))
        self.actors.append(Member(served, drained, stack))
        return self.actors[-1]

    async def gateway(self, backend: Backend, name: str) -> Running:
        """Start one, on the port of the others."""
        identity, extras = wired(backend)
        self.gateways.append(await start(backend, identity, extras, name=name))
        return self.gateways[-1]

    async def end_actor(self, member: Member) -> None:
        """As `kangtou admin drain ACTOR --stop` does: its tables go, then it ends."""
        await self.new.orders.order(member.id, STOP)
        async with asyncio.timeout(WAIT_S):
            await member.drained.wait()
        await member.stack.aclose()
        self.actors.remove(member)

    async def end_gateway(self, gateway: Running) -> None:
        """As `kangtou admin drain GATEWAY`, and its process, do."""
        await self.new.orders.order(gateway.parts.gateway_id, STOP)
        async with asyncio.timeout(WAIT_S):
            await gateway.drained.wait()
        await gateway.stop()
        self.gateways.remove(gateway)

    async def owner(self, match: str) -> Member | None:
        """The actor that the log names, if it runs."""
        owner = await self.new.log.owner(match)
        return next((member for member in self.actors if member.id == owner), None)

    @asynccontextmanager
    async def client(self, name: str, games: Registry) -> AsyncIterator[Client]:
        """A new account's."""
        identity, _ = wired(self.new)
        issued = await identity.register(name, "bot", secrets.token_hex(16), "test")
        assert isinstance(issued, Issued), issued
        async with connect(self.address, issued.token, registry=games) as client:
            yield client


@asynccontextmanager
async def two_releases(data: Path) -> AsyncIterator[Releases]:
    """Nothing runs yet but Redis."""
    port = free_port()
    settings = Settings(data=data, port=port, link_secret="s", extra_games=OLD, open_wait_ms=200, turn_ms=600_000)
    redis = EmbeddedServer(EmbeddedSettings(data / "redis"))
    async with AsyncExitStack() as stack:
        await redis.start_async()
        stack.push_async_callback(redis.stop_async)
        old, new = [await on_redis(settings.model_copy(update={"extra_games": extra})) for extra in (OLD, NEW)]
        stack.push_async_callback(old.close)
        stack.push_async_callback(new.close)
        made = Releases(old, new, port)
        try:
            yield made
        finally:
            for gateway in made.gateways:
                await gateway.stop()
            for member in made.actors:
                await member.stack.aclose()
