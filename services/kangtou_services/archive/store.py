"""Where records lie: a folder or any fsspec URL, one zstd file a match, `YYYY/MM/DD/<match>.ktr.zst` by its end.

A record is there whole or not at all, and it is read back before anybody is told that it is safe. In a folder it is
written under another name and moved; an object store puts a whole object or none, and has no move that would be safer.
All calls block; the archiver makes them in a thread. docs/archive.md says how S3 is set up.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import zstandard
from fsspec.core import split_protocol, url_to_fs
from fsspec.implementations.local import LocalFileSystem

from kangtou_engine.errors import BadText
from kangtou_engine.record import Record, read_record, write_record

SUFFIX = ".ktr.zst"
WAITING = ".tmp"
LEVEL = 6  # most of a record is hashes, which nothing makes smaller
MAX_BYTES = 256 << 20  # of text: what a damaged file may make us unpack
# Protocols whose puts are whole or nothing.
OBJECTS = frozenset(("s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "oss", "memory"))
EXTRAS = {"s3": "s3", "s3a": "s3"}
_DAYS_KEPT = 100
_STALE_S = 24 * 3600  # a file that waited for its move so long belongs to nobody


class ArchiveError(OSError):
    """The archive cannot be written or read now."""


class ArchiveConflict(ArchiveError):
    """Another record of this match lies there already. It is never overwritten."""


class ArchiveMissing(ArchiveError):
    """The archive's place does not exist, or what is needed to reach it is not installed: a matter of setting up."""


def path_of(record: Record) -> str:
    """Where a record lies below the root: follows from the record alone."""
    day = datetime.fromtimestamp(record.head.outcome.ended_ms / 1000, UTC)
    return f"{day:%Y/%m/%d}/{record.head.terms.match}{SUFFIX}"


def pack(text: str) -> bytes:
    """A record's text as it lies in an archive."""
    return zstandard.ZstdCompressor(level=LEVEL, write_checksum=True).compress(text.encode())


def unpack(packed: bytes, path: str) -> str:
    """The text again. Raises ArchiveError."""
    try:
        if zstandard.frame_content_size(packed) > MAX_BYTES:  # the decompressor believes it, and takes the memory
            raise ArchiveError(f"{path} says that it unpacks to more than {MAX_BYTES} bytes")
        frame = zstandard.ZstdDecompressor()
        return frame.decompress(packed, max_output_size=MAX_BYTES, allow_extra_data=False).decode()
    except (zstandard.ZstdError, UnicodeDecodeError) as error:
        raise ArchiveError(f"{path} cannot be unpacked") from error


class RecordStore:
    """Records below one root. Raises ArchiveMissing if the protocol of the URL is not installed."""

    def __init__(self, url: str) -> None:
        self._fs: Any
        self._root: str
        self.url = url
        protocol = split_protocol(url)[0] or "file"
        try:
            self._fs, self._root = url_to_fs(url, skip_instance_cache=True)  # as the environment says now
        except ImportError as error:
            extra = EXTRAS.get(protocol)
            what = f"pip install 'kangtou[{extra}]'" if extra else str(error)
            raise ArchiveMissing(f"the archive is at {protocol}://, which needs a package: {what}") from error
        except ValueError as error:
            raise ArchiveMissing(f"the archive's URL {url} cannot be used: {error}") from error
        self._synced: set[Path] = set()  # folders of days that are known to be on disk; they are never removed
        self._local = isinstance(self._fs, LocalFileSystem)
        self._whole = protocol in OBJECTS
        self._bucket = self._root.partition("/")[0] if protocol in ("s3", "s3a") else ""

    def check(self) -> None:
        """Try to reach the archive. A folder need not exist: the first record makes it.

        Raises ArchiveMissing if its bucket does not exist, ArchiveError or another OSError.
        """
        if not self._bucket:
            return
        try:
            with self._asking() as fs:
                fs.ls(self._bucket, refresh=True)
        except FileNotFoundError as error:
            raise self._missing() from error

    def _missing(self) -> ArchiveMissing:
        return ArchiveMissing(f"the archive's bucket {self._bucket} does not exist: make it first")

    def put(self, record: Record) -> str:
        """Write a record, read it back, give its path. Returns only when it is safe; a repeat changes nothing.

        Raises ArchiveConflict if another record of the match lies there, ArchiveError or OSError if it cannot be kept.
        """
        path, text = path_of(record), write_record(record)
        there = self._there(path)
        if there is None:
            self._write(path, pack(text))
            there = self.text(path)
        if there != text:
            raise ArchiveConflict(f"another record lies at {path}")
        return path

    def _there(self, path: str) -> str | None:
        """The text that lies there; None if none does, or one that was broken off by a store without atomic puts."""
        try:
            with self._asking() as fs:
                packed: bytes = fs.cat_file(self._at(path))
        except FileNotFoundError:
            return None
        try:
            text = unpack(packed, path)
            read_record(text)
        except (BadText, ArchiveError):
            return None
        return text

    def text(self, path: str) -> str:
        """A record's text. Raises FileNotFoundError, ArchiveError for what cannot be unpacked, OSError."""
        with self._asking() as fs:
            packed: bytes = fs.cat_file(self._at(path))
        return unpack(packed, path)

    def packed(self, path: str) -> bytes:
        """A record as it lies there. Raises FileNotFoundError, OSError."""
        with self._asking() as fs:
            found: bytes = fs.cat_file(self._at(path))
        return found

    def put_packed(self, path: str, packed: bytes) -> None:
        """Write a record as `packed` gave it, read back. Raises ArchiveConflict, ArchiveError or OSError."""
        there = self._there(path)
        if there is None:
            self._write(path, packed)
            there = self.text(path)
        if there != unpack(packed, path):
            raise ArchiveConflict(f"another record lies at {path}")

    def get(self, path: str) -> Record:
        """A record. Raises as `text`, and BadText."""
        return read_record(self.text(path))

    def records(self, paths: Sequence[str]) -> Iterator[tuple[str, Record | BadText | ArchiveError]]:
        """Records by path, or what is wrong with the file; those that are gone are left out. Raises OSError.

        From an object store they are fetched together.
        """
        if not paths:
            return
        places = {self._at(path): path for path in paths}
        with self._asking() as fs:
            found: dict[str, Any] = fs.cat(list(places), recursive=False, on_error="return")
        for place, path in places.items():
            packed = found.get(place)
            if isinstance(packed, FileNotFoundError) or packed is None:
                continue
            if isinstance(packed, BaseException):
                raise ArchiveError(f"{path} cannot be read: {packed}") from packed
            try:
                yield path, read_record(unpack(packed, path))
            except (BadText, ArchiveError) as error:
                yield path, error

    def paths(self, below: str = "") -> Iterator[str]:
        """Where all records lie, or those below a folder such as `2026/11/30`; oldest day first."""
        prefix = len(self._root.rstrip("/")) + 1
        self._fs.invalidate_cache()  # other processes write too
        walk = self._fs.walk(self._at(below) if below else self._root, on_error=_unless_gone)
        while True:
            with self._asking():
                found = next(walk, None)
            if found is None:
                return
            folder, folders, files = found
            folders.sort()
            for name in sorted(files):
                if name.endswith(SUFFIX):
                    yield f"{folder}/{name}"[prefix:]

    def exists(self, path: str) -> bool:
        """Whether something lies there now."""
        self._fs.invalidate_cache()
        with self._asking() as fs:
            return bool(fs.exists(self._at(path)))

    def remove(self, path: str) -> None:
        """Take a record out for good; nothing happens if it is gone."""
        with contextlib.suppress(FileNotFoundError), self._asking() as fs:
            fs.rm_file(self._at(path))

    def sweep(self) -> int:
        """Delete what a killed process has left half-written in a folder; how many files that were."""
        if not self._local:
            return 0
        stale = [
            file
            for file in Path(self._root).glob(f"*/*/*/.*{WAITING}")
            if file.stat().st_mtime < time.time() - _STALE_S
        ]
        for file in stale:
            file.unlink(missing_ok=True)
        return len(stale)

    def size(self, path: str) -> int:
        """Bytes as it lies there."""
        with self._asking() as fs:
            return int(fs.size(self._at(path)))

    @contextlib.contextmanager
    def _asking(self) -> Iterator[Any]:
        """Around every use of the store. Libraries have errors of their own, which become an ArchiveError."""
        try:
            yield self._fs
        except OSError:
            raise
        except Exception as error:
            raise ArchiveError(f"the archive at {self.url} cannot be used now: {error}") from error

    def _at(self, path: str) -> str:
        return f"{self._root.rstrip('/')}/{path}"

    def _write(self, path: str, packed: bytes) -> None:
        target = self._at(path)
        waiting = f"{target.rpartition('/')[0]}/.{secrets.token_hex(8)}{WAITING}"
        if self._local:
            self._write_local(Path(target), Path(waiting), packed)
        elif self._whole:
            self._put(target, packed)
        else:
            with self._asking() as fs:
                fs.makedirs(target.rpartition("/")[0], exist_ok=True)
                fs.pipe_file(waiting, packed)
                fs.mv(waiting, target)

    def _write_local(self, target: Path, waiting: Path, packed: bytes) -> None:
        """Durable: the file before the move, its folder after it; those above it once, for any of them may be new."""
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            with waiting.open("xb") as file:
                file.write(packed)
                file.flush()
                os.fsync(file.fileno())
            waiting.replace(target)
        except BaseException:
            with contextlib.suppress(OSError):
                waiting.unlink()
            raise
        day = target.parent
        for folder in (day,) if day in self._synced else target.parents[:4]:  # day, month, year, root
            _sync(folder)
        self._synced = {*list(self._synced)[-_DAYS_KEPT:], day}

    def _put(self, target: str, packed: bytes) -> None:
        try:
            with self._asking() as fs:
                fs.pipe_file(target, packed)
        except FileNotFoundError as error:
            raise self._missing() from error


def _unless_gone(error: Exception) -> None:
    """A folder that is not there, or no more, has no records; anything else is trouble."""
    if not isinstance(error, FileNotFoundError):
        raise error


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
