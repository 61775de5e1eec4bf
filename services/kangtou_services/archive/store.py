"""Where records lie: a folder or any fsspec URL, one zstd file a match, `YYYY/MM/DD/<match>.ktr.zst` by its end.

A record is there whole or not at all: it is written under another name, moved, and read back. All calls block; the
archiver makes them in a thread.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import zstandard
from fsspec.core import url_to_fs
from fsspec.implementations.local import LocalFileSystem

from kangtou_engine.errors import BadText
from kangtou_engine.record import Record, read_record, write_record

SUFFIX = ".ktr.zst"
LEVEL = 6  # most of a record is hashes, which nothing makes smaller
MAX_BYTES = 256 << 20  # of text: what a damaged file may make us unpack


class ArchiveError(OSError):
    """The archive cannot be written or read now."""


class ArchiveConflict(ArchiveError):
    """Another record of this match lies there already. It is never overwritten."""


def path_of(record: Record) -> str:
    """Where a record lies below the root: follows from the record alone."""
    day = datetime.fromtimestamp(record.head.outcome.ended_ms / 1000, UTC)
    return f"{day:%Y/%m/%d}/{record.head.terms.match}{SUFFIX}"


class RecordStore:
    """Records below one root."""

    def __init__(self, url: str) -> None:
        self._fs: Any
        self._root: str
        self._fs, self._root = url_to_fs(url)
        self._local = isinstance(self._fs, LocalFileSystem)

    def put(self, record: Record) -> str:
        """Write a record, read it back, give its path. Returns only when it is safe; a repeat changes nothing.

        Raises ArchiveConflict if another record of the match lies there, ArchiveError or OSError if it cannot be kept.
        """
        path, text = path_of(record), write_record(record)
        there = self._there(path)
        if there is None:
            packed = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True).compress(text.encode())
            self._write(path, packed)
            there = self.text(path)
        if there != text:
            raise ArchiveConflict(f"another record lies at {path}")
        return path

    def _there(self, path: str) -> str | None:
        """The text that lies there; None if none does, or one that was broken off by a store without atomic moves."""
        try:
            text = self.text(path)
            read_record(text)
        except (FileNotFoundError, BadText, ArchiveError):
            return None
        return text

    def text(self, path: str) -> str:
        """A record's text. Raises FileNotFoundError, ArchiveError for what cannot be unpacked, OSError."""
        packed: bytes = self._fs.cat_file(self._at(path))
        try:
            return zstandard.ZstdDecompressor().decompress(packed, max_output_size=MAX_BYTES).decode()
        except (zstandard.ZstdError, UnicodeDecodeError) as error:
            raise ArchiveError(f"{path} cannot be unpacked") from error

    def get(self, path: str) -> Record:
        """A record. Raises as `text`, and BadText."""
        return read_record(self.text(path))

    def paths(self) -> Iterator[str]:
        """Where all records lie, oldest day first."""
        prefix = len(self._root.rstrip("/")) + 1
        for folder, folders, files in self._fs.walk(self._root):
            folders.sort()
            for name in sorted(files):
                if name.endswith(SUFFIX):
                    yield f"{folder}/{name}"[prefix:]

    def size(self, path: str) -> int:
        """Bytes as it lies there."""
        return int(self._fs.size(self._at(path)))

    def _at(self, path: str) -> str:
        return f"{self._root.rstrip('/')}/{path}"

    def _write(self, path: str, packed: bytes) -> None:
        target = self._at(path)
        waiting = f"{target.rpartition('/')[0]}/.{secrets.token_hex(8)}.tmp"
        if self._local:
            _write_local(Path(target), Path(waiting), packed)
            return
        self._fs.makedirs(target.rpartition("/")[0], exist_ok=True)
        self._fs.pipe_file(waiting, packed)
        self._fs.mv(waiting, target)


def _write_local(target: Path, waiting: Path, packed: bytes) -> None:
    """Durable: the file before the move, its folder after it."""
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
    for folder in target.parents[:4]:  # day, month, year, root: any of them may be new
        _sync(folder)


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
