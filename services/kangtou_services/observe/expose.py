"""The metrics of one process over HTTP, where Prometheus reads them; and where that is, in a file that it reads too.

Only loopback hears it unless `metrics_host` says otherwise. With `metrics_port` 0 any free port is taken; with another
number the first free one of 32 from there on, since a node has several processes. `run/metrics/NAME.json` names it, in
the form of Prometheus' file_sd.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from importlib.metadata import PackageNotFoundError, version
from threading import Thread
from typing import Any
from wsgiref.simple_server import WSGIServer

import structlog
from prometheus_client import (
    CollectorRegistry,
    GCCollector,
    Metric,
    PlatformCollector,
    ProcessCollector,
    start_http_server,
)
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from ..settings import Settings
from .families import Gather, gauge
from .tally import Tally, histogram

log = structlog.get_logger(__name__)

OFF = -1
PORTS_MOST = 32
ANSWER_S = 5.0  # an event loop that does not come to it for so long is told by the scrape's failure
LAG_S = 0.25


class InLoop(Collector):
    """Gathers in the event loop what changes there; asked by the HTTP server's threads."""

    def __init__(self, loop: asyncio.AbstractEventLoop, gather: Gather) -> None:
        self._loop = loop
        self._gather = gather

    def collect(self) -> Iterable[Metric]:
        """As prometheus_client asks. Raises TimeoutError."""

        async def gathered() -> list[Metric]:
            return list(self._gather())

        return asyncio.run_coroutine_threadsafe(gathered(), self._loop).result(ANSWER_S)

    def describe(self) -> Iterable[Metric]:
        """Nothing ahead of time: names are not the same in every state."""
        return ()


class LoopLag:
    """How late the event loop comes to what is due."""

    def __init__(self) -> None:
        self.tally = Tally()

    async def watch(self) -> None:
        """For as long as the process runs."""
        loop = asyncio.get_running_loop()
        while True:
            due = loop.time() + LAG_S
            await asyncio.sleep(LAG_S)
            self.tally.add(max(0.0, loop.time() - due))

    def gather(self) -> Iterable[Metric]:
        """As a metric."""
        yield gauge("kangtou_tasks", "Tasks of the event loop.", len(asyncio.all_tasks()))
        yield histogram("kangtou_loop_lag_seconds", "How late the event loop comes to a timer.", [((), self.tally)])


def registry_of(loop: asyncio.AbstractEventLoop, kind: str, gathers: Iterable[Gather]) -> CollectorRegistry:
    """All metrics of a process; nothing is kept in prometheus_client's global registry."""
    registry = CollectorRegistry(auto_describe=False)
    for gather in gathers:
        registry.register(InLoop(loop, gather))

    def built() -> Iterator[Metric]:
        family = GaugeMetricFamily("kangtou_build_info", "The release that runs.", labels=["version", "kind"])
        with contextlib.suppress(PackageNotFoundError):
            family.add_metric([version("kangtou"), kind], 1)
        yield family

    registry.register(InLoop(loop, built))
    ProcessCollector(registry=registry)
    PlatformCollector(registry=registry)
    GCCollector(registry=registry)
    return registry


def listen(settings: Settings, registry: CollectorRegistry) -> tuple[WSGIServer, Thread]:
    """The HTTP server. Raises OSError if no port is free."""
    first = settings.metrics_port
    for port in range(first, first + (PORTS_MOST if first else 1)):
        try:
            return start_http_server(port, settings.metrics_host, registry)
        except OSError:
            if not first or port == first + PORTS_MOST - 1:
                raise
    raise AssertionError


@contextlib.asynccontextmanager
async def exposed(settings: Settings, kind: str, name: str, *gathers: Gather) -> AsyncIterator[int]:
    """Expose metrics while the context lasts; yields the port, OFF if the settings want none or none can be had."""
    if settings.metrics_port == OFF:
        yield OFF
        return
    loop = asyncio.get_running_loop()
    lag = LoopLag()
    try:
        server, thread = listen(settings, registry_of(loop, kind, (*gathers, lag.gather)))
    except OSError as error:
        log.error("metrics_not_exposed", why=str(error), port=settings.metrics_port)
        yield OFF
        return
    port = int(server.server_port)
    watching = asyncio.create_task(lag.watch(), name="loop-lag")
    remove = _note(settings, kind, name, port)
    log.info("metrics_exposed", port=port)
    try:
        yield port
    finally:
        remove()
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
        await asyncio.to_thread(_end, server, thread)


def _end(server: WSGIServer, thread: Thread) -> None:
    server.shutdown()
    server.server_close()
    thread.join(ANSWER_S)


def _note(settings: Settings, kind: str, name: str, port: int) -> Callable[[], None]:
    """Write down where this process is; how to take it back."""
    folder = settings.run_dir / "metrics"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / f"{name}.json"
    host = "127.0.0.1" if settings.metrics_host in ("0.0.0.0", "::") else settings.metrics_host
    labels = {"process": name, "role": kind, "node": settings.node}
    target: list[dict[str, Any]] = [{"targets": [f"{host}:{port}"], "labels": labels}]
    fresh = path.with_suffix(".new")
    fresh.write_text(json.dumps(target))
    fresh.replace(path)
    return lambda: path.unlink(missing_ok=True)
