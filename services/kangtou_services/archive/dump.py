"""All records of a month in one file, with a manifest beside it: for study, and for another server. docs/study.md.

The same records give the same text, and with the same zstandard library the same bytes: records are taken by day, then
by match id; nothing in the file tells when or where it was made.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO

import zstandard
from fsspec.core import url_to_fs

from kangtou_engine.record import Record, read_record, write_record
from kangtou_engine.record.dump import OPAQUE, PSEUDONYMS, Framer

from .store import LEVEL, SUFFIX, ArchiveError, RecordStore

MANIFEST = ".manifest.json"
MANIFEST_FORMAT = "kangtou-dump-manifest 1"
MARK = ("anonymous", "yes")  # the header field of a record whose accounts are pseudonyms
_MONTH = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])")

Progress = Callable[[int, int], None]  # done, of so many


class BadMonth(ValueError):
    """Not written as 2026-11."""


@dataclass(slots=True)
class Dumped:
    """What a manifest says of a dump."""

    month: str
    accounts: str
    records: int = 0
    bytes: int = 0
    sha256: str = ""
    text_bytes: int = 0
    text_sha256: str = ""
    games: Counter[str] = field(default_factory=Counter)
    digests: dict[str, str] | None = None

    def to_json(self, name: str) -> str:
        """The manifest's text. `name`: of the dump's file, without a folder."""
        value: dict[str, Any] = {
            "format": MANIFEST_FORMAT,
            "file": name,
            "month": self.month,
            "accounts": self.accounts,
            "records": self.records,
            "bytes": self.bytes,
            "sha256": self.sha256,
            "text_bytes": self.text_bytes,
            "text_sha256": self.text_sha256,
            "games": dict(self.games),
        }
        if self.digests is not None:
            value["digests"] = self.digests
        return json.dumps(value, indent=1, sort_keys=True) + "\n"


class Pseudonyms:
    """Names in place of account ids, good within one dump: counted as they come, so that nothing leads back.

    `dump` is a text that tells this dump from others, so that equal pseudonyms of two dumps are not taken for one.
    """

    def __init__(self, dump: str) -> None:
        self._dump = hashlib.sha256(dump.encode()).hexdigest()[:8]
        self._known: dict[str, str] = {}

    def of(self, account: str) -> str:
        """The pseudonym of an account."""
        return self._known.setdefault(account, f"a{self._dump}-{len(self._known) + 1}")

    def record(self, record: Record) -> Record:
        """The same record of these. Entries, and so chain and receipt, stay as they are."""
        head = record.head
        seats = tuple(replace(seat, account=self.of(seat.account)) for seat in head.terms.seats)
        extra = head.extra if MARK in head.extra else (*head.extra, MARK)
        return replace(record, head=replace(head, terms=replace(head.terms, seats=seats), extra=extra))


def month_paths(url: str, month: str) -> tuple[RecordStore, list[str]]:
    """The store of a month and where its records lie in it, by day and match. Raises BadMonth, ArchiveError."""
    if not _MONTH.fullmatch(month):
        raise BadMonth(month)
    RecordStore(url).check()
    fs, root = url_to_fs(url)
    if not fs.isdir(root):
        raise ArchiveError(f"there is no archive at {url}")
    year, _, number = month.partition("-")
    store = RecordStore(f"{url.rstrip('/')}/{year}/{number}")
    return store, sorted(store.paths())


def write_dump(url: str, month: str, out: BinaryIO, *, anonymous: bool, digests: bool, progress: Progress) -> Dumped:
    """Write the records of a month. Constant memory but for what `digests` and pseudonyms keep of each.

    Raises BadMonth; ArchiveError and BadText for a record that cannot be read; OSError.
    """
    store, paths = month_paths(url, month)
    dumped = Dumped(month, PSEUDONYMS if anonymous else OPAQUE, digests={} if digests else None)
    names = Pseudonyms("\n".join(map(_match_of, paths)))
    packed = _Counting(out)
    framer = Framer()
    with zstandard.ZstdCompressor(level=LEVEL, write_checksum=True).stream_writer(packed, closefd=False) as writer:  # type: ignore[arg-type]
        writer.write(framer.begin(month, dumped.accounts))
        for done, (match, text) in enumerate(_texts(store, paths, names if anonymous else None, dumped)):
            progress(done, len(paths))
            writer.write(framer.record(match, text))
        writer.write(framer.end())
    progress(len(paths), len(paths))
    dumped.records, dumped.bytes, dumped.sha256 = framer.records, packed.bytes, packed.hash.hexdigest()
    dumped.text_bytes, dumped.text_sha256 = framer.bytes, framer.hash.hexdigest()
    return dumped


def _match_of(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(SUFFIX)


def _texts(
    store: RecordStore, paths: list[str], names: Pseudonyms | None, dumped: Dumped
) -> Iterator[tuple[str, bytes]]:
    for path in paths:
        record = read_record(store.text(path))
        if names is not None:
            record = names.record(record)
        match, text = record.head.terms.match, write_record(record).encode()
        dumped.games[f"{record.head.terms.game}@{record.head.terms.version}"] += 1
        if dumped.digests is not None:
            dumped.digests[match] = hashlib.sha256(text).hexdigest()
        yield match, text


class _Counting:
    """A file that counts and hashes what goes through it."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self.hash = hashlib.sha256()
        self.bytes = 0

    def write(self, piece: bytes) -> int:
        self._out.write(piece)
        self.hash.update(piece)
        self.bytes += len(piece)
        return len(piece)

    def flush(self) -> None:
        self._out.flush()
