"""The only module that imports ray: table actors, and the process that keeps their pool.

Ray places the actors, restarts them and answers for them; it carries no moves (design §1). An actor's table host runs
in a thread with an event loop of its own and is reached over the link.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import psutil
import ray
import structlog
import uvloop
from ray.autoscaler.sdk import request_resources
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from kangtou import tracing

from . import logs, ray_node, runtime
from .host.serve import Serving, serving
from .memory import settle
from .observe.expose import exposed
from .settings import Settings

log = structlog.get_logger(__name__)

NAMESPACE = "kangtou"
LOOPBACK = "127.0.0.1"
CORE = ("gcs_server", "raylet")
POOL_RESOURCE = "kangtou_pool"  # that a node for a pool has, where Ray's autoscaler makes nodes
QUIET: dict[str, Any] = {
    "namespace": NAMESPACE,
    "include_dashboard": False,
    "log_to_driver": False,
    "configure_logging": False,
}


class TableActor:
    """One table actor: a plain class; `ray.remote` is put on it below."""

    def __init__(self, given: dict[str, Any], name: str) -> None:
        self._settings = Settings(**given)
        self._name = name
        self._serving: Serving | None = None
        self._loop = uvloop.new_event_loop()
        self._stop = asyncio.Event()
        self._ready = threading.Event()
        self._failed: BaseException | None = None
        self._drained = False
        self._thread = threading.Thread(target=self._run, name="tables", daemon=True)
        self._thread.start()

    def ready(self, timeout: float) -> str:
        """The link's address once it listens. Raises RuntimeError if it does not come to that."""
        if not self._ready.wait(timeout) or self._serving is None:
            raise RuntimeError(f"the table host did not start: {type(self._failed).__name__}")
        return self._serving.address

    def open_table(self, match: str) -> str:
        """Host a match; "" or a problem's code."""
        serving_now = self._serving
        if serving_now is None:
            return "not_here"

        async def work() -> str:
            return await serving_now.opener.open(match)

        return asyncio.run_coroutine_threadsafe(work(), self._loop).result()

    def stats(self) -> dict[str, int]:
        """Counters, by name."""
        if self._serving is None:
            return {}
        stats = self._serving.host.stats()
        return {field.name: int(value) for field, value in stats.ListFields()}

    def drain(self) -> None:
        """Stop hosting; the tables go to the other actors."""
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    def _run(self) -> None:
        logs.configure(self._settings.log_level, self._name, self._settings.log_format)
        asyncio.set_event_loop(self._loop)
        settle()
        try:
            self._loop.run_until_complete(self._serve())
        except BaseException as error:  # noqa: BLE001 - whatever it is: the process ends, Ray starts another
            self._failed = error
            log.error("actor_failed", error=type(error).__name__)
            self._ready.set()
            os._exit(1)  # Ray starts another
        if self._drained:
            os._exit(1)  # the same: what is installed by now

    def _end(self) -> None:
        """An operator has told this actor to end."""
        self._drained = True
        self._stop.set()

    async def _serve(self) -> None:
        backend = await runtime.on_redis(self._settings)
        try:
            async with serving(backend, self._name, lambda: os._exit(1), self._end) as self._serving:
                host = self._serving.host
                host.meter.tracing = traced = tracing.start(self._name, self._settings.trace)
                gathers = (lambda: host.meter.gather(host), backend.log_meter.gather)
                async with exposed(self._settings, "actor", self._name, *gathers):
                    self._ready.set()
                    await self._stop.wait()
                if traced is not None:
                    await asyncio.to_thread(traced.close)
        finally:
            await backend.close()


def _remote(index: int, settings: Settings) -> Any:
    name = f"table-{settings.node}-{index}"
    node_id = ray.get_runtime_context().get_node_id()
    return (
        ray.remote(TableActor)
        .options(
            name=f"{name}-{secrets.token_hex(4)}",  # the one of a pool before may still be listed
            namespace=NAMESPACE,
            num_cpus=0,
            max_restarts=-1,
            max_task_retries=0,
            max_concurrency=8,
            scheduling_strategy=NodeAffinitySchedulingStrategy(node_id, soft=False),
        )
        .remote(settings.model_dump(mode="json"), name)
    )


def pool_size(settings: Settings) -> int:
    """Table actors of a node: one a core, at least two, unless a setting says otherwise."""
    return settings.actors or max(2, os.cpu_count() or 2)


def run_pool(settings: Settings) -> int:
    """Keep this node's pool until SIGTERM. The exit code is 0 then, 1 when Ray is gone (the supervisor restarts)."""
    stopping = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopping.set())
    os.environ.setdefault("RAY_worker_niceness", "0")  # Ray's own 15 would let tables wait for everything else
    raylet = None
    if settings.ray_address:
        ray_node.patient()
        if not ray_node.wait_for_head(settings, stopping.is_set):
            return 0
        if (
            settings.raylet
            and (raylet := ray_node.start_raylet(settings, pool_size(settings), stopping.is_set)) is None
        ):
            return 0
        ray.init(
            address=settings.ray_address,
            _node_ip_address=settings.address or None,
            _temp_dir=str(ray_node.folder(settings, "node")) if raylet else None,  # which of several on this machine
            **QUIET,
        )
    else:
        # Never a head that somebody else runs here; without the address Ray listens on the network.
        ray.init(address="local", num_cpus=pool_size(settings), _node_ip_address=LOOPBACK, **QUIET)
    actors = [_remote(index, settings) for index in range(pool_size(settings))]
    addresses = ray.get([actor.ready.remote(180.0) for actor in actors], timeout=200)
    log.info("pool_ready", actors=len(addresses))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    alive = _watch(stopping, raylet)
    if alive:
        ray.wait([actor.drain.remote() for actor in actors], num_returns=len(actors), timeout=10)
        ray.shutdown()
    if raylet is not None:
        raylet.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            raylet.wait(5)
    return 0 if alive else 1


def _watch(stopping: threading.Event, raylet: subprocess.Popen[bytes] | None) -> bool:
    """Wait for the signal; False as soon as a core process of Ray has died."""
    core = [child for child in psutil.Process().children() if child.name() in CORE]
    core += [psutil.Process(raylet.pid)] if raylet is not None else []
    while not stopping.wait(0.5):
        if not all(child.is_running() and child.status() != psutil.STATUS_ZOMBIE for child in core):
            log.error("ray_died")
            for child in psutil.Process().children(recursive=True):
                child.kill()
            time.sleep(0.2)
            return False
    return True


class NodeAsker:
    """For scaling.py: asks Ray's autoscaler for nodes that have a pool. Connected once made, unless it was stopped."""

    def __init__(self, settings: Settings, stopped: Callable[[], bool]) -> None:
        ray_node.patient()
        if ray_node.wait_for_head(settings, stopped):
            ray.init(address=settings.ray_address, _node_ip_address=settings.address or None, **QUIET)

    def ask(self, nodes: int) -> None:
        """So many in all, those that there are included. The resource is that of the manifest's worker group."""
        request_resources(bundles=[{POOL_RESOURCE: 1.0}] * nodes)
