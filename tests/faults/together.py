"""A server in this process on a real Redis: a table host and a gateway, without Ray. Starts in a moment.

Redis is one that is there, or a child of the real supervisor, as `up` has it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from kangtou_services.accounts.accounts import Accounts, AccountSettings
from kangtou_services.accounts.redis import RedisAccountStore
from kangtou_services.gateway.server import start
from kangtou_services.host.serve import serving
from kangtou_services.marks import RedisMarks
from kangtou_services.runtime import on_redis
from kangtou_services.settings import Settings
from kangtou_services.supervisor import Supervisor
from kangtou_services.up import children

from .server import IMPORTS


@dataclass(frozen=True)
class Together:
    """A Playground."""

    data: Path
    address: str
    redis_url: str

    def redis_pid(self) -> int:
        """Of the supervised one."""
        return int((self.data / "redis" / "redis.pid").read_text())


@asynccontextmanager
async def supervised(data: Path) -> AsyncIterator[Together]:
    """On the embedded Redis of the folder, which is kept alive."""
    settings = Settings(data=data)
    supervisor = Supervisor(data, children(settings)[:1], give_up_deaths=1000)
    ready = asyncio.Event()
    with patch.dict(os.environ, {"KANGTOU_DATA": str(data), "PYTHONPATH": IMPORTS}):
        running = asyncio.create_task(supervisor.run(ready.set))
        try:
            await asyncio.wait((running, asyncio.create_task(ready.wait())), return_when=asyncio.FIRST_COMPLETED)
            async with together(data, settings.redis) as server:
                yield server
            assert not running.done(), "the supervisor has ended"
        finally:
            supervisor.stop()
            await running


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
