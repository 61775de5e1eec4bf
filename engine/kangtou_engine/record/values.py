"""What a record holds, and how it is made from the log of a match that has ended."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..errors import BadText
from ..events import from_text, kinds
from ..match.events import MatchOver, RoundBegan, Scored
from ..notation import CHAIN_START, NO_ID, Body, chain, read_body

NO_HANDS = "no_hands"  # what spectators see where nothing else was agreed
FORMAT, MAJOR = "kangtou-record", 1
MINOR = 1  # of records that have the header fields `clocks` or `watched` or notes; others are as they always were
BEGIN, END = "= begin ", "= end cause="
_RESULTS = kinds((MatchOver, RoundBegan, Scored))
_RESULTS_BEGIN = tuple(f"{kind} " for kind in _RESULTS)


@dataclass(frozen=True, slots=True)
class Place:
    """Who had a seat: an opaque account id, `human` or `bot`, the commitment to its entropy ("" if it made none)."""

    account: str
    kind: str
    commitment: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What was agreed before the match. Times in ms; `board`, `pool` and `tags` may be empty.

    bank_ms … late_most   as in match/clocks.py; all 0: only the turn and window clocks
    watch, watch_delay_ms what spectators might see, and how late (docs/spectators.md)
    scorer                the account that might award penalties, "" if none
    """

    match: str
    game: str
    version: int
    options: Mapping[str, Any]
    seats: tuple[Place, ...]
    seed_commitment: str
    turn_ms: int
    window_ms: int
    rated: bool = False
    pool: str = ""
    board: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)
    created_ms: int
    bank_ms: int = 0
    increment_ms: int = 0
    lag_ms: int = 0
    lag_match_ms: int = 0
    late_most: int = 0
    watch: str = NO_HANDS
    watch_delay_ms: int = 0
    scorer: str = ""

    @property
    def watched(self) -> bool:
        """Whether anything was agreed on spectators and the scorer."""
        return (self.watch, self.watch_delay_ms, self.scorer) != (NO_HANDS, 0, "")

    @property
    def clocks(self) -> tuple[int, ...]:
        """Bank, increment, lag for an action, lag for the match, turns played by the clock before a substitute."""
        return (self.bank_ms, self.increment_ms, self.lag_ms, self.lag_match_ms, self.late_most)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of it: follows from the entries alone.

    started_ms  when the lot was drawn; None if the match ended before
    rounds      how many were scored
    moves       accepted actions of seats, standing answers that were applied included
    scores      as they stood at the end; places only if the rules ended the match
    """

    started_ms: int | None
    ended_ms: int
    cause: str
    rounds: int
    moves: int
    scores: tuple[int, ...]
    places: tuple[int, ...] | None


@dataclass(frozen=True, slots=True)
class Head:
    """The header. `extra` are fields of later minor versions: kept, and written back where they stood."""

    terms: Terms
    outcome: Outcome
    engine: str
    minor: int = 0
    extra: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Line:
    """One entry of the log: `epoch-seq`, chain hash, body as text."""

    epoch: int
    seq: int
    chain: str
    text: str

    @property
    def id(self) -> str:
        """`epoch-seq`."""
        return f"{self.epoch}-{self.seq}"

    @cached_property
    def body(self) -> Body:
        """What the text says. Raises BadText with the line in it."""
        try:
            return read_body(self.text)
        except ValueError as error:
            raise BadText(f"an event stands where none belongs: {str(error)[:60]!r}", 1) from error


@dataclass(frozen=True, slots=True)
class Record:
    """A finished match. The last entry is the one with `= end`."""

    head: Head
    entries: tuple[Line, ...]
    seed: bytes

    def __repr__(self) -> str:
        return f"<Record {self.head.terms.match} {len(self.entries)} entries>"

    @property
    def receipt(self) -> str:
        """The chain hash of the entry with `= end`, as every seat was given it."""
        return self.entries[-1].chain

    @property
    def entropies(self) -> tuple[bytes, ...] | None:
        """What the seats opened, b"" for those that did not; None if the match ended before it began."""
        for entry in self.entries:
            if entry.body.begin is not None:
                return tuple(bytes.fromhex(text) for text in entry.body.begin)
        return None


def make_record(terms: Terms, entries: Iterable[tuple[int, int, str, str]], seed: bytes, engine: str) -> Record:
    """A record from a live log: entries as (epoch, seq, chain, body). Entries after the one with `= end` are left out.

    Checks the chain, but does not read the bodies: a table wrote them. Raises BadText if an entry is not what was
    written, or none of them ends the match.
    """
    lines: list[Line] = []
    before = CHAIN_START
    for epoch, seq, said, text in entries:
        if said != chain(before, f"{epoch}-{seq}", text):
            raise BadText(f"match {terms.match}: entry {epoch}-{seq} is not what was written")
        lines.append(Line(epoch, seq, said, text))
        before = said
        if text.rpartition("\n")[2].startswith(END):
            break
    else:
        raise BadText(f"match {terms.match} has not ended")
    noted = any("\n- " in line.text for line in lines)
    minor = MINOR if noted or any(terms.clocks) or terms.watched else 0
    return Record(Head(terms, outcome_of(len(terms.seats), lines), engine, minor), tuple(lines), seed)


def outcome_of(seats: int, entries: Iterable[Line]) -> Outcome:
    """What came of the entries; from the events common to all games, so it needs no game. Raises BadText."""
    tally = _Tally((0,) * seats)
    for entry in entries:
        try:
            tally.entry(entry.text)
        except (ValueError, IndexError) as error:
            raise BadText(f"entry {entry.id} cannot be read") from error
    return Outcome(
        started_ms=tally.started_ms,
        ended_ms=tally.ended_ms,
        cause=tally.cause,
        rounds=tally.rounds,
        moves=tally.moves,
        scores=tally.scores,
        places=tally.places,
    )


@dataclass(slots=True)
class _Tally:
    scores: tuple[int, ...]
    places: tuple[int, ...] | None = None
    started_ms: int | None = None
    ended_ms: int = 0
    cause: str = NO_ID
    rounds: int = 0
    moves: int = 0

    def entry(self, text: str) -> None:
        """By the first character of each line: ten times as fast as reading it all."""
        time_ms = 0
        for line in text.split("\n"):
            mark = line[0]
            if mark == "@":
                time_ms = int(line[2:].partition(" ")[0])
            elif mark == ">":
                self.moves += line[2] != NO_ID
            elif line.startswith(BEGIN):
                self.started_ms = time_ms
            elif line.startswith(END):
                self.ended_ms, self.cause = time_ms, line.removeprefix(END)
            elif line.startswith(_RESULTS_BEGIN):
                self._result(line)

    def _result(self, line: str) -> None:
        match from_text(_RESULTS, line):
            case RoundBegan(scores=scores):
                self.scores = scores
            case Scored(points=points):
                self.scores = tuple(old + new for old, new in zip(self.scores, points, strict=False))
                self.rounds += 1
            case MatchOver(scores=scores, places=places):
                self.scores, self.places = scores, places
            case _:
                pass  # `_RESULTS` has no others
