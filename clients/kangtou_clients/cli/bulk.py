"""`kangtou archive dump` and `kangtou archive import`: operators' commands, on an archive itself, without a server.

The work is done by a child (`python -m kangtou_services archive-…`): this package knows nothing of its inside.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from .bar import Advance, bar
from .common import Common, of
from .exits import FAILED, INTERRUPTED, OK, USAGE, CommandError

DataOption = Annotated[Path, typer.Option("--data", envvar="KANGTOU_DATA", help="the server's data folder")]
ArchiveOption = Annotated[
    str,
    typer.Option(
        "--archive", metavar="URL", envvar="KANGTOU_ARCHIVE_URL", help="archive elsewhere: folder, object store"
    ),
]
DATA = Path("kangtou-data")


def register(group: typer.Typer) -> None:
    """Add the commands to `kangtou archive`."""
    group.command("dump")(dump)
    group.command("import")(load)


def dump(
    context: typer.Context,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="file to write (.zst), or - for the output")],
    month: Annotated[str, typer.Option("--month", metavar="YYYY-MM", help="matches that ended then (UTC)")],
    data: DataOption = DATA,
    archive: ArchiveOption = "",
    anonymous: Annotated[
        bool, typer.Option("--anonymous", help="pseudonyms of this dump in place of account ids")
    ] = False,
    digests: Annotated[bool, typer.Option("--digests", help="each record's SHA-256 in the manifest too")] = False,
) -> int:
    """Write all records of a month into one compressed file, with a manifest OUT.manifest.json beside it.

    For operators: reads the archive of a server on this machine, or at a URL; the server may run or not. The same
    records always give the same file. `zstd -dc OUT` shows it as text; `kangtou archive stats OUT` counts,
    `kangtou archive import OUT` puts it into another archive. Docs: docs/study.md.

    \b
    Examples:
      kangtou archive dump --month 2026-11 2026-11.zst
      kangtou archive dump --month 2026-11 --anonymous --digests public.zst
      kangtou archive dump --month 2026-11 --archive s3://records/kangtou - | kangtou archive stats -
    """
    common = of(context)
    arguments = [month, str(out), *_flags({"--anonymous": anonymous, "--digests": digests})]
    done = child_of(common, "archive-dump", arguments, data, archive, to_stdout=str(out) == "-")
    said = done.said
    if said and str(out) != "-":
        if common.json:
            common.put_json(said)
        else:
            common.put(common.say("dump_done", path=out, records=said["records"], bytes=f"{said['bytes']:,}"))
            common.put(f"sha256 {said['sha256']}")
    return done.code


def load(
    context: typer.Context,
    files: Annotated[list[str], typer.Argument(metavar="DUMP...", help="dumps, records (.ktr, .ktr.zst), or -")],
    data: DataOption = DATA,
    archive: ArchiveOption = "",
    verify: Annotated[bool, typer.Option("--verify", help="run the rules' engine over every record as well")] = False,
    no_manifest: Annotated[bool, typer.Option("--no-manifest", help="a dump without its manifest will do")] = False,
) -> int:
    """Put the records of dumps into an archive, checked one by one. What is there already stays as it is.

    Checks each dump against its manifest first, then every record's hashes. Interrupted or killed it goes on when
    it is run again. Another record of the same match is a conflict: it is named and left out (exit code 1).
    With --archive and no data folder the records alone are written; a server's index is rebuilt from them.

    \b
    Examples:
      kangtou archive import 2026-11.zst --data /srv/kangtou
      kangtou archive import 2026-*.zst --archive /srv/records --verify
    """
    common = of(context)
    missing = [name for name in files if name != "-" and not Path(name).is_file()]
    if missing:
        raise common.fail(8, "no_file", path=missing[0])
    no_index = bool(archive) and not data.is_dir()
    flags = {"--verify": verify, "--no-manifest": no_manifest, "--no-index": no_index}
    done = child_of(common, "archive-import", [*files, *_flags(flags)], data, archive)
    if done.said:
        if common.json:
            common.put_json({**done.said, "problems": done.problems})
        else:
            common.put(common.say("import_done", **done.said))
    return done.code


def _flags(given: Mapping[str, bool]) -> list[str]:
    return [name for name, wanted in given.items() if wanted]


class Done:
    """What a child has said: its result, the records that it left out, its exit code."""

    def __init__(self) -> None:
        self.said: dict[str, Any] = {}
        self.problems: list[dict[str, Any]] = []
        self.error: dict[str, Any] = {}
        self.code = OK


def child_of(
    common: Common, process: str, arguments: list[str], data: Path, archive: str, *, to_stdout: bool = False
) -> Done:
    """Run a child to its end and show what it tells. Raises CommandError with what it could not do."""
    environment = {**os.environ, "KANGTOU_DATA": str(data), "KANGTOU_ARCHIVE_URL": archive}
    child = subprocess.Popen(
        [sys.executable, "-m", "kangtou_services", process, *arguments],
        env=environment,
        stdout=None if to_stdout else subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,  # Ctrl-C reaches it through this process, once
    )
    done = Done()
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        assert child.stderr is not None
        with bar(common) as advance, child.stderr as told:
            for line in told:
                _tell(common, line, done, advance)
        done.code = child.wait()
    except KeyboardInterrupt:
        child.send_signal(signal.SIGTERM)
        child.wait()
        raise CommandError(INTERRUPTED, common.say("interrupted")) from None
    finally:
        signal.signal(signal.SIGTERM, before)
    if done.error:
        raise common.fail(done.code or FAILED, done.error.pop("error"), **done.error)
    if done.code not in (OK, FAILED):
        raise common.fail(done.code if done.code > 0 else USAGE, "child_ended", number=done.code)
    return done


def _tell(common: Common, line: bytes, done: Done, advance: Advance) -> None:
    try:
        said = json.loads(line)
    except ValueError:  # not the child's own words: a warning of a library, or a traceback
        sys.stderr.buffer.write(line)
        sys.stderr.flush()
        return
    if "error" in said:
        done.error = said
    elif "progress" in said:
        advance(common.say(f"step_{said['step']}"), *said["progress"])
    elif "problem" in said:
        done.problems.append(said)
        common.note(said["problem"], match=said["match"], text=said["text"])
    else:
        done.said = said["done"]
