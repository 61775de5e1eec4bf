"""`kangtou doctor`: is everything here as a server needs it, and if not, what is to be done?"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer

from ..api import ApiError, connect
from .bulk import DATA, ArchiveOption, DataOption
from .common import DEFAULT_SERVER, Common, of
from .exits import FAILED, INTERRUPTED, OK, CommandError
from .words import LANGUAGES
from .words_doctor import CHECKS

MARKS = {"ok": "✓", "warning": "!", "wrong": "✗"}
SERVER_S = 3.0


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("doctor")(doctor)


def doctor(
    context: typer.Context,
    data: DataOption = DATA,
    archive: ArchiveOption = "",
    redis: Annotated[
        str, typer.Option("--redis", metavar="URL", envvar="KANGTOU_REDIS_URL", help="a Redis of yours, if any")
    ] = "",
    host: Annotated[str, typer.Option("--host", envvar="KANGTOU_HOST", help="where gateways are to listen")] = "",
    port: Annotated[int, typer.Option("--port", envvar="KANGTOU_PORT", min=0, max=65535, help="and the port")] = 0,
) -> int:
    """Check this machine and what a server here would use; say what is wrong and what to do about it.

    Python and packages, open files, settings, data folder and secrets, port, archive, Ray, Redis (version, what it
    keeps over a restart, eviction, memory, clock), the sandbox, and the server if one answers. Changes nothing but for
    a small file in the archive, deleted again. Exit code 1 if anything is wrong; warnings (!) do not count.

    \b
    Examples:
      kangtou doctor
      kangtou doctor --data /srv/kangtou --redis redis://10.0.0.5:6379 --archive s3://records/kangtou
      kangtou doctor --json | grep -v '"ok"'
    """
    common = of(context)
    given = {"DATA": str(data), "ARCHIVE_URL": archive, "REDIS_URL": redis, "HOST": host, "PORT": str(port or "")}
    wrong = count = 0
    for found in (*_findings(given), *_server(common, data)):
        count += 1
        wrong += found["state"] == "wrong"
        _put(common, found)
    if not common.json:
        common.put(common.say("doctor_wrong" if wrong else "doctor_ok", count=wrong or count))
    return FAILED if wrong else OK


def _findings(given: dict[str, str]) -> Iterator[dict[str, Any]]:
    """Of the services, which look at the machine. Raises CommandError."""
    environment = {**os.environ, **{f"KANGTOU_{name}": value for name, value in given.items() if value}}
    argv = [sys.executable, "-m", "kangtou_services", "doctor"]
    child = subprocess.Popen(argv, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        assert child.stdout is not None
        with child.stdout:
            for line in child.stdout:
                yield json.loads(line)
        code = child.wait()
    except KeyboardInterrupt:
        child.terminate()
        child.wait()
        raise CommandError(INTERRUPTED, "") from None
    if code not in (OK, FAILED):
        raise CommandError(FAILED, f"doctor ended with {code}")


def _server(common: Common, data: Path) -> Iterator[dict[str, Any]]:
    """The server that the command line means, if it answers."""
    address = common.server or DEFAULT_SERVER

    async def ask() -> tuple[str, bool]:
        async with connect(address, retry_s=0.0) as client, asyncio.timeout(SERVER_S):
            found = await client.status()
            return found.version, found.log_ready

    try:
        has, ready = asyncio.run(ask())
    except (ApiError, TimeoutError):
        if common.server:
            yield {"check": "server", "code": "server_away", "state": "warning", "params": {"address": address}}
        return
    shown: dict[str, Any] = {"address": address, "version": has, "mine": version("kangtou"), "path": str(data)}
    if has != shown["mine"]:
        yield {"check": "server", "code": "server_other", "state": "wrong", "params": shown}
    elif not ready:
        yield {"check": "server", "code": "server_not_ready", "state": "wrong", "params": shown}
    else:
        yield {"check": "server", "code": "server_fine", "state": "ok", "params": shown}


def _put(common: Common, found: dict[str, Any]) -> None:
    text = common.say(f"dr_{found['code']}", **found["params"])
    if common.json:
        common.put_json({**found, "text": text})
        return
    name = CHECKS[found["check"]][LANGUAGES.index(common.lang)]
    common.put(f"{MARKS[found['state']]} {name}: {text}")
