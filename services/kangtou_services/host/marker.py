"""Which table a process is handling right now, where it survives the death of the process.

Written into a small memory-mapped file before a table's code runs and cleared after, at a cost of well under a
microsecond; whoever takes the tables over reads it and knows whom to blame. (Design §1, quarantine)
"""

from __future__ import annotations

import contextlib
import mmap
from collections.abc import Callable, Iterator
from pathlib import Path

import structlog

log = structlog.get_logger(__name__)

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

    @contextlib.contextmanager
    def handling(self, match: str) -> Iterator[None]:
        """Around code of this table, whose exceptions pass through."""
        self.set(match)
        try:
            yield
        finally:
            self.clear()

    def close(self) -> None:
        """The process ends in order: nobody is to blame."""
        self._map.close()
        self._path.unlink(missing_ok=True)


class Guard:
    """Around everything that runs a table's code: marks the table, and contains what its code raises.

    `failed` is told the exception's name and has to stop that table.
    """

    __slots__ = ("_failed", "_marker", "_match")

    def __init__(self, marker: Marker, match: str, failed: Callable[[str], None]) -> None:
        self._marker = marker
        self._match = match
        self._failed = failed

    def __enter__(self) -> None:
        self._marker.set(self._match)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> bool:
        self._marker.clear()
        if not isinstance(error, Exception):
            return False
        log.error("table_raised", match=self._match, where=where(error))
        self._failed(type(error).__name__)
        return True


def where(error: BaseException) -> str:
    """File and line of an exception's origin: its message might hold a card, so it is not logged."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return "unknown"
    name = trace.tb_frame.f_code.co_filename.rsplit("/", 2)
    return f"{'/'.join(name[-2:])}:{trace.tb_lineno}"


# ---- by those that live on ----


def take(folder: Path, actor_id: str) -> str | None:
    """The match that a dead actor was handling ("": none), told to one caller only; None: nothing is to be told.

    The caller counts it and then calls `settle`, or `put_back` if it could not.
    """
    taken = _taken(folder, actor_id)
    try:
        (folder / actor_id).rename(taken)
        mark = taken.read_bytes()
    except FileNotFoundError:
        return None
    return mark.split(b"\0", 1)[0].decode(errors="replace")


def settle(folder: Path, actor_id: str) -> None:
    """What was taken has been counted."""
    _taken(folder, actor_id).unlink(missing_ok=True)


def put_back(folder: Path, actor_id: str) -> None:
    """What was taken could not be counted: somebody else is to try."""
    with contextlib.suppress(FileNotFoundError):
        _taken(folder, actor_id).rename(folder / actor_id)


def being_counted(folder: Path, actor_id: str) -> bool:
    """Whether somebody has taken the mark and not counted it yet."""
    return _taken(folder, actor_id).exists()


def _taken(folder: Path, actor_id: str) -> Path:
    return folder / f"{actor_id}.taken"
