"""VitalsService: how all processes of a server are doing, as one gateway can tell."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from kangtou.v1 import vitals_pb2 as pb
from kangtou.v1 import vitals_pb2_grpc as rpc

from ..directory import DirectoryUnavailable
from ..log.base import LogUnavailable
from ..observe.vitals import of_gateway
from .admin import AdminService, release
from .calls import Context
from .health import Readiness
from .limits import Streams

if TYPE_CHECKING:
    from .server import Parts


class VitalsService(rpc.VitalsServiceServicer):
    """kangtou.v1.VitalsService."""

    def __init__(self, admin: AdminService, parts: Parts, streams: Streams, readiness: Readiness) -> None:
        self._admin = admin
        self._parts = parts
        self._streams = streams
        self._readiness = readiness

    async def GetVitals(self, request: pb.GetVitalsRequest, context: Context) -> pb.GetVitalsResponse:
        """What is known now. Other gateways are told as of their last heartbeat."""
        await self._admin.allow(context)
        parts, readiness = self._parts, self._readiness
        backend = parts.backend
        response = pb.GetVitalsResponse(
            version=release(),
            gateway_id=parts.gateway_id,
            at_ms=time.time_ns() // 1_000_000,
            ready=readiness.ready,
            redis=readiness.redis,
            checks=[
                pb.ReadyCheck(name=name, good=good, why=readiness.why.get(name, ""))
                for name, good in readiness.checks.items()
            ],
        )
        try:
            await self._processes(response)
            response.live_matches = len(await backend.store.live())
        except (LogUnavailable, DirectoryUnavailable):  # the checks say why; who runs is not known now
            response.ready = False
        return response

    async def _processes(self, response: pb.GetVitalsResponse) -> None:
        parts = self._parts
        directory = parts.backend.directory
        for actor in await directory.living():
            stats = await parts.router.stats(actor)
            figures = {"tables": float(actor.tables)} if stats is None else dict(stats.figures)
            response.processes.add(id=actor.id, kind="actor", node=actor.node, pid=actor.pid, figures=figures)
        for gateway in await directory.gateways():
            own = gateway.id == parts.gateway_id
            figures = of_gateway(parts, self._streams) if own else dict(gateway.figures)
            response.processes.add(id=gateway.id, kind="gateway", node=gateway.node, pid=gateway.pid, figures=figures)
