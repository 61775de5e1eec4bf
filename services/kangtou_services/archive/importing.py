"""Records from dumps into an archive. Done again after a kill it goes on: what lies there already is compared.

Nothing is overwritten: another record of the same match is a conflict, told and left out. A dump's manifest is checked
before the first record is written, every record's hashes before it is.
"""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO

import zstandard

from kangtou_engine.errors import BadText
from kangtou_engine.record import Record, read_record, write_record
from kangtou_engine.record.dump import DumpReader
from kangtou_engine.registry import REGISTRY
from kangtou_engine.verify import verify

from .dump import MANIFEST, MANIFEST_FORMAT, Progress
from .index import Index, Listed, listed
from .store import ArchiveConflict, ArchiveError, RecordStore, path_of

WRITERS = 8  # records written at once: most of the time is waiting for the disk or the object store
BATCH = 200
PIECE = 1 << 20


class BadManifest(ValueError):
    """A manifest that is missing, cannot be read, or is not that of the file. `code`, and what the file lacks."""

    def __init__(self, code: str, detail: str = "") -> None:
        super().__init__(code, detail)
        self.code = code
        self.detail = detail


@dataclass(slots=True)
class Counts:
    """What an import came to. `conflicts` are other records of matches that were there; `refused` were not in order."""

    added: int = 0
    there: int = 0
    conflicts: int = 0
    refused: int = 0


@dataclass(frozen=True, slots=True)
class Problem:
    """A record that was left out: `conflict` or `refused`, and why."""

    kind: str
    match: str
    text: str


def check_manifest(path: Path, progress: Progress) -> dict[str, Any]:
    """Compare a dump with its manifest. Raises BadManifest, OSError."""
    beside = path.with_name(path.name + MANIFEST)
    try:
        said = json.loads(beside.read_bytes())
    except FileNotFoundError:
        raise BadManifest("manifest_missing", beside.name) from None
    except (ValueError, RecursionError) as error:
        raise BadManifest("manifest_unreadable", beside.name) from error
    if not isinstance(said, dict) or said.get("format") != MANIFEST_FORMAT:
        raise BadManifest("manifest_unreadable", beside.name)
    size, right = path.stat().st_size, hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(PIECE):
            right.update(piece)
            progress(file.tell(), size)
    for name, value in (("bytes", size), ("sha256", right.hexdigest())):
        if said.get(name) != value:
            raise BadManifest("manifest_differs", f"{name}: {said.get(name)} / {value}")
    return said


def unpacked(file: BinaryIO) -> BinaryIO:
    """The text of a file that may be compressed."""
    raw: Any = file
    buffered = BufferedReader(raw, PIECE)
    if buffered.peek(4)[:4] != zstandard.FRAME_HEADER:
        return buffered
    reader: Any = zstandard.ZstdDecompressor().stream_reader(buffered, read_across_frames=True)
    return BufferedReader(reader, PIECE)


class Importer:
    """Writes records into a store, several at once, and notes them in an index if there is one."""

    def __init__(
        self, store: RecordStore, index: Index | None, tell: Callable[[Problem], None], *, rerun: bool
    ) -> None:
        self._store = store
        self._index = index
        self._tell = tell
        self._rerun = rerun
        self._rows: list[Listed] = []
        self._pool = ThreadPoolExecutor(WRITERS)
        self._writing: deque[tuple[Record, Future[tuple[str, bool]]]] = deque()
        self.counts = Counts()

    def dump(self, file: BinaryIO, progress: Callable[[int], None]) -> DumpReader:
        """Take in all of a dump. Raises BadText where it is damaged (the records before that are kept), OSError."""
        reader = DumpReader(unpacked(file))
        try:
            for text in _guarded(reader):
                self._take(text)
                progress(reader.records)
        finally:
            while self._writing:
                self._written()
            self._note(())
        return reader

    def close(self) -> None:
        """Let go of the threads."""
        self._pool.shutdown()

    def _take(self, text: bytes) -> None:
        try:
            record = read_record(text)
        except BadText as error:
            self._left_out("refused", "", str(error))
            return
        if self._rerun:
            report = verify(text, REGISTRY)
            if not report.ok:
                self._left_out("refused", record.head.terms.match, str(report.findings[0]))
                return
        self._writing.append((record, self._pool.submit(self._put, record)))
        if len(self._writing) >= 2 * WRITERS:
            self._written()

    def _put(self, record: Record) -> tuple[str, bool]:
        """Where it lies, and whether it did already."""
        path = path_of(record)
        try:
            there = self._store.text(path) == write_record(record)
        except (FileNotFoundError, ArchiveError):  # not there, or broken off: `put` knows which, and what to do
            there = False
        return (path, True) if there else (self._store.put(record), False)

    def _written(self) -> None:
        record, waiting = self._writing.popleft()
        try:
            path, there = waiting.result()
        except ArchiveConflict as error:
            self._left_out("conflict", record.head.terms.match, str(error))
            return
        if there:
            self.counts.there += 1
        else:
            self.counts.added += 1
        if self._index is not None and (not there or self._index.find(record.head.terms.match) is None):
            self._note((listed(record, path),))

    def _note(self, rows: tuple[Listed, ...]) -> None:
        self._rows += rows
        if self._index is not None and self._rows and (not rows or len(self._rows) >= BATCH):
            self._index.add(self._rows)
            self._rows = []

    def _left_out(self, kind: str, match: str, text: str) -> None:
        if kind == "conflict":
            self.counts.conflicts += 1
        else:
            self.counts.refused += 1
        self._tell(Problem(kind, match, text))


def _guarded(reader: DumpReader) -> Iterator[bytes]:
    try:
        yield from reader.texts()
    except zstandard.ZstdError as error:
        raise BadText(f"the dump cannot be unpacked ({reader.place}): {error}") from error
