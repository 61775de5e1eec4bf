"""What accounts were called, and since when: beside the records, never in them, so it can be changed and deleted."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path

from .store import ArchiveError

_TABLES = (
    """
CREATE TABLE IF NOT EXISTS names (
    account TEXT NOT NULL, since INTEGER NOT NULL, name TEXT NOT NULL, PRIMARY KEY (account, since)
) WITHOUT ROWID
""",
    "CREATE TABLE IF NOT EXISTS forgotten (account TEXT PRIMARY KEY) WITHOUT ROWID",
)


class Names:
    """A small sqlite file, opened for each call: several processes use it. All calls block."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def note(self, names: Mapping[str, str], time_ms: int) -> None:
        """These accounts had these names at that time. A repeat changes nothing; forgotten accounts are left out."""
        with self._open() as db:
            for account, name in names.items():
                if db.execute("SELECT 1 FROM forgotten WHERE account = ?", (account,)).fetchone():
                    continue
                if _at(db, account, time_ms) != name:
                    db.execute("INSERT OR REPLACE INTO names VALUES (?, ?, ?)", (account, time_ms, name))

    def of(self, accounts: Iterable[str], time_ms: int) -> dict[str, str]:
        """What they were called then; accounts that are not known, or were deleted, are left out."""
        return self.of_each([(accounts, time_ms)])[0]

    def of_each(self, asked: Iterable[tuple[Iterable[str], int]]) -> list[dict[str, str]]:
        """The same for many matches at once: accounts and time of each."""
        with self._open() as db:
            found = [{account: _at(db, account, time_ms) for account in accounts} for accounts, time_ms in asked]
        return [{account: name for account, name in one.items() if name is not None} for one in found]

    def forget(self, account: str) -> None:
        """Delete all names of an account, and take no more: its records stay, under its opaque id."""
        with self._open() as db:
            db.execute("INSERT OR IGNORE INTO forgotten VALUES (?)", (account,))
            db.execute("DELETE FROM names WHERE account = ?", (account,))

    def _open(self) -> _Connection:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        return _Connection(self._path)


class _Connection:
    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> sqlite3.Connection:
        try:
            self._db = sqlite3.connect(self._path, timeout=30.0)
            self._db.execute("PRAGMA journal_mode = WAL")
            for table in _TABLES:
                self._db.execute(table)
        except sqlite3.Error as error:
            raise ArchiveError(f"the table of names: {error}") from error
        return self._db

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        try:
            if kind is None:
                self._db.commit()
        except sqlite3.Error as failure:
            raise ArchiveError(f"the table of names: {failure}") from failure
        finally:
            self._db.close()
        if isinstance(error, sqlite3.Error):
            raise ArchiveError(f"the table of names: {error}") from error


def _at(db: sqlite3.Connection, account: str, time_ms: int) -> str | None:
    sql = "SELECT name FROM names WHERE account = ? AND since <= ? ORDER BY since DESC LIMIT 1"
    row = db.execute(sql, (account, time_ms)).fetchone()
    return str(row[0]) if row else None


def forget_names(names: Names) -> Callable[[str], Awaitable[None]]:
    """What the deletion of an account does here."""

    async def forget(account: str) -> None:
        await asyncio.to_thread(names.forget, account)

    return forget
