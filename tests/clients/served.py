"""A server on an event loop of its own, in a thread, and the command line against it: for tests of commands."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest
import structlog

from kangtou_clients.cli.app import main
from kangtou_services.gateway.server import Running, start
from kangtou_services.gateway.wiring import wired
from kangtou_services.host.serve import serving
from kangtou_services.identity import Identity
from kangtou_services.runtime import Backend, in_memory
from kangtou_services.settings import Settings

T = TypeVar("T")
Run = Callable[..., tuple[int, str, str]]


class Server:
    """A host and a gateway, all in memory. `beside` is what else runs."""

    def __init__(self, data: Path) -> None:
        self.settings = Settings(data=data, port=0, link_secret="s", open_wait_ms=300, house_bots=0)
        self.loop = asyncio.new_event_loop()
        self.address: Future[str] = Future()
        self.backend: Backend
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=self.loop.run_until_complete, args=(self._run(),))
        self._thread.start()

    async def _run(self) -> None:
        backend = self.backend = in_memory(self.settings)
        identity, extras = wired(backend)
        async with serving(backend, "a0"):
            running = await start(backend, identity, extras)
            async with self.beside(identity, running):
                self.address.set_result(running.address)
                await self._stop.wait()
            await running.stop()
        await backend.close()

    @asynccontextmanager
    async def beside(self, identity: Identity, running: Running) -> AsyncIterator[None]:
        """Nothing."""
        yield

    def do(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Run something on its loop."""
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    def stop(self) -> None:
        """End it."""
        self.loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(30)
        self.loop.close()


@contextmanager
def serving_commands(kind: type[Server], data: Path) -> Iterator[Server]:
    """A server, with its logs off: it shares our standard error."""
    held = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    found = kind(data)
    found.address.result(60)
    yield found
    found.stop()
    structlog.configure(**held)


def commands(server: Server, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, folder: Path) -> Run:
    """Run a command line against a server, with a configuration of its own: exit code, output, errors."""
    monkeypatch.setenv("KANGTOU_CONFIG", str(folder / "config"))
    monkeypatch.setenv("KANGTOU_LANG", "en")
    monkeypatch.setenv("KANGTOU_SERVER", server.address.result())

    def command(*words: object) -> tuple[int, str, str]:
        code = main(list(map(str, words)))
        said = capsys.readouterr()
        return code, said.out, said.err

    return command
