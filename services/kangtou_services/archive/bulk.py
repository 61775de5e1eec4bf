"""`python -m kangtou_services archive-dump|archive-import …`: children of `kangtou archive dump|import`.

What happens is told on the error stream, one JSON object a line; words are the caller's business:

    {"progress": [done, of], "step": "dump"|"check"|"import"}     of: 0 if it is not known
    {"problem": "conflict"|"refused", "match": …, "text": …}
    {"error": code, …}                                            and the exit code
    {"done": {…}}

Exit codes are those of `kangtou`: 0 done, 1 a record or a dump was not in order, 2 a file or an argument is wrong,
8 there is none, 130 ended by a signal.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

from kangtou_engine.errors import BadText

from ..settings import Settings
from .archiver import index_file
from .dump import MANIFEST, BadMonth, Dumped, write_dump
from .importing import BadManifest, Importer, Problem, check_manifest
from .index import Index
from .store import ArchiveError, RecordStore

OK, FAILED, USAGE, NOT_FOUND, INTERRUPTED = 0, 1, 2, 8, 130
TELL_S = 0.1  # progress is told no more often


def tell(**said: object) -> None:
    """One line for the caller."""
    sys.stderr.write(json.dumps(said) + "\n")
    sys.stderr.flush()


class Bar:
    """Tells progress of a step now and then, and its end."""

    def __init__(self, step: str, total: int = 0) -> None:
        self._step = step
        self._total = total
        self._next = 0.0

    def both(self, done: int, total: int) -> None:
        """So many of so many."""
        self._total = total
        self.one(done)

    def one(self, done: int) -> None:
        """So many."""
        now = time.monotonic()
        if now >= self._next or done == self._total:
            self._next = now + TELL_S
            tell(progress=[done, self._total], step=self._step)


def dump(settings: Settings) -> int:
    """Write a dump and its manifest."""
    parser = argparse.ArgumentParser("archive-dump")
    parser.add_argument("month")
    parser.add_argument("out")
    parser.add_argument("--anonymous", action="store_true")
    parser.add_argument("--digests", action="store_true")
    given = parser.parse_args(sys.argv[2:])

    def write(out: BinaryIO) -> Dumped:
        bar = Bar("dump")
        flags = {"anonymous": given.anonymous, "digests": given.digests}
        return write_dump(settings.archive, given.month, out, **flags, progress=bar.both)

    return _ended(lambda: _dump(Path(given.out), write))


def _dump(out: Path, write: Callable[[BinaryIO], Dumped]) -> int:
    if str(out) == "-":
        dumped = write(sys.stdout.buffer)
        sys.stdout.flush()
        name = "-"
    else:
        name = out.name
        with _whole(out) as file:
            dumped = write(file)
        with _whole(out.with_name(name + MANIFEST)) as file:
            file.write(dumped.to_json(name).encode())
    tell(done=json.loads(dumped.to_json(name)))
    return OK


@contextmanager
def _whole(target: Path) -> Iterator[BinaryIO]:
    """A file that is there whole, on disk, or not at all."""
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(target.parent))
    waiting = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with waiting.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        waiting.replace(target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            waiting.unlink()
        raise


def load(settings: Settings) -> int:
    """Import dumps, or single records, into an archive. With `--no-index` the records alone are written."""
    parser = argparse.ArgumentParser("archive-import")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--verify", action="store_true")
    parser.add_argument("--no-manifest", action="store_true")
    parser.add_argument("--no-index", action="store_true")
    given = parser.parse_args(sys.argv[2:])
    return _ended(lambda: _load(settings, given))


def _load(settings: Settings, given: argparse.Namespace) -> int:
    with ExitStack() as stack:
        index = None
        if not given.no_index:
            index = Index(index_file(settings))
            stack.callback(index.close)
        importer = Importer(RecordStore(settings.archive), index, _problem, rerun=given.verify)
        stack.callback(importer.close)
        for name in given.files:
            _one(importer, Path(name), checked=not given.no_manifest)
    tell(done=asdict(importer.counts))
    return FAILED if importer.counts.conflicts or importer.counts.refused else OK


def _problem(problem: Problem) -> None:
    tell(problem=problem.kind, match=problem.match, text=problem.text)


def _one(importer: Importer, path: Path, *, checked: bool) -> None:
    if str(path) == "-":
        importer.dump(sys.stdin.buffer, Bar("import").one)
        return
    total = 1
    if not path.name.endswith((".ktr", ".ktr.zst")):  # those are single records: they have no manifest
        total = int(check_manifest(path, Bar("check").both)["records"]) if checked else 0
    with path.open("rb") as file:
        reader = importer.dump(file, Bar("import", total).one)
    if total and reader.records != total:
        raise BadManifest("manifest_differs", f"records: {total} / {reader.records}")


def _ended(work: Callable[[], int]) -> int:
    """Run it; what goes wrong as a line and an exit code."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return work()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        return FAILED  # nobody listens any more
    except BadMonth as error:
        return _error(USAGE, "bad_month", text=str(error))
    except BadManifest as error:
        return _error(NOT_FOUND if error.code == "manifest_missing" else FAILED, error.code, detail=error.detail)
    except BadText as error:
        return _error(FAILED, "bad_dump", problem=str(error))
    except FileNotFoundError as error:
        return _error(NOT_FOUND, "no_file", path=str(error.filename or error))
    except ArchiveError as error:
        return _error(USAGE, "archive_error", problem=str(error))
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        return _error(USAGE, "archive_error", problem=f"{error.strerror or error}{where}")


def _error(code: int, name: str, **params: Any) -> int:
    tell(error=name, **params)
    return code
