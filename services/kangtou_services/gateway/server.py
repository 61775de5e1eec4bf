"""A gateway: startup, serve, shutdown on one screen."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
import sys
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import grpc
import structlog
import uvloop
from grpc_health.v1 import health, health_pb2_grpc
from grpc_reflection.v1alpha import reflection
from prometheus_client import Metric

from kangtou import tracing
from kangtou.v1 import admin_pb2, admin_pb2_grpc, play_pb2, play_pb2_grpc, vitals_pb2, vitals_pb2_grpc

from .. import logs, tls
from ..directory import DirectoryUnavailable, Gateway, Heart
from ..identity import Identity, StoreUnavailable
from ..memory import settle
from ..observe.expose import exposed
from ..observe.gateway import GatewayMeter, QueueMeter
from ..observe.vitals import of_gateway
from ..operate.base import LOOK_S
from ..operate.watch import MaintenanceWatch
from ..runtime import Backend, on_redis
from ..settings import Settings
from . import seats
from .access import Access
from .admin import AdminService
from .auth import Callers
from .calls import Guard
from .gate import gate_of
from .health import Readiness
from .limits import Streams
from .play import PlayService
from .router import Router
from .throttle import Throttle
from .vitals_service import VitalsService

log = structlog.get_logger(__name__)

DRAIN_S = 2.0  # for answers that are due when a gateway stops
GRACE_S = 1.5  # for unary calls after that


@dataclass(frozen=True, slots=True)
class Parts:
    """What further services of a gateway are built from."""

    backend: Backend
    identity: Identity
    callers: Callers
    router: Router
    gateway_id: str
    maintenance: MaintenanceWatch
    check_tokens: Callable[[], Awaitable[None]]  # looks again at those of all open streams
    meter: GatewayMeter = field(default_factory=GatewayMeter)
    queues: QueueMeter = field(default_factory=QueueMeter)


# Adds services to a server; gives their full names, and what to await when the gateway stops.
Extra: TypeAlias = Callable[
    [grpc.aio.Server, Parts], "tuple[str | tuple[str, ...], Callable[[], Coroutine[Any, Any, None]] | None]"
]


@dataclass(frozen=True, slots=True)
class Running:
    """A gateway that serves."""

    address: str
    port: int
    parts: Parts
    streams: Streams
    readiness: Readiness
    stop: Callable[[], Coroutine[Any, Any, None]]
    drained: asyncio.Event  # an operator has told this gateway to end

    def gather(self) -> Iterable[Metric]:
        """Its metrics, as they are now."""
        return self.parts.meter.gather(self.parts, self.streams, self.readiness)


def options(settings: Settings) -> list[tuple[str, int]]:
    """Channel arguments. Half-open connections are found within 20 s; clients may ping every 5 s."""
    return [
        ("grpc.so_reuseport", 1),
        ("grpc.max_receive_message_length", settings.max_message_bytes),
        ("grpc.max_concurrent_streams", settings.max_streams_per_connection),
        ("grpc.http2.bdp_probe", 0),  # what a client may send ahead does not grow with its speed: 64 KiB a stream,
        ("grpc.http2.lookahead_bytes", 65_536),  # so that one that is not read for a while is held back at once
        ("grpc.keepalive_time_ms", 10_000),
        ("grpc.keepalive_timeout_ms", 10_000),
        ("grpc.http2.ping_timeout_ms", 10_000),  # the one that counts when another ping is under way; default 60 s
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.max_pings_without_data", 0),
        ("grpc.http2.min_ping_interval_without_data_ms", 5_000),
    ]


async def start(backend: Backend, identity: Identity, extras: Sequence[Extra] = (), name: str = "gateway") -> Running:
    """Serve on the settings' host and port (0: any free one). Raises OSError, BadCertificate, DirectoryUnavailable.

    It needs no process of its own: with a table host on a unix socket beside it and a log in memory, one process is
    a whole server.
    """
    settings = backend.settings
    gateway_id = f"{name}-{secrets.token_hex(4)}"
    throttle = Throttle(settings)
    callers = Callers(identity, throttle=throttle)
    router = Router(settings, backend.log, backend.directory, gateway_id)
    streams = Streams(settings, callers)
    readiness = Readiness(backend)
    maintenance = MaintenanceWatch(backend.orders)
    parts = Parts(backend, identity, callers, router, gateway_id, maintenance, streams.check_tokens)

    guard = Guard(Access(callers, throttle).check, parts.meter, gate_of(settings, maintenance))
    server = grpc.aio.server(options=options(settings), interceptors=[guard])
    playing, names, closers = _services(server, parts, streams, readiness, extras)
    port = _bind(server, settings)

    await router.start()
    await readiness.look(names)
    await server.start()
    close_seats = await seats.serve(settings, name, playing, options(settings), guard)
    me = Gateway(gateway_id, f"{settings.host}:{port}", settings.node, os.getpid())

    async def beat() -> None:
        await backend.directory.register_gateway(replace(me, figures=of_gateway(parts, streams)))

    heart = Heart(beat, every_s=settings.heartbeat_ms / 1000)
    await heart.start()
    drained = asyncio.Event()
    watches = (readiness.watch(), streams.watch(), maintenance.watch(), _told_to_end(backend, gateway_id, drained))
    tasks = [asyncio.create_task(work, name="gateway") for work in watches]
    for task in tasks:
        task.add_done_callback(_noted)
    log.info("gateway_ready", gateway=gateway_id, address=me.address)

    async def stop() -> None:
        """Drain: no new calls, the answers that are due, the streams' end, then everything else."""
        await readiness.leave()
        await streams.drain(DRAIN_S)
        await server.stop(GRACE_S)
        if close_seats is not None:
            await close_seats()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for close in closers:
            await close()
        await router.stop()
        await heart.stop()
        with contextlib.suppress(DirectoryUnavailable):
            await backend.directory.leave_gateway(gateway_id)
        log.info("gateway_stopped", gateway=gateway_id)

    return Running(me.address, port, parts, streams, readiness, stop, drained)


def _services(
    server: grpc.aio.Server, parts: Parts, streams: Streams, readiness: Readiness, extras: Sequence[Extra]
) -> tuple[PlayService, list[str], list[Callable[[], Coroutine[Any, Any, None]]]]:
    """Put all services on a server: that of play, their full names, and what to await when the gateway stops."""
    backend, callers = parts.backend, parts.callers
    playing = PlayService(backend.settings, callers, parts.router, streams, backend.house, parts.meter)
    play_pb2_grpc.add_PlayServiceServicer_to_server(playing, server)
    admin = AdminService(backend, parts.gateway_id, callers, parts.router, streams, readiness)
    admin_pb2_grpc.add_AdminServiceServicer_to_server(admin, server)
    vitals_pb2_grpc.add_VitalsServiceServicer_to_server(VitalsService(admin, parts, streams, readiness), server)
    health_pb2_grpc.add_HealthServicer_to_server(readiness.servicer, server)
    added = [extra(server, parts) for extra in extras]
    names = [module.DESCRIPTOR.services_by_name[one].full_name for module, one in _OWN]
    for given, _ in added:
        names += [given] if isinstance(given, str) else given
    reflection.enable_server_reflection((*names, health.SERVICE_NAME, reflection.SERVICE_NAME), server)
    return playing, names, [close for _, close in added if close is not None]


_OWN: tuple[tuple[Any, str], ...] = (
    (play_pb2, "PlayService"),
    (admin_pb2, "AdminService"),
    (vitals_pb2, "VitalsService"),
)


async def _told_to_end(backend: Backend, gateway_id: str, drained: asyncio.Event) -> None:
    """Until an operator has this gateway drained: it then ends, its clients go on at another one or its successor."""
    while True:
        await asyncio.sleep(LOOK_S)
        try:
            if await backend.orders.ordered([gateway_id]):
                log.info("draining", gateway=gateway_id)
                drained.set()
                return
        except StoreUnavailable:
            continue  # nobody is told anything meanwhile


def _bind(server: grpc.aio.Server, settings: Settings) -> int:
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    files = tls.prepare(settings)
    try:
        if files is not None:
            return server.add_secure_port(f"{host}:{settings.port}", tls.credentials(files))
        return server.add_insecure_port(f"{host}:{settings.port}")
    except RuntimeError as error:
        raise OSError(f"cannot listen on {host}:{settings.port}") from error


def _noted(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("task_failed", error=type(error).__name__)


# ---- as a process ----


async def _serve(settings: Settings, name: str) -> None:
    from .wiring import wired  # it needs Parts from here

    backend = await on_redis(settings)
    try:
        identity, extras = wired(backend)
        running = await start(backend, identity, extras, name)
        running.parts.meter.tracing = traced = tracing.start(name, settings.trace, settings.trace_rate)
        gathers = (running.gather, backend.log_meter.gather)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, running.drained.set)
        async with exposed(settings, "gateway", name, *gathers):
            await running.drained.wait()
        await running.stop()
        if traced is not None:
            await asyncio.to_thread(traced.close)
    finally:
        await backend.close()


def main(settings: Settings) -> int:
    """`python -m kangtou_services gateway [INDEX]`: serve until SIGTERM."""
    name = f"gateway-{sys.argv[2]}" if len(sys.argv) > 2 else "gateway"
    logs.configure(settings.log_level, name, settings.log_format)
    settle()
    uvloop.run(_serve(settings, name))
    return 0
