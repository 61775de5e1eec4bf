"""Many records in one stream, and how a reader finds them again. docs/study.md, "Dumps".

    kangtou-dump 1
    month 2026-11
    accounts opaque                       or `pseudonyms`
    record <match> <bytes> <sha256>       then the record's text, exactly so many bytes; and so on
    end records=<n> bytes=<n> sha256=<hex>     over everything before this line; nothing follows

A stream that begins with a record instead is that one record. What is compressed, the caller unpacks.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from typing import Protocol

from ..errors import BadText
from .values import FORMAT

DUMP, VERSION = "kangtou-dump", 1
OPAQUE, PSEUDONYMS = "opaque", "pseudonyms"
MAX_RECORD = 256 << 20  # bytes of one record
_MAX_LINE = 1 << 10
_FIELD = re.compile(rb"(month|accounts) ([a-z0-9-]{1,32})\n")
_FRAME = re.compile(rb"record ([A-Za-z0-9_.:-]{1,64}) ([1-9][0-9]{0,9}) ([0-9a-f]{64})\n")
_END = re.compile(rb"end records=([0-9]{1,18}) bytes=([0-9]{1,18}) sha256=([0-9a-f]{64})\n")


class Stream(Protocol):
    """A binary file, read from front to back."""

    def readline(self, limit: int = -1, /) -> bytes:
        """A line with its end, or at most so many bytes."""
        ...

    def read(self, size: int = -1, /) -> bytes:
        """At most so many bytes, fewer only at the end."""
        ...


class Framer:
    """Makes the bytes of a dump, piece by piece. Equal records in equal order give equal bytes."""

    def __init__(self) -> None:
        self.hash = hashlib.sha256()
        self.records = 0
        self.bytes = 0

    def begin(self, month: str, accounts: str) -> bytes:
        """The first lines. `month` as 2026-11."""
        return self._counted(f"{DUMP} {VERSION}\nmonth {month}\naccounts {accounts}\n".encode())

    def record(self, match: str, text: bytes) -> bytes:
        """One record in its frame."""
        self.records += 1
        return self._counted(b"record %s %d %s\n" % (match.encode(), len(text), _digest(text)) + text)

    def end(self) -> bytes:
        """The last line. `hash` and `bytes` take it in too: then they are those of the whole text."""
        counts = f"end records={self.records} bytes={self.bytes}"
        return self._counted(f"{counts} sha256={self.hash.hexdigest()}\n".encode())

    def _counted(self, piece: bytes) -> bytes:
        self.hash.update(piece)
        self.bytes += len(piece)
        return piece


def _digest(text: bytes) -> bytes:
    return hashlib.sha256(text).hexdigest().encode()


class DumpReader:
    """The records of a stream, each checked as it comes. `month`, `accounts`: of a dump, once reading has begun."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._hash = hashlib.sha256()
        self._bytes = 0
        self.records = 0
        self.month = ""
        self.accounts = ""

    @property
    def place(self) -> str:
        """Where the reader is, for what it says of a fault."""
        return f"after record {self.records}, byte {self._bytes}"

    def texts(self) -> Iterator[bytes]:
        """The texts one by one. Raises BadText where the stream is not what was written, also where it breaks off."""
        first = self._stream.readline(_MAX_LINE)
        if first.startswith(FORMAT.encode() + b" "):
            yield self._single(first)
            return
        if not first:
            raise BadText("it is empty, or breaks off before its first line", 1)
        if first != f"{DUMP} {VERSION}\n".encode():
            raise BadText(f"not a dump and not a record: it must begin with `{DUMP} {VERSION}` or `{FORMAT} 1`", 1)
        self._count(first)
        yield from self._frames()

    def _single(self, first: bytes) -> bytes:
        text = first + self._stream.read(MAX_RECORD)
        if self._stream.read(1):
            raise BadText(f"a record has at most {MAX_RECORD} bytes")
        self.records = 1
        return text

    def _frames(self) -> Iterator[bytes]:
        while True:
            line = self._stream.readline(_MAX_LINE)
            if found := _FRAME.fullmatch(line):
                yield self._text(line, found)
            elif found := _END.fullmatch(line):
                self._ended(found)
                return
            elif (found := _FIELD.fullmatch(line)) and not self.records:
                self._count(line)
                setattr(self, found[1].decode(), found[2].decode())
            else:
                raise self._fault(
                    "breaks off" if not line.endswith(b"\n") else f"holds {line[:60]!r}, which is no frame"
                )

    def _text(self, line: bytes, found: re.Match[bytes]) -> bytes:
        match, size = found[1].decode(), int(found[2])
        if size > MAX_RECORD:
            raise self._fault(f"says that match {match} has {size} bytes")
        text = self._stream.read(size)
        if len(text) != size:
            raise self._fault(f"breaks off within match {match}")
        if _digest(text) != found[3]:
            raise self._fault(f"is damaged within match {match}")
        if not text.startswith(FORMAT.encode() + b" ") or b"\nmatch %s\n" % found[1] not in text[:200]:
            raise self._fault(f"holds something else where match {match} should be")
        self._count(line)
        self._count(text)
        self.records += 1
        return text

    def _ended(self, found: re.Match[bytes]) -> None:
        said = (int(found[1]), int(found[2]), found[3].decode())
        if said != (self.records, self._bytes, self._hash.hexdigest()):
            raise self._fault("is not what was written: counts or hash of its last line do not fit")
        if self._stream.read(1):
            raise self._fault("has something behind its end")

    def _count(self, piece: bytes) -> None:
        self._hash.update(piece)
        self._bytes += len(piece)

    def _fault(self, what: str) -> BadText:
        return BadText(f"the dump {what} ({self.place})")
