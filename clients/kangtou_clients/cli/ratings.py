"""`kangtou ratings`: for operators, beside the data of a server."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from .common import of


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(help="For operators: check ratings.", no_args_is_help=True, rich_markup_mode=None)
    group.callback()(_group)
    group.command("rebuild")(rebuild)
    app.add_typer(group, name="ratings")


def _group() -> None:
    """For operators: check ratings against the log of results that they follow from."""


def rebuild(
    context: typer.Context,
    data: Annotated[Path, typer.Option("--data", help="the server's data folder")] = Path("kangtou-data"),
    redis: Annotated[str, typer.Option("--redis", metavar="URL", help="its Redis, if that is not embedded")] = "",
    write: Annotated[bool, typer.Option("--write", help="make the ratings anew from the log")] = False,
) -> int:
    """Replay the log of results and compare with the ratings that are stored, bit for bit. The server may run.

    Exit code 1 names the first difference; 4: its Redis cannot be reached.

    \b
    Examples:
      kangtou ratings rebuild
      kangtou ratings rebuild --data /srv/kangtou
      kangtou ratings rebuild --redis redis://db:6379 --write
    """
    of(context)
    environment = {**os.environ, "KANGTOU_DATA": str(data)}
    if redis:
        environment["KANGTOU_REDIS_URL"] = redis
    command = [sys.executable, "-m", "kangtou_services", "ratings", "rebuild", *(["--write"] if write else [])]
    child = subprocess.Popen(command, env=environment)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: child.send_signal(signal.SIGTERM))
    return child.wait()
