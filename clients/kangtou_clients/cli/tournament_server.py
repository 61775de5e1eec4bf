"""A server of a tournament's own: started as a child on a folder, ended with the command; the folder is kept."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from ..api import ApiError, connect
from .common import Common
from .config import Config
from .exits import FAILED, GAVE_UP, INTERRUPTED, CommandError
from .remote import Remote

T = TypeVar("T")
READY_S = 300.0
NAME = "tournament"


async def embedded(common: Common, data: Path, work: Callable[[Remote], Awaitable[int]]) -> int:
    """Start a server on a folder, do the work there as an account of this run, end the server."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    process, address = await _started(common, data, stop)
    try:
        async with connect(address) as client:
            await client.accounts.register(NAME, "bot")
            task = asyncio.ensure_future(work(Remote(common, client, Config(), None)))
            waiting = asyncio.ensure_future(stop.wait())
            await asyncio.wait((task, waiting), return_when=asyncio.FIRST_COMPLETED)
            waiting.cancel()
            if not task.done():
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
                return INTERRUPTED
            return task.result()
    except ApiError as error:
        raise common.fail(FAILED, "server_says", text=error) from error
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        await process.wait()


async def _started(common: Common, data: Path, stop: asyncio.Event) -> tuple[asyncio.subprocess.Process, str]:
    await asyncio.to_thread(data.mkdir, parents=True, exist_ok=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    given = {"DATA": str(data), "HOST": "127.0.0.1", "PORT": str(port), "GATEWAYS": "1", "HOUSE_BOTS": "0"}
    environment = {**os.environ, **{f"KANGTOU_{name}": value for name, value in given.items()}}
    common.note("tournament_starts", data=data)
    with (data / "up.log").open("ab") as errors:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "kangtou_services", "up"),
            env=environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
        )
    assert process.stdout is not None
    line = asyncio.ensure_future(process.stdout.readline())
    waiting = asyncio.ensure_future(stop.wait())
    await asyncio.wait((line, waiting), timeout=READY_S, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if line.done() and line.result().startswith(b"ready"):
        return process, f"127.0.0.1:{port}"
    line.cancel()
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGTERM)
    code = await process.wait()
    if stop.is_set():
        raise CommandError(INTERRUPTED, common.say("tournament_stopped"))
    words = (data / "up.log").read_text(errors="replace").strip().splitlines()
    raise CommandError(code or GAVE_UP, words[-1] if words else common.say("tournament_stopped"))
