"""`python -m kangtou_services scaler`: asks Ray's autoscaler for as many nodes as the tables need. For KubeRay.

Table actors ask Ray for nothing (they carry as many tables as their processor bears), so its autoscaler would never
add a node by itself. This process looks at the directory and asks. It never asks for fewer than there are: an actor's
tables would have to move first, and that is for an operator to begin (`kangtou admin drain`).
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterable

import structlog
import uvloop

from . import logs
from .directory import Actor, Directory, DirectoryUnavailable, RedisDirectory
from .redis_client import connect
from .settings import Settings

log = structlog.get_logger(__name__)

EVERY_S = 15.0
AHEAD = 1.25  # a node takes a minute or two to come: ask while there is still room


def nodes_for(living: Iterable[Actor], settings: Settings) -> int:
    """How many nodes to ask for, between the settings' least and most, and no fewer than have actors now."""
    actors = list(living)
    tables = sum(actor.tables for actor in actors)
    needed = -(-int(tables * AHEAD) // settings.scale_tables)
    return max(min(max(needed, settings.scale_least), settings.scale_most), len({actor.node for actor in actors}))


async def keep_asking(
    directory: Directory,
    settings: Settings,
    ask: Callable[[int], None],
    stopping: asyncio.Event,
    every_s: float = EVERY_S,
) -> None:
    """Until it is stopped. Says it again and again: Ray's head may have forgotten. Raises what `ask` raises."""
    asked = 0
    while not stopping.is_set():
        try:
            wanted = nodes_for(await directory.living(), settings)
        except DirectoryUnavailable:
            wanted = asked  # nothing is known: nothing changes
        if wanted:
            await asyncio.to_thread(ask, wanted)
        if wanted != asked:
            log.info("nodes_asked", nodes=wanted, before=asked)
            asked = wanted
        try:
            async with asyncio.timeout(every_s):
                await stopping.wait()
        except TimeoutError:
            continue


def main(settings: Settings) -> int:
    """Until SIGTERM; 1 if Ray cannot be asked (whoever supervises starts it again)."""
    logs.configure(settings.log_level, "scaler", settings.log_format)
    return uvloop.run(_run(settings))


async def _run(settings: Settings) -> int:
    from .actors import NodeAsker  # Ray takes a second to import

    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    client = connect(settings.redis)
    try:
        asker = await asyncio.to_thread(NodeAsker, settings, stopping.is_set)
        await keep_asking(RedisDirectory(client), settings, asker.ask, stopping)
    finally:
        await client.aclose()
    return 0
