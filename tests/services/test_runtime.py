"""What a starting process stands on: a Redis that is stopped, or not there yet, is waited for if it is to be."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest
from redis.exceptions import RedisError
from structlog.testing import capture_logs

from kangtou_services.embedded import EmbeddedServer, EmbeddedSettings
from kangtou_services.runtime import on_redis
from kangtou_services.settings import Settings
from kangtou_services.up import REDIS_WAIT_MS, _environment

from ..servers import redis_server

pytestmark = pytest.mark.redis


async def test_a_stopped_redis_is_waited_for(tmp_path: Path) -> None:
    """It is woken after the first time that it was found silent."""
    with redis_server() as server, capture_logs() as logs:
        settings = Settings(data=tmp_path, redis_url=server.url, redis_wait_ms=30_000)
        pid = server.pid
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        try:
            starting = asyncio.create_task(on_redis(settings))
            async with asyncio.timeout(60):
                while not any(line["event"] == "redis_awaited" for line in logs):  # noqa: ASYNC110
                    await asyncio.sleep(0.02)
            assert not starting.done()
        finally:
            os.kill(pid, signal.SIGCONT)
        backend = await asyncio.wait_for(starting, 60)
        assert await backend.store.live() == []
        await backend.close()


async def test_a_redis_that_is_not_there(tmp_path: Path) -> None:
    """Told at once, unless a process is to wait: then it starts as soon as there is one."""
    server = EmbeddedServer(EmbeddedSettings(tmp_path / "redis"))
    with pytest.raises(RedisError, match="connecting to"):
        await on_redis(Settings(data=tmp_path, redis_url=server.url))
    starting = asyncio.create_task(on_redis(Settings(data=tmp_path, redis_url=server.url, redis_wait_ms=600_000)))
    await asyncio.sleep(1.0)
    assert not starting.done()
    await server.start_async()
    try:
        backend = await asyncio.wait_for(starting, 60)
        await backend.close()
    finally:
        await server.stop_async()


def test_children_of_up_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A setting of one's own goes before."""
    tmp_path.joinpath("d").mkdir()
    environment: dict[str, str] = dict(os.environ)
    monkeypatch.setattr(os, "environ", environment)
    _environment(Settings(data=tmp_path / "d"))
    assert environment["KANGTOU_REDIS_WAIT_MS"] == str(REDIS_WAIT_MS)
    _environment(Settings(data=tmp_path / "d", redis_wait_ms=5))
    assert environment["KANGTOU_REDIS_WAIT_MS"] == "5"
