"""A table host at work: startup, serve, shutdown on one screen."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

import structlog

from ..directory import DirectoryUnavailable
from ..directory.heart import Heart
from ..link import listen
from ..runtime import Backend
from .health import Health
from .host import Host
from .moving import Drain
from .takeover import Opener

log = structlog.get_logger(__name__)

SWEEP_S = 3.0
SOCKET_PATH_MOST = 107  # bytes; a limit of the system. Beyond it the link of this machine is TCP


@dataclass(frozen=True, slots=True)
class Serving:
    """A host that listens."""

    host: Host
    opener: Opener
    address: str


@contextlib.asynccontextmanager
async def serving(
    backend: Backend,
    name: str,
    stopped: Callable[[], None] = lambda: None,
    drained: Callable[[], None] = lambda: None,
) -> AsyncIterator[Serving]:
    """Host tables while the context lasts. `name` is the actor's; each start gets an id of its own.

    `stopped` is called when others have declared this actor dead: it must end, its tables are theirs. `drained` is
    called when an operator has told it to stop and its tables have gone: it is to end, in order. Raises OSError.
    """
    settings = backend.settings
    actor_id = f"{name}-{secrets.token_hex(4)}"
    settings.run_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    host = Host(backend, actor_id)
    opener = Opener(host, backend.directory)
    path = (settings.run_dir / f"{actor_id}.sock").absolute()
    if settings.link != "unix":
        if not settings.link_secret:
            raise OSError("tables listen on a port (link=tcp) only with a link_secret")
        wanted = f"tcp:{settings.address or settings.host}:0"
    elif len(os.fsencode(path)) > SOCKET_PATH_MOST and settings.link_secret:  # without one a port is open to everybody
        log.warning("no_link_socket", why="the path is too long", path=str(path))
        wanted = "tcp:127.0.0.1:0"
    else:
        wanted = f"unix:{path}"
    address, stop_listening = await listen(wanted, host.received, host.ended)
    health = Health(host, backend.directory, address)
    heart = Heart(health.beat, stopped, settings.heartbeat_ms / 1000)
    await heart.start()
    drain = Drain(host, backend.directory, backend.orders, lambda: host.spawn(health.beat()), drained)
    tasks = [
        asyncio.ensure_future(work)
        for work in (
            health.probe_forever(),
            health.absent_forever(),
            opener.watch(),
            opener.sweep_forever(SWEEP_S),
            drain.watch(),
        )
    ]
    for task in tasks:
        task.add_done_callback(host.noted)
    log.info("actor_ready", actor=actor_id, address=address)
    try:
        yield Serving(host, opener, address)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await stop_listening()
        await host.stop()
        await heart.stop()
        with contextlib.suppress(DirectoryUnavailable):  # then its heartbeats run out
            await backend.directory.leave(actor_id)
        log.info("actor_stopped", actor=actor_id)
