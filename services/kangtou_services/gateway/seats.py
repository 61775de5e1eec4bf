"""A second door of a gateway for isolated bots: a unix socket in the run folder, behind which there is play alone.

Whoever comes in there cannot register, look at archives, talk or queue; only play the seat that his token is good for.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable

import grpc
import structlog

from kangtou.v1 import play_pb2_grpc

from ..settings import Settings
from .calls import Guard
from .play import PlayService

log = structlog.get_logger(__name__)

PATH_MOST = 107  # bytes of a socket's path; a limit of the system
GRACE_S = 0.5


async def serve(
    settings: Settings, name: str, play: PlayService, options: list[tuple[str, int]], guard: Guard
) -> Callable[[], Awaitable[None]] | None:
    """Listen on `seats-NAME.sock`; what to await at the end. None if that cannot be, which is no reason to stop."""
    path = settings.run_dir.absolute() / f"seats-{name}.sock"
    if len(os.fsencode(path)) > PATH_MOST:
        log.warning("no_seats_socket", why="the path is too long", path=str(path))
        return None
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.unlink(missing_ok=True)
    server = grpc.aio.server(options=options, interceptors=[guard])
    play_pb2_grpc.add_PlayServiceServicer_to_server(play, server)
    try:
        server.add_insecure_port(f"unix:{path}")
    except RuntimeError as error:
        log.warning("no_seats_socket", why=str(error), path=str(path))
        return None
    await server.start()

    async def stop() -> None:
        await server.stop(GRACE_S)
        path.unlink(missing_ok=True)

    return stop
