"""A server in this process on a real Redis: a table host and a gateway, without Ray. Starts in a moment."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from kangtou_services.accounts.accounts import Accounts, AccountSettings
from kangtou_services.accounts.redis import RedisAccountStore
from kangtou_services.gateway.server import start
from kangtou_services.host.serve import serving
from kangtou_services.marks import RedisMarks
from kangtou_services.runtime import on_redis
from kangtou_services.settings import Settings


@dataclass(frozen=True)
class Together:
    """A Playground."""

    data: Path
    address: str
    redis_url: str


@asynccontextmanager
async def together(data: Path, redis_url: str, **settings: object) -> AsyncIterator[Together]:
    """Settings by name as in settings.py."""
    given = {"data": data, "port": 0, "redis_url": redis_url, "link_secret": "s", **settings}
    backend = await on_redis(Settings.model_validate(given))
    try:
        assert backend.client is not None
        store, marks = RedisAccountStore(backend.client), RedisMarks(backend.client)
        async with serving(backend, "table"):
            gateway = await start(backend, Accounts(store, marks, AccountSettings()))
            try:
                yield Together(data, gateway.address, redis_url)
            finally:
                await gateway.stop()
    finally:
        await backend.close()
