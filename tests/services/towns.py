"""A server of several gateways and a table host in one process, in memory or on Redis, with accounts as in earnest."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kangtou_clients.api import Client, connect
from kangtou_clients.api.values import Login
from kangtou_services.gateway.server import Running, start
from kangtou_services.gateway.wiring import wired
from kangtou_services.host.serve import serving
from kangtou_services.identity import Identity
from kangtou_services.runtime import Backend, in_memory, on_redis
from kangtou_services.settings import Settings


@dataclass
class Town:
    """A server with two gateways."""

    backend: Backend
    addresses: list[str]
    stack: AsyncExitStack
    identity: Identity
    running: list[Running]

    def forget(self, account_id: str) -> None:
        """Let no gateway remember what an account's tokens are good for."""
        for gateway in self.running:
            gateway.parts.callers.forget(account_id)

    async def client(self, name: str = "Ann", gateway: int = 0, kind: str = "bot") -> Client:
        """Somebody with an account."""
        client = await self.stack.enter_async_context(connect(self.addresses[gateway], registry=self.backend.registry))
        login = await client.accounts.register(name, "human" if kind == "human" else "bot")
        assert isinstance(login, Login), login
        return client


@asynccontextmanager
async def town_of(redis_url: str = "", gateways: int = 2, **settings: Any) -> AsyncIterator[Town]:
    """With everything in memory unless there is a Redis."""
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="kt-", ignore_cleanup_errors=True))
        given = Settings(
            data=Path(folder),
            port=0,
            link_secret="s",
            extra_games="tests.games.parrot:GAME",
            redis_url=redis_url,
            **{"open_wait_ms": 50, **settings},
        )
        backend = await on_redis(given) if redis_url else in_memory(given)
        stack.push_async_callback(backend.close)
        await stack.enter_async_context(serving(backend, "a0"))
        identity, extras = wired(backend)
        running: list[Running] = []
        for number in range(gateways):
            running.append(await start(backend, identity, extras, name=f"g{number}"))
            stack.push_async_callback(running[-1].stop)
        async with AsyncExitStack() as clients:
            yield Town(backend, [gateway.address for gateway in running], clients, identity, running)
