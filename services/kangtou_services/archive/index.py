"""Finding records: a sqlite file beside the data, rebuilt from the records alone whenever it is lost or damaged.

Several processes use it at once. A row is found by its terms (`rows`), each with a list of postings in the order
of ends; paging is by key, so the thousandth page costs what the first does. All calls block.
"""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kangtou_engine.errors import BadText
from kangtou_engine.registry import REGISTRY, Registry

from .rows import FIELDS, Listed, listed, postings
from .search import BadPage, Key, Query, Walk, position, token_of, wanted
from .sqlite_file import SqliteFile
from .store import SUFFIX, ArchiveError, RecordStore

__all__ = ["BadPage", "Index", "Listed", "Query", "Rebuilt", "listed"]

VERSION = 2
SCAN = 5_000  # rows that one request looks at, if most of them do not fit
_TABLES = f"""
CREATE TABLE IF NOT EXISTS records (
    match TEXT PRIMARY KEY, {", ".join(f"{name} NOT NULL" for name in FIELDS if name != "match")}
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_end ON records (ended_ms, match);
CREATE INDEX IF NOT EXISTS by_kind ON records (kind, ended_ms, match);
CREATE TABLE IF NOT EXISTS terms (id INTEGER PRIMARY KEY, term TEXT NOT NULL UNIQUE, held INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS postings (
    term INTEGER NOT NULL, ended INTEGER NOT NULL, match TEXT NOT NULL, place INTEGER, score INTEGER,
    PRIMARY KEY (term, ended, match)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""
_TERMS_KEPT = 100_000  # numbers of terms that a process remembers


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What filling the index from the records has done: rows put in and taken out, files that are no records."""

    added: int
    gone: int
    damaged: tuple[str, ...]


class Index:
    """The index of one archive."""

    def __init__(self, path: Path, registry: Registry = REGISTRY) -> None:
        self.path = path
        self.registry = registry
        self._terms: dict[str, int] = {}
        self._file = SqliteFile(path, _TABLES, VERSION, self._terms.clear)

    # ---- rows ----

    def add(self, rows: Iterable[Listed]) -> int:
        """Put records in; how many rows are new or other than before. A repeat changes nothing."""
        changed = 0
        with self._writing() as db:
            held: Counter[int] = Counter()
            for row in rows:
                old = _one(db, row.match)
                if old == row:
                    continue
                changed += 1
                if old is not None:
                    self._drop(db, old, held)
                marks = ",".join("?" * len(FIELDS))
                db.execute(f"INSERT INTO records ({', '.join(FIELDS)}) VALUES ({marks})", _values(row))
                for one in postings(row, self.registry):
                    number = self._number(db, one.term)
                    values = (number, row.ended_ms, row.match, one.place, one.score)
                    db.execute("INSERT INTO postings VALUES (?,?,?,?,?)", values)
                    held[number] += 1
            _count(db, held)
        return changed

    def remove(self, matches: Iterable[str]) -> None:
        """Take records out; what is not there is left out."""
        with self._writing() as db:
            held: Counter[int] = Counter()
            for match in matches:
                if (old := _one(db, match)) is not None:
                    self._drop(db, old, held)
            _count(db, held)

    def _drop(self, db: sqlite3.Connection, row: Listed, held: Counter[int]) -> None:
        for one in postings(row, self.registry):
            number = self._number(db, one.term)
            key = (number, row.ended_ms, row.match)
            held[number] -= db.execute("DELETE FROM postings WHERE term=? AND ended=? AND match=?", key).rowcount
        db.execute("DELETE FROM records WHERE match = ?", (row.match,))

    def _number(self, db: sqlite3.Connection, term: str) -> int:
        if (known := self._terms.get(term)) is not None:
            return known
        db.execute("INSERT OR IGNORE INTO terms (term, held) VALUES (?, 0)", (term,))
        number = int(db.execute("SELECT id FROM terms WHERE term = ?", (term,)).fetchone()[0])
        if len(self._terms) >= _TERMS_KEPT:
            self._terms.clear()
        self._terms[term] = number
        return number

    # ---- looking ----

    def find(self, match: str) -> Listed | None:
        """One match."""
        with self._file.using() as db:
            return _one(db, match)

    def page(self, query: Query, size: int, token: str = "") -> tuple[list[Listed], str]:
        """Records that were found, the last to end first, and the token of what follows ("": nothing does).

        A page may have fewer than `size` records and yet a token. Raises BadPage for a token that is none.
        """
        below, down_to = query.bounds
        if (after := position(token)) is not None:
            below = min(below, after)
        with self._file.using() as db:
            walk = _walk(db, query, self.registry)
            return _gather(db, walk, below, down_to, size) if walk else ([], "")

    def count(self) -> int:
        """How many records it knows."""
        with self._file.using() as db:
            return int(db.execute("SELECT count(*) FROM records").fetchone()[0])

    def older(self, kind: str, before_ms: int, size: int) -> list[Listed]:
        """Records of a kind (see Listed) that ended before then, the oldest first."""
        sql = (
            f"SELECT {', '.join(FIELDS)} FROM records WHERE kind = ? AND ended_ms < ? ORDER BY ended_ms, match LIMIT ?"
        )
        with self._file.using() as db:
            return [_listed(row) for row in db.execute(sql, (kind, before_ms, size))]

    # ---- rebuilding ----

    def whole(self) -> bool:
        """Whether it has been filled to the end once; from then on whoever writes a record adds it."""
        with self._file.using() as db:
            return db.execute("SELECT 1 FROM facts WHERE name = 'whole'").fetchone() is not None

    def rebuild(
        self,
        store: RecordStore,
        batch: int = 500,
        tell: Callable[[int], None] = lambda _: None,
        *,
        afresh: bool = False,
    ) -> Rebuilt:
        """Make it say what the records say: put in what lacks, take out what is gone. Broken off, it is begun again.

        `afresh` reads also the records that it knows, and puts their rows right. `tell` is called with the number of
        files that were looked at. Raises ArchiveError, OSError.
        """
        added, damaged, seen, waiting = 0, list[str](), set[str](), list[str]()
        before = set(self._matches())

        def fill() -> int:
            more = self._fill(store, waiting, damaged)
            waiting.clear()
            tell(len(seen))
            return more

        for path in store.paths():
            match = match_of(path)
            seen.add(match)
            if afresh or match not in before:
                waiting.append(path)
            if len(waiting) == batch:
                added += fill()
        added += fill()
        lost = [row.match for match in before - seen if (row := self.find(match)) and not store.exists(row.path)]
        self.remove(lost)
        with self._writing() as db:
            db.execute("INSERT OR REPLACE INTO facts VALUES ('whole', '1')")
        return Rebuilt(added, len(lost), tuple(damaged))

    def take_up(self, store: RecordStore, paths: Sequence[str]) -> int:
        """Put in those records that it does not know; how many. Raises ArchiveError, OSError."""
        return self._fill(store, [path for path in paths if self.find(match_of(path)) is None], [])

    def _fill(self, store: RecordStore, paths: Sequence[str], damaged: list[str]) -> int:
        rows: list[Listed] = []
        for path, record in store.records(paths):
            if isinstance(record, BadText | ArchiveError):
                damaged.append(path)
            else:
                rows.append(listed(record, path, self.registry))
        return self.add(rows)

    def _matches(self) -> list[str]:
        with self._file.using() as db:
            return [str(match) for (match,) in db.execute("SELECT match FROM records")]

    # ---- the file ----

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction."""
        with self._file.writing() as db:
            try:
                yield db
            except BaseException:
                self._terms.clear()  # their numbers may have been given in this transaction
                raise


def match_of(path: str) -> str:
    """The match whose record lies there."""
    return path.rpartition("/")[2].removesuffix(SUFFIX)


def _walk(db: sqlite3.Connection, query: Query, registry: Registry) -> Walk | None:
    """None if a term that is asked for has no rows."""
    found = wanted(query, registry)
    held: list[tuple[int, int, int]] = []
    for place, posted in enumerate(found.terms):
        row = db.execute("SELECT held, id FROM terms WHERE term = ?", (posted.term,)).fetchone()
        if row is None or row[0] == 0:
            return None
        held.append((int(row[0]), place, int(row[1])))
    ranked = [(number, found.terms[place]) for _, place, number in sorted(held)]
    return Walk(ranked[0] if ranked else None, tuple(ranked[1:]), found.tests)


def _gather(db: sqlite3.Connection, walk: Walk, below: Key, down_to: Key, size: int) -> tuple[list[Listed], str]:
    found: list[Listed] = []
    scanned, chunk = 0, max(size, 200) if walk.filters else 0
    while True:
        end = db.execute(*walk.end(below, down_to, chunk)).fetchone() if chunk else None
        last: Key = (int(end[0]), str(end[1])) if end else down_to
        found += [_listed(row) for row in db.execute(*walk.rows(below, last, size + 1 - len(found)))]
        if len(found) > size:
            return found[:size], token_of((found[size - 1].ended_ms, found[size - 1].match))
        if end is None:
            return found, ""
        below, scanned = last, scanned + chunk
        if scanned >= SCAN:
            return found, token_of(last)
        chunk = min(2 * chunk, 2_000)


def _count(db: sqlite3.Connection, held: Counter[int]) -> None:
    db.executemany("UPDATE terms SET held = held + ? WHERE id = ?", [(many, number) for number, many in held.items()])


def _one(db: sqlite3.Connection, match: str) -> Listed | None:
    row = db.execute(f"SELECT {', '.join(FIELDS)} FROM records WHERE match = ?", (match,)).fetchone()
    return _listed(row) if row else None


def _values(row: Listed) -> list[Any]:
    values = [getattr(row, name) for name in FIELDS]
    values[-3:] = [json.dumps(value) for value in values[-3:]]
    return values


_RATED = FIELDS.index("rated")


def _listed(row: Sequence[Any]) -> Listed:
    *plain, accounts, scores, places = row
    plain[_RATED] = bool(plain[_RATED])
    return Listed(*plain, *(tuple(json.loads(text)) for text in (accounts, scores, places)))
