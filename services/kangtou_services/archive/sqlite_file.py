"""The sqlite file of an index: several processes use it at once (WAL); what is lost or damaged is begun anew.

A file that was deleted or replaced by another process is noticed at the next use. One that sqlite finds damaged is set
aside as `….broken`; an empty one takes its place, and whoever fills an index fills it from the records. All calls
block.
"""

from __future__ import annotations

import fcntl
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .store import ArchiveError

BROKEN = ".broken"
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


class IndexDamaged(ArchiveError):
    """The index was found damaged and has been set aside: the next use begins a new one."""


class SqliteFile:
    """One of each index. `tables`: what makes them where they lack; `opened` is called with every new connection."""

    def __init__(self, path: Path, tables: str, version: int, opened: Callable[[], None]) -> None:
        self.path = path
        self._tables = tables
        self._version = version
        self._opened = opened
        self._lock = threading.Lock()
        self._db: sqlite3.Connection | None = None
        self._inode = 0

    @contextmanager
    def using(self) -> Iterator[sqlite3.Connection]:
        """For one thread at a time. Raises ArchiveError; IndexDamaged if the next use will find a new, empty file."""
        with self._lock:
            try:
                yield self._current()
            except sqlite3.Error as error:
                if _is_damage(error):
                    self._set_aside()
                    raise IndexDamaged(f"the index of the archive was damaged, and is made anew: {error}") from error
                raise ArchiveError(f"the index of the archive: {error}") from error

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction. Raises as `using`."""
        with self.using() as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:  # sqlite has ended it itself after some errors
                    db.execute("ROLLBACK")
                raise

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._drop()

    def _drop(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None

    def _current(self) -> sqlite3.Connection:
        if self._db is not None and _inode(self.path) != self._inode:
            self._drop()
        if self._db is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._db = self._open()
            self._opened()
        return self._db

    def _open(self) -> sqlite3.Connection:
        with self._names(fcntl.LOCK_SH):
            db = sqlite3.connect(self.path, timeout=30.0, check_same_thread=False, isolation_level=None)
            self._inode = _inode(self.path)
            try:
                self._make(db)
            except sqlite3.Error:
                db.close()
                raise
            self._inode = _inode(self.path)
        return db

    def _make(self, db: sqlite3.Connection) -> None:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")  # it can be rebuilt
        db.execute("PRAGMA cache_size = -32000")  # kilobytes
        if db.execute("PRAGMA user_version").fetchone()[0] not in (0, self._version):
            raise sqlite3.DatabaseError(
                f"{self.path.name} is of another version: remove it, it is rebuilt from the records"
            )
        db.executescript(self._tables)
        db.execute(f"PRAGMA user_version = {self._version}")

    def _set_aside(self) -> None:
        """Once, whoever finds it: another process may have put a new file there. Its log goes before it."""
        self._drop()
        with self._names(fcntl.LOCK_EX):
            if _inode(self.path) != self._inode:
                return
            for end in ("-wal", "-shm", ""):
                with suppress(FileNotFoundError):
                    one = Path(f"{self.path}{end}")
                    one.replace(f"{one}{BROKEN}")

    @contextmanager
    def _names(self, how: int) -> Iterator[None]:
        """While names of files change nobody opens them: a new file must not get the log of an old one."""
        with Path(f"{self.path}.lock").open("a") as lock:
            fcntl.flock(lock, how)
            yield


def _is_damage(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGED


def _inode(path: Path) -> int:
    """0 if there is no such file."""
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return 0
