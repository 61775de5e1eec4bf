"""`kangtou health`: the standard health service of a gateway, as an exit code. For containers and load balancers."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import grpc
import typer
from grpc_health.v1 import health_pb2, health_pb2_grpc

from ..api.channel import open_channel
from .common import DEFAULT_SERVER, of
from .config import Config
from .exits import FAILED, NOT_FOUND, OK, UNREACHABLE

STATUS = health_pb2.HealthCheckResponse.DESCRIPTOR.enum_types_by_name["ServingStatus"]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("health")(health)


def health(
    context: typer.Context,
    service: Annotated[str, typer.Option("--service", help="a service's full name; default: the whole gateway")] = "",
    timeout: Annotated[float, typer.Option("--timeout", min=0.1, max=60, help="seconds")] = 5.0,
) -> int:
    """Ask a gateway whether it serves: exit code 0 if so, 1 if not, 6 if it cannot be reached, 8 for no such service.

    `kangtou.live` says whether the process itself works, `kangtou.log`, `kangtou.persistence` and `kangtou.actors` what
    it stands on; the whole gateway serves while all of these do.

    \b
    Examples:
      kangtou health
      kangtou health --server 127.0.0.1:7480 --service kangtou.live
    """
    common = of(context)
    server = common.server or Config().server or DEFAULT_SERVER
    try:
        status = asyncio.run(_ask(server, service, timeout))
    except grpc.aio.AioRpcError as error:
        if error.code() is grpc.StatusCode.NOT_FOUND:
            raise common.fail(NOT_FOUND, "no_service", service=service) from error
        raise common.fail(UNREACHABLE, "unreachable", server=server) from error
    name = STATUS.values_by_number[status].name
    if common.json:
        common.put_json({"server": server, "service": service, "status": name})
    else:
        common.put(name)
    return OK if status == health_pb2.HealthCheckResponse.SERVING else FAILED


async def _ask(server: str, service: str, timeout: float) -> int:
    async with open_channel(server) as channel:
        request = health_pb2.HealthCheckRequest(service=service)
        stub: Any = health_pb2_grpc.HealthStub(channel)  # type: ignore[no-untyped-call,arg-type,unused-ignore]
        return int((await stub.Check(request, timeout=timeout)).status)
