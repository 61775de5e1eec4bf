"""AdminService: for accounts with the role of operator; on a server that listens on loopback, for whoever is there."""

from __future__ import annotations

import ipaddress
import os
from importlib.metadata import PackageNotFoundError, version

from kangtou.v1 import admin_pb2 as admin
from kangtou.v1 import admin_pb2_grpc as rpc

from ..directory import Actor, DirectoryUnavailable
from ..identity import OPERATOR, peer_host
from ..log.base import LogUnavailable
from ..runtime import Backend
from ..settings import Settings
from .auth import Callers, token_of
from .calls import CallError, Code, Context
from .health import Readiness
from .limits import Streams
from .router import Router

QUARANTINE = 2  # deaths after which actors do not open a table
LOOK_MOST = 200  # matches without an owner that are looked at one by one


class AdminService(rpc.AdminServiceServicer):
    """kangtou.v1.AdminService."""

    def __init__(
        self, backend: Backend, gateway_id: str, callers: Callers, router: Router, streams: Streams, ready: Readiness
    ) -> None:
        self._backend = backend
        self._gateway_id = gateway_id
        self._callers = callers
        self._router = router
        self._streams = streams
        self._ready = ready

    async def GetStatus(self, request: admin.GetStatusRequest, context: Context) -> admin.GetStatusResponse:
        """What runs, and how much of it."""
        await self.allow(context)
        response = admin.GetStatusResponse(version=release(), log_ready=self._ready.checks["log"])
        try:
            await self._all(response)
        except (LogUnavailable, DirectoryUnavailable):  # told as far as it is known
            response.log_ready = False
        return response

    async def _all(self, response: admin.GetStatusResponse) -> None:
        living = await self._backend.directory.living()
        for actor in living:
            response.actors.append(await self._actor(actor))
        for gateway in await self._backend.directory.gateways():
            streams = len(self._streams) if gateway.id == self._gateway_id else 0
            response.gateways.add(gateway_id=gateway.id, pid=gateway.pid, streams=streams)
        await self._matches(response, {actor.id for actor in living})

    async def _actor(self, actor: Actor) -> admin.ActorStatus:
        status = admin.ActorStatus(actor_id=actor.id, node=actor.node, pid=actor.pid, tables=actor.tables)
        stats = await self._router.stats(actor)
        if stats is not None:
            status.tables, status.moves, status.takeovers = stats.tables, stats.moves, stats.takeovers
            status.faulted, status.hosted = stats.faulted, stats.hosted
        return status

    async def _matches(self, response: admin.GetStatusResponse, living: set[str]) -> None:
        live = await self._backend.store.live()
        owners = await self._backend.log.owners(live)
        response.live_matches = len(live)
        ownerless = [match for match, owner in zip(live, owners, strict=True) if owner not in living]
        for match in ownerless[:LOOK_MOST]:
            response.quarantined += await self._backend.store.deaths(match) >= QUARANTINE

    async def allow(self, context: Context) -> None:
        """Raises CallError for whoever may not look."""
        if here(self._backend.settings, context):
            return
        session = await self._callers.session(context) if token_of(context) else None
        if session is None or OPERATOR not in session.account.roles:
            raise CallError(Code.PERMISSION_DENIED, "this is for operators", "仅限管理员")


def here(settings: Settings, context: Context) -> bool:
    """Whether a call comes from this machine to a gateway that only this machine can reach.

    Behind a proxy on this machine all calls seem to: `local_operator` is then to be switched off.
    """
    return settings.local_operator and is_loopback(settings.host) and is_loopback(peer_host(context.peer()))


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    if host in ("localhost", "local"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return ipaddress.ip_network(host, strict=False).is_loopback if "/" in host else False


def release() -> str:
    """The version of the distribution that runs."""
    try:
        return version("kangtou")
    except PackageNotFoundError:
        return f"unknown ({os.getpid()})"
