"""`kangtou backup` and `kangtou restore`: the whole state of a server. The work is a process of the services."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from .bulk import DATA, ArchiveOption, DataOption, child_of
from .common import of

RedisOption = Annotated[
    str,
    typer.Option("--redis", metavar="URL", envvar="KANGTOU_REDIS_URL", help="a Redis of yours, if the server has one"),
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("backup")(backup)
    app.command("restore")(restore)


def backup(
    context: typer.Context,
    place: Annotated[str, typer.Argument(metavar="FOLDER|URL", help="where it goes: new for every backup")],
    data: DataOption = DATA,
    archive: ArchiveOption = "",
    redis: RedisOption = "",
) -> int:
    """Back up a running server: matches in play, accounts, ratings, tournaments, lobby, archive.

    Redis is taken at one instant, while play goes on; then the records that belong to that instant. No secret of the
    server's setting up is in it, but seeds of matches in play and hashes of tokens are: keep it where nobody looks.
    Broken off, it is begun again on the same place; records that are there are not copied twice. Docs: docs/operate.md.

    \b
    Examples:
      kangtou backup /backups/2026-11-30 --data /srv/kangtou
      kangtou backup s3://backups/kangtou/2026-11-30 --redis redis://10.0.0.5:6379 --archive s3://records/kangtou
    """
    common = of(context)
    os.environ["KANGTOU_REDIS_URL"] = redis
    done = child_of(common, "backup", [place], data, archive)
    if common.json:
        common.put_json({**done.said, "place": place})
    elif done.said:
        common.put(common.say("backup_done", place=place, at=_when(done.said["taken_ms"]), **done.said))
    return done.code


def restore(
    context: typer.Context,
    place: Annotated[str, typer.Argument(metavar="FOLDER|URL", help="a backup")],
    data: DataOption = DATA,
    archive: ArchiveOption = "",
    redis: RedisOption = "",
) -> int:
    """Put a backup back into an empty server, which does not run. Then start it: matches in play go on.

    Every file is checked against its hash first. A Redis or an archive with anything in it is refused (exit code 5).
    Broken off, run the same command again; no server starts on the folder before it is done. The time since the
    backup is given back to every clock.

    \b
    Examples:
      kangtou restore /backups/2026-11-30 --data /srv/kangtou && kangtou up --data /srv/kangtou
    """
    common = of(context)
    os.environ["KANGTOU_REDIS_URL"] = redis
    done = child_of(common, "restore", [place], Path(data), archive)
    if common.json:
        common.put_json({**done.said, "place": place})
    elif done.said:
        common.put(common.say("restore_done", place=place, at=_when(done.said["taken_ms"]), **done.said))
    return done.code


def _when(time_ms: int) -> str:
    return f"{datetime.fromtimestamp(time_ms / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"
