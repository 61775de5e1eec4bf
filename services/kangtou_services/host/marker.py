"""Which table a process is handling right now, where it survives the death of the process.

Written into a small memory-mapped file before a table's code runs and cleared after, at a cost of well under a
microsecond; whoever takes the tables over reads it and knows whom to blame. (Design §1, quarantine)
"""

from __future__ import annotations

import mmap
from pathlib import Path

SIZE = 64


class Marker:
    """The mark of one actor."""

    def __init__(self, folder: Path, actor_id: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / actor_id
        self._path.write_bytes(b"\0" * SIZE)
        with self._path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), SIZE)

    def set(self, match: str) -> None:
        """The code of this table runs now."""
        self._map[:SIZE] = match.encode()[:SIZE].ljust(SIZE, b"\0")

    def clear(self) -> None:
        """No table's code runs."""
        self._map[0] = 0

    def close(self) -> None:
        """The process ends in order: nobody is to blame."""
        self._map.close()
        self._path.unlink(missing_ok=True)


def take(folder: Path, actor_id: str) -> str | None:
    """The match that a dead actor was handling, told to one caller only; None if it handled none."""
    path, taken = folder / actor_id, folder / f"{actor_id}.taken"
    try:
        path.rename(taken)
        mark = taken.read_bytes()
        taken.unlink()
    except FileNotFoundError:
        return None
    match = mark.split(b"\0", 1)[0]
    return match.decode(errors="replace") or None
