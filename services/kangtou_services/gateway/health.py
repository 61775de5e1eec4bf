"""The standard health service, with what a gateway needs before it is of use.

log          the log can be reached
persistence  its Redis keeps what was acknowledged, as far as the settings insist on it
actors       a table actor is there

Service names: "" and every service of the gateway are SERVING while all hold; `kangtou.log`, `kangtou.persistence` and
`kangtou.actors` tell one each; `kangtou.live` is SERVING until the gateway stops, whatever else is away: restarting it
would help nobody.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from pathlib import Path

import structlog
from grpc_health.v1 import health_pb2
from grpc_health.v1.health import aio
from redis.exceptions import RedisError

from ..directory import DirectoryUnavailable
from ..log.base import LogUnavailable
from ..log.promises import check
from ..room import lacking
from ..runtime import Backend

log = structlog.get_logger(__name__)

LOOK_S = 0.5
LOG_S = 1.0  # a log that takes longer to answer counts as gone
PROMISES_S = 5.0  # how often persistence is asked about
ACTORS_S = 2.0  # how often the directory is, while actors are there

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
LIVE = "kangtou.live"
CHECKS = ("log", "persistence", "actors")

# What is shown of INFO: numbers under these names, and 1 or 0 for the status.
FIGURES = (
    "aof_enabled",
    "aof_current_size",
    "aof_delayed_fsync",
    "blocked_clients",
    "connected_clients",
    "connected_slaves",
    "evicted_keys",
    "instantaneous_ops_per_sec",
    "maxmemory",
    "rejected_connections",
    "uptime_in_seconds",
    "used_memory",
)


class Readiness:
    """Watches what is needed. `ready` is what was found last, `checks` and `why` are its parts."""

    def __init__(self, backend: Backend) -> None:
        self.servicer = aio.HealthServicer()
        self.ready = False
        self.checks = dict.fromkeys(CHECKS, False)
        self.why: dict[str, str] = {}
        self.redis: dict[str, float] = {}
        self._backend = backend
        self._services: tuple[str, ...] = ("",)
        self._promised_at = self._actors_at = float("-inf")
        self._told: dict[str, bool] = {}

    async def look(self, services: Iterable[str] = ()) -> None:
        """Look once and publish what follows for all services, those named here too."""
        self._services = (*self._services, *services)
        for name, wrong in zip(
            CHECKS, await asyncio.gather(self._log(), self._promises(), self._actors()), strict=True
        ):
            self.checks[name], self.why[name] = not wrong, wrong
        ready = all(self.checks.values())
        if ready != self.ready:
            log.info("readiness", ready=ready, why="; ".join(filter(None, self.why.values())))
        self.ready = ready
        await self._tell({LIVE: True, **{f"kangtou.{name}": good for name, good in self.checks.items()}})
        await self._tell(dict.fromkeys(self._services, ready))

    async def _tell(self, found: dict[str, bool]) -> None:
        for service, good in found.items():
            if self._told.get(service) is not good:
                self._told[service] = good
                await self.servicer.set(service, SERVING if good else NOT_SERVING)

    async def _log(self) -> str:
        try:
            async with asyncio.timeout(LOG_S):
                await self._backend.log.incarnation()
        except (LogUnavailable, TimeoutError):
            full = await asyncio.to_thread(_full, self._backend.settings.data / "redis")
            return f"the log cannot be reached{': ' if full else ''}{full}"
        return ""

    async def _actors(self) -> str:
        if self.checks["actors"] and time.monotonic() - self._actors_at < ACTORS_S:
            return ""
        try:
            async with asyncio.timeout(LOG_S):
                living = await self._backend.directory.living()
        except (DirectoryUnavailable, TimeoutError):
            return "the directory cannot be reached"
        self._actors_at = time.monotonic()
        return "" if living else "no table actor is there"

    async def _promises(self) -> str:
        """What was found the last time, within some seconds. In memory there is nothing to promise."""
        client, settings = self._backend.client, self._backend.settings
        if client is None:
            return ""
        if time.monotonic() - self._promised_at < PROMISES_S:
            return self.why.get("persistence", "")
        try:
            async with asyncio.timeout(LOG_S):
                findings = await check(client, replicas=settings.replicas)
                self.redis = _figures(await client.info())
        except (LogUnavailable, RedisError, OSError, TimeoutError):
            return "Redis cannot be asked"
        self._promised_at = time.monotonic()
        return "" if settings.allow_weak_redis else "; ".join(map(str, findings))

    async def watch(self) -> None:
        """Look again and again."""
        while True:
            await asyncio.sleep(LOOK_S)
            await self.look()

    async def leave(self) -> None:
        """This gateway stops: NOT_SERVING for good."""
        self.ready = False
        await self.servicer.enter_graceful_shutdown()


def _full(folder: Path) -> str:
    """Why the Redis of this machine, if it is embedded here, cannot write."""
    try:
        return lacking(folder)
    except FileNotFoundError:
        return ""
    except OSError as error:
        return f"its folder cannot be written: {error.strerror}"


def _figures(info: dict[str, object]) -> dict[str, float]:
    found = {name: float(value) for name in FIGURES if isinstance(value := info.get(name), int | float)}
    for name in ("aof_last_write_status", "aof_last_bgrewrite_status"):
        if name in info:
            found[name] = float(info[name] == "ok")
    return found
