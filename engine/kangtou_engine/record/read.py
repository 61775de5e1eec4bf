"""The strict reader: takes exactly what `write_record` writes, and names the line of every fault.

A fault says where it shows (`line`) and between which lines the damage lies (`first` to `last`): a hash tells that
something in an entry, in the header or at the end was changed, not which of its lines.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..errors import BadText
from ..notation import CHAIN_START, chain
from .head import read_head, read_version
from .text import digest
from .values import Head, Line, Outcome, Record, outcome_of

_ENTRY = re.compile(r"([1-9][0-9]{0,17})-([1-9][0-9]{0,17}) ([0-9a-f]{64})")
_ENTROPY = re.compile(r"(?:[0-9a-f]{2}){0,64}")
_HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with the text, by a code: `syntax`, `version`, `header`, `order`, `chain`, `end`, `result`."""

    line: int
    first: int
    last: int
    code: str
    reason: str

    def __str__(self) -> str:
        where = f"line {self.line}" if self.first == self.last else f"line {self.line} (lines {self.first}-{self.last})"
        return f"{where}: {self.reason}"


class RecordFault(BadText):
    """A record cannot be read, or is not what was written. `faults` are all that were found, in order of lines."""

    def __init__(self, faults: tuple[Fault, ...]) -> None:
        super().__init__(faults[0].reason, faults[0].line)
        self.faults = faults

    def __str__(self) -> str:
        return str(self.faults[0])


def read_record(data: bytes | str) -> Record:
    """The record. Raises RecordFault for whatever `write_record` would not have written."""
    record, faults = examine(data)
    if faults:
        raise RecordFault(faults)
    return record


def examine(data: bytes | str) -> tuple[Record, tuple[Fault, ...]]:
    """The same, going on past hashes that do not fit, which it returns. Raises RecordFault for what stops a reader."""
    reader = _Reader(_lines(data))
    try:
        record = reader.record()
    except _Stop as stop:
        raise RecordFault(_sorted([*reader.faults, stop.fault])) from stop
    return record, _sorted(reader.faults)


def _sorted(faults: list[Fault]) -> tuple[Fault, ...]:
    return tuple(sorted(faults, key=lambda fault: fault.line))


class _Stop(Exception):
    def __init__(self, fault: Fault) -> None:
        super().__init__(str(fault))
        self.fault = fault


def _lines(data: bytes | str) -> list[str]:
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        number = raw.count(b"\n", 0, error.start) + 1
        raise RecordFault((Fault(number, number, number, "syntax", "not UTF-8"),)) from error
    if not text.endswith("\n"):
        number = text.count("\n") + 1
        raise RecordFault((Fault(number, number, number, "end", "the text breaks off: its last line has no end"),))
    return text[:-1].split("\n")


class _Reader:
    """Reads from the first line on; `at` is the place of the next one."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.at = 0
        self.faults: list[Fault] = []

    def record(self) -> Record:
        head = self._head()
        entries = self._entries(len(head.terms.seats))
        if not self.faults:  # else what the entries say is not what was written
            self._outcome(head, entries)
        return Record(head, entries, self._end(entries))

    def _fault(self, code: str, reason: str, line: int, first: int, last: int) -> None:
        self.faults.append(Fault(line, first, last, code, reason))

    def _stop(self, code: str, reason: str, line: int, first: int | None = None) -> _Stop:
        return _Stop(Fault(line, line if first is None else first, line, code, reason))

    def _line(self, wanted: str) -> str:
        if self.at >= len(self.lines):
            raise self._stop("end", f"the text breaks off: {wanted} is missing", len(self.lines))
        self.at += 1
        return self.lines[self.at - 1]

    # ---- header ----

    def _head(self) -> Head:
        try:
            read_version(self.lines[0])
        except BadText as error:
            raise self._stop("version", error.reason, 1) from error
        while not (line := self._line("the end of the header")).startswith("header "):
            if line[:1] in "0123456789@=>~-!":
                raise self._stop("header", "the line `header …` is missing before this", self.at, 1)
        kept = self.lines[: self.at - 1]
        if line != f"header {digest(kept)}":
            self._fault("header", "the header is not what was written: its hash does not fit", self.at, 1, self.at)
        try:
            return read_head(kept)
        except BadText as error:
            raise self._stop("header", error.reason, error.line, 1) from error

    def _outcome(self, head: Head, entries: tuple[Line, ...]) -> None:
        """Whether the header says of the result what the entries say."""
        try:
            right = outcome_of(len(head.terms.seats), entries)
        except BadText as error:
            self._fault("result", f"the result cannot be read from the events: {error.reason}", 1, 1, len(self.lines))
            return
        for name in Outcome.__dataclass_fields__:
            said, found = getattr(head.outcome, name), getattr(right, name)
            if said != found:
                line = self._line_of(name)
                reason = f"the header says {name}={said}, the entries say {found}"
                self._fault("result", reason, line, line, line)

    def _line_of(self, field: str) -> int:
        name = {"started_ms": "started", "ended_ms": "ended", "cause": "cause"}.get(field, "result")
        found = [number for number, line in enumerate(self.lines, 1) if line.startswith(f"{name} ")]
        return found[0] if found else 1

    # ---- entries ----

    def _entries(self, seats: int) -> tuple[Line, ...]:
        entries: list[Line] = []
        while not entries or entries[-1].body.end is None:
            entries.append(self._entry(entries[-1] if entries else None))
        self._begun(entries, seats)
        return tuple(entries)

    def _entry(self, before: Line | None) -> Line:
        head = self._line("an entry that ends the match")
        number = self.at
        found = _ENTRY.fullmatch(head)
        if found is None:
            raise self._stop("syntax", f"an entry `epoch-seq hash` must stand here, not {head[:60]!r}", number)
        start = self.at
        while self.at < len(self.lines) and self.lines[self.at][:1] not in "0123456789!":
            self.at += 1
        for place in range(start, self.at):
            if not self.lines[place].isprintable():  # it is shown on terminals
                raise self._stop("syntax", f"letters that cannot be shown: {self.lines[place][:60]!r}", place + 1)
        text = "\n".join(self.lines[start : self.at])
        epoch, seq, said = int(found[1]), int(found[2]), found[3]
        right = chain(before.chain if before else CHAIN_START, f"{epoch}-{seq}", text)
        if said != right:
            reason = f"entry {epoch}-{seq} is not what was written: its hash does not fit"
            self._fault("chain", reason, number, number, self.at)
        entry = Line(epoch, seq, said, text)
        try:
            self._follows(entry, before, number)
        except BadText as error:
            line = min(number + max(error.line, 1), self.at)
            raise _Stop(Fault(line, number, self.at, "syntax", error.reason)) from error
        return entry

    def _follows(self, entry: Line, before: Line | None, number: int) -> None:
        last_epoch, last_seq = (before.epoch, before.seq) if before else (0, 0)
        claims = entry.body.claim is not None
        if entry.seq != last_seq + 1:
            self._fault("order", f"entry {entry.id} stands where seq {last_seq + 1} belongs", number, number, number)
        elif not claims and entry.epoch != last_epoch:
            self._fault("order", f"entry {entry.id}: a new epoch begins with a claim", number, number, self.at)
        elif claims and entry.epoch <= last_epoch:
            self._fault("order", f"entry {entry.id}: a claim begins a new epoch", number, number, self.at)

    def _begun(self, entries: list[Line], seats: int) -> None:
        begins = [entry for entry in entries if entry.body.begin is not None]
        if len(begins) > 1:
            raise self._stop("order", f"the match begins twice, in entry {begins[1].id} too", self.at, 1)
        if begins and len(begins[0].body.begin or ()) != seats:
            raise self._stop("order", f"entry {begins[0].id}: not as many entropies as seats", self.at, 1)
        for entropy in (begins[0].body.begin or ()) if begins else ():
            if not _ENTROPY.fullmatch(entropy):
                raise self._stop("syntax", f"entry {begins[0].id}: {entropy[:40]!r} is no entropy", self.at, 1)

    # ---- the end ----

    def _end(self, entries: tuple[Line, ...]) -> bytes:
        start = self.at + 1
        seed, receipt, sealed = (self._closing(name) for name in ("seed", "receipt", "sha256"))
        if self.at != len(self.lines):
            raise self._stop("end", "something follows the end of the record", self.at + 1)
        if receipt != entries[-1].chain:
            reason = "the receipt is not the hash of the last entry"
            self._fault("end", reason, start + 1, start + 1, start + 1)
        if sealed != digest(self.lines[: self.at - 1]) and not self.faults:
            reason = "the record is not what was written: its hash does not fit"
            self._fault("end", reason, self.at, start, self.at)
        return bytes.fromhex(seed)

    def _closing(self, name: str) -> str:
        line = self._line(f"`! {name} …`")
        value = line.removeprefix(f"! {name} ")
        if value == line or not _HASH.fullmatch(value):
            raise self._stop("end", f"`! {name}` and 64 hexadecimal digits must stand here", self.at)
        return value
