"""`kangtou archive rebuild`: an index from the records alone. The work is a process of the services."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from ..screen import Screen
from .common import of
from .exits import FAILED, OK


def rebuild(
    context: typer.Context,
    data: Annotated[Path, typer.Option("--data", help="the server's data folder")] = Path("kangtou-data"),
    archive: Annotated[str, typer.Option("--archive", metavar="URL", help="where the records are, if not there")] = "",
    afresh: Annotated[bool, typer.Option("--afresh", help="read also the records that the index knows")] = False,
) -> int:
    """Make the index of an archive say what its records say.

    A server does this by itself when its index is lost. Use it after records were copied in or taken out by hand, also
    while the server runs. Broken off, it goes on where it was. Files that are no records are named (exit code 1).

    \b
    Examples:
      kangtou archive rebuild --data /srv/kangtou
      kangtou archive rebuild --data /srv/kangtou --archive s3://bucket/records --afresh
    """
    common = of(context)
    environment = {**os.environ, "KANGTOU_DATA": str(data)}
    if archive:
        environment["KANGTOU_ARCHIVE_URL"] = archive
    argv = [sys.executable, "-m", "kangtou_services", "archive-rebuild", *(["--afresh"] if afresh else [])]
    child = subprocess.Popen(argv, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: child.send_signal(signal.SIGTERM))
    done: dict[str, Any] = {}
    assert child.stdout is not None
    columns = (SpinnerColumn(), TextColumn("{task.fields[files]:,} records"), TimeElapsedColumn())
    with (
        child.stdout,
        Progress(*columns, console=Screen(stderr=True), transient=True, disable=common.json) as progress,
    ):
        task = progress.add_task("", total=None, files=0)
        for line in child.stdout:
            said = json.loads(line)
            progress.update(task, files=said["records"])
            done = said if "added" in said else done
    if code := child.wait():  # it has said why
        return code if code > 0 else 128 - code
    if common.json:
        common.put_json(done)
    else:
        common.put(common.say("rebuilt", records=done["records"], added=done["added"], gone=done["gone"]))
    if done["damaged"]:
        common.note("damaged", count=len(done["damaged"]), paths=" ".join(done["damaged"][:5]))
        return FAILED
    return OK
