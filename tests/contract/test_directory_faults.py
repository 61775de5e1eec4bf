"""The directory when its server is away: that is nobody's death. Issue 2, acceptance 8."""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing
from dataclasses import replace
from functools import partial

import pytest

from kangtou_services.directory import Actor, DirectoryUnavailable, Heart, RedisDirectory

from ..conftest import Bound
from ..servers import client_of, redis_server

pytestmark = [pytest.mark.redis, pytest.mark.slow]


async def test_an_outage_is_nobodys_death(bound: Bound) -> None:
    """All heartbeats expire while the server is away; afterwards only who stays silent is dead."""
    actor = Actor("lively", "unix:/run/a.sock", "node-1", 1)
    with redis_server() as server:
        async with client_of(server) as client:
            directory = RedisDirectory(client)
            hearts = [Heart(partial(directory.register, one)) for one in (actor, replace(actor, id="dies"))]
            for heart in hearts:
                await heart.start()
            told: list[str] = []

            async def watch() -> None:
                async with aclosing(directory.watch_dead()) as deaths:
                    async for name in deaths:
                        told.append(name)

            watching = asyncio.create_task(watch())
            await asyncio.sleep(0.5)
            last_beat = await directory.last_beat("lively")
            server.kill()
            await hearts[1].stop()
            began = time.monotonic()
            with pytest.raises(DirectoryUnavailable):
                await directory.living()
            assert time.monotonic() - began < bound(1)
            await asyncio.sleep(4)
            assert told == []
            await server.start_async()
            assert await directory.last_beat("lively") == last_beat  # the outage can be measured
            await asyncio.sleep(1)
            assert [one.id for one in await directory.living()] == ["lively"]
            await asyncio.sleep(3.5)
            assert told == ["dies"]
            await directory.declare_dead("lively")
            await asyncio.sleep(0.2)
            assert told == ["dies", "lively"]
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
            await hearts[0].stop()
