"""Finding records: a sqlite file beside the data, rebuilt from the records alone whenever it is lost.

Several processes use it at once (WAL). Paging is by key, so the thousandth page costs what the first does. All calls
block.
"""

from __future__ import annotations

import base64
import binascii
import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kangtou_engine.record import Record
from kangtou_engine.record.text import show_json

from .store import SUFFIX, ArchiveError, RecordStore

VERSION = 1
_TABLES = """
CREATE TABLE IF NOT EXISTS records (
    match TEXT PRIMARY KEY, path TEXT NOT NULL, game TEXT NOT NULL, rules INTEGER NOT NULL, variant TEXT NOT NULL,
    options TEXT NOT NULL, started INTEGER NOT NULL, ended INTEGER NOT NULL, cause TEXT NOT NULL,
    rounds INTEGER NOT NULL, moves INTEGER NOT NULL, rated INTEGER NOT NULL, pool TEXT NOT NULL,
    tournament TEXT NOT NULL, accounts TEXT NOT NULL, scores TEXT NOT NULL, places TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_end ON records (ended, match);
CREATE INDEX IF NOT EXISTS by_game ON records (game, ended, match);
CREATE INDEX IF NOT EXISTS by_tournament ON records (tournament, ended, match) WHERE tournament <> '';
CREATE TABLE IF NOT EXISTS players (
    account TEXT NOT NULL, ended INTEGER NOT NULL, match TEXT NOT NULL, game TEXT NOT NULL,
    PRIMARY KEY (account, ended, match)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_player_game ON players (account, game, ended, match);
"""
_COLUMNS = (
    "match, path, game, rules, variant, options, started, ended, cause, rounds, moves, rated, pool, tournament,"
    " accounts, scores, places"
)

_SEATED = "EXISTS (SELECT 1 FROM players AS p WHERE p.account = ? AND p.ended = r.ended AND p.match = r.match)"


class BadPage(ValueError):
    """A page token that no answer gave."""


@dataclass(frozen=True, slots=True)
class Query:
    """What to look for; what is empty does not matter. `from_ms` to `to_ms` is when it ended, the latter left out."""

    game: str = ""
    account: str = ""
    tournament: str = ""
    from_ms: int = 0
    to_ms: int = 0


@dataclass(frozen=True, slots=True)
class Listed:
    """A record as a list shows it."""

    match: str
    path: str
    game: str
    version: int
    variant: str
    options: str
    started_ms: int
    ended_ms: int
    cause: str
    rounds: int
    moves: int
    rated: bool
    pool: str
    tournament: str
    accounts: tuple[str, ...]
    scores: tuple[int, ...]
    places: tuple[int, ...]


def listed(record: Record, path: str) -> Listed:
    """What the index holds of a record."""
    terms, outcome = record.head.terms, record.head.outcome
    return Listed(
        match=terms.match,
        path=path,
        game=terms.game,
        version=terms.version,
        variant=str(terms.options.get("variant", "")),
        options=show_json(terms.options),
        started_ms=outcome.started_ms or 0,
        ended_ms=outcome.ended_ms,
        cause=outcome.cause,
        rounds=outcome.rounds,
        moves=outcome.moves,
        rated=terms.rated,
        pool=terms.pool,
        tournament=terms.tags.get("tournament", ""),
        accounts=tuple(place.account for place in terms.seats),
        scores=outcome.scores,
        places=outcome.places or (),
    )


class Index:
    """The index of one archive."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._db: sqlite3.Connection | None = None

    def add(self, rows: Iterable[Listed]) -> None:
        """Put records in; a repeat changes nothing."""
        with self._using() as db:
            for row in rows:
                values = [getattr(row, name) for name in Listed.__dataclass_fields__]
                values[-3:] = [json.dumps(value) for value in values[-3:]]
                marks = ",".join("?" * len(values))
                db.execute(f"INSERT OR REPLACE INTO records ({_COLUMNS}) VALUES ({marks})", values)
                players = [(account, row.ended_ms, row.match, row.game) for account in set(row.accounts)]
                db.executemany("INSERT OR REPLACE INTO players (account, ended, match, game) VALUES (?,?,?,?)", players)

    def find(self, match: str) -> Listed | None:
        """One match."""
        with self._using() as db:
            rows = db.execute(f"SELECT {_COLUMNS} FROM records WHERE match = ?", (match,)).fetchall()
        return _listed(rows[0]) if rows else None

    def page(self, query: Query, size: int, token: str = "") -> tuple[list[Listed], str]:
        """Records that were found, the last to end first, and the token of the page after them ("": there is none).

        Raises BadPage for a token that is none.
        """
        sql, values = _search(query, _position(token), size + 1)
        with self._using() as db:
            found = [_listed(row) for row in db.execute(sql, values)]
        more = len(found) > size
        return found[:size], _token(found[size - 1]) if more else ""

    def count(self) -> int:
        """How many records it knows."""
        with self._using() as db:
            return int(db.execute("SELECT count(*) FROM records").fetchone()[0])

    def rebuild(self, store: RecordStore, batch: int = 500) -> int:
        """Fill it from the records alone, those that it knows left out; how many were put in."""
        added = 0
        waiting: list[Listed] = []
        for path in store.paths():
            if self.find(path.rpartition("/")[2].removesuffix(SUFFIX)) is None:
                waiting.append(listed(store.get(path), path))
            if len(waiting) == batch:
                added += self._add_all(waiting)
                waiting = []
        return added + self._add_all(waiting)

    def _add_all(self, rows: list[Listed]) -> int:
        self.add(rows)
        return len(rows)

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            if self._db is not None:
                self._db.close()
                self._db = None

    @contextmanager
    def _using(self) -> Iterator[sqlite3.Connection]:
        """One transaction, by one thread at a time."""
        with self._lock:
            try:
                if self._db is None:
                    self._db = _open(self.path)
                with self._db:
                    yield self._db
            except sqlite3.Error as error:
                raise ArchiveError(f"the index of the archive: {error}") from error


def _open(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    db = sqlite3.connect(path, timeout=30.0, check_same_thread=False)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")  # it can be rebuilt
    if db.execute("PRAGMA user_version").fetchone()[0] not in (0, VERSION):
        db.close()
        raise sqlite3.DatabaseError(f"{path.name} is of another version: remove it, it is rebuilt from the records")
    db.executescript(_TABLES)
    db.execute(f"PRAGMA user_version = {VERSION}")
    return db


def _search(query: Query, after: tuple[int, str] | None, size: int) -> tuple[str, list[Any]]:
    """A statement that walks one index from the newest on: a tournament's, else a player's, else the records'."""
    by_player = bool(query.account) and not query.tournament
    by = "p" if by_player else "r"
    given: list[tuple[str, object]] = [
        ("r.tournament <> '' AND r.tournament = ?", query.tournament),  # the former lets the partial index be used
        ("p.account = ?" if by_player else _SEATED, query.account),
        (f"{by}.game = ?", query.game),
        (f"{by}.ended >= ?", query.from_ms),
        (f"{by}.ended < ?", query.to_ms),
    ]
    tests = [test for test, value in given if value]
    values: list[Any] = [value for _, value in given if value]
    if after is not None:
        tests.append(f"({by}.ended, {by}.match) < (?, ?)")
        values += after
    columns = ", ".join(f"r.{name.strip()}" for name in _COLUMNS.split(","))
    source = "players AS p JOIN records AS r ON r.match = p.match" if by_player else "records AS r"
    where = f"WHERE {' AND '.join(tests)}" if tests else ""
    sql = f"SELECT {columns} FROM {source} {where} ORDER BY {by}.ended DESC, {by}.match DESC LIMIT ?"
    return sql, [*values, size]


def _listed(row: Sequence[Any]) -> Listed:
    *plain, accounts, scores, places = row
    plain[11] = bool(plain[11])
    return Listed(*plain, *(tuple(json.loads(text)) for text in (accounts, scores, places)))


def _token(row: Listed) -> str:
    return base64.urlsafe_b64encode(f"{row.ended_ms} {row.match}".encode()).decode()


def _position(token: str) -> tuple[int, str] | None:
    if not token:
        return None
    try:
        ended, match = base64.urlsafe_b64decode(token.encode()).decode().split(" ")
        return int(ended), match
    except (ValueError, binascii.Error) as error:
        raise BadPage(token[:80]) from error
