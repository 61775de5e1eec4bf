"""Where a backup lies: a folder or any fsspec URL. All calls block; those that write return when it is stored."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fsspec.core import url_to_fs
from fsspec.implementations.local import LocalFileSystem

from .snapshot import BackupError

_PART = ".part"


class Place:
    """Files below one root, each there whole or not at all."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._fs: Any
        self._root: str
        try:
            self._fs, self._root = url_to_fs(url, skip_instance_cache=True)
        except (ImportError, ValueError) as error:
            raise BackupError("bad_place", url=url, reason=str(error)) from error
        self._local = isinstance(self._fs, LocalFileSystem)

    def write(self, path: str, content: bytes) -> None:
        """Store a file, over an older one. Raises OSError."""
        target = self._at(path)
        if not self._local:
            self._fs.pipe_file(target, content)
            return
        waiting = Path(target + _PART)
        waiting.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(waiting, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        waiting.replace(target)

    def put(self, path: str, source: Path) -> None:
        """Store a copy of a file, of any size. Raises OSError."""
        target = self._at(path)
        if not self._local:
            self._fs.put_file(str(source), target)
            return
        waiting = Path(target + _PART)
        waiting.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(waiting, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "wb") as out, source.open("rb") as given:
            while piece := given.read(1 << 20):
                out.write(piece)
            out.flush()
            os.fsync(out.fileno())
        waiting.replace(target)

    def read(self, path: str) -> bytes | None:
        """A file; None if it is not there. Raises OSError."""
        try:
            found: bytes = self._fs.cat_file(self._at(path))
        except FileNotFoundError:
            return None
        return found

    def pieces(self, path: str) -> Iterator[bytes]:
        """A file of any size, piece by piece. Raises FileNotFoundError, OSError."""
        with self._fs.open(self._at(path), "rb") as file:
            while piece := file.read(1 << 20):
                yield bytes(piece)

    def remove(self, path: str) -> None:
        """Nothing happens if it is gone."""
        try:
            self._fs.rm_file(self._at(path))
        except FileNotFoundError:
            return

    def _at(self, path: str) -> str:
        return f"{self._root.rstrip('/')}/{path}"
