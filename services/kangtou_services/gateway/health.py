"""The standard health service: SERVING while the log can be reached."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

import structlog
from grpc_health.v1 import health_pb2
from grpc_health.v1.health import aio

from ..log.base import EventLog, LogUnavailable

log = structlog.get_logger(__name__)

LOOK_S = 0.5
LOG_S = 1.0  # a log that takes longer to answer counts as gone

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


class Readiness:
    """Watches the log. `ready` is what was found last."""

    def __init__(self, event_log: EventLog) -> None:
        self.servicer = aio.HealthServicer()
        self.ready = False
        self._log = event_log
        self._services: tuple[str, ...] = ("",)

    async def look(self, services: Iterable[str] = ()) -> None:
        """Ask the log once and publish what follows for all services, those named here too."""
        self._services = (*self._services, *services)
        try:
            async with asyncio.timeout(LOG_S):
                await self._log.incarnation()
            ready = True
        except (LogUnavailable, TimeoutError):
            ready = False
        if ready != self.ready:
            log.info("readiness", ready=ready)
        if ready != self.ready or services:
            self.ready = ready
            for service in self._services:
                await self.servicer.set(service, SERVING if ready else NOT_SERVING)

    async def watch(self) -> None:
        """Look again and again."""
        while True:
            await asyncio.sleep(LOOK_S)
            await self.look()

    async def leave(self) -> None:
        """This gateway stops: NOT_SERVING for good."""
        self.ready = False
        await self.servicer.enter_graceful_shutdown()
