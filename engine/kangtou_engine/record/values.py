"""What a record holds, and how it is made from the log of a match that has ended."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..errors import BadText
from ..events import from_text, kinds
from ..match.events import MatchOver, RoundBegan, Scored
from ..notation import NO_ID, Body, Step, read_body

FORMAT, MAJOR = "kangtou-record", 1
_RESULTS = kinds((MatchOver, RoundBegan, Scored))


@dataclass(frozen=True, slots=True)
class Place:
    """Who had a seat: an opaque account id, `human` or `bot`, the commitment to its entropy ("" if it made none)."""

    account: str
    kind: str
    commitment: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What was agreed before the match. Times in ms; `board`, `pool` and `tags` may be empty."""

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


@dataclass(frozen=True, slots=True)
class Line:
    """One entry of the log: `epoch-seq`, chain hash, body as text; `body` says the same, read."""

    epoch: int
    seq: int
    chain: str
    text: str
    body: Body = field(compare=False, repr=False)

    @property
    def id(self) -> str:
        """`epoch-seq`."""
        return f"{self.epoch}-{self.seq}"


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

    Raises BadText if an entry cannot be read or none of them ends the match.
    """
    lines: list[Line] = []
    for epoch, seq, chain, text in entries:
        lines.append(Line(epoch, seq, chain, text, read_entry(text)))
        if lines[-1].body.end is not None:
            break
    else:
        raise BadText(f"match {terms.match} has not ended")
    bodies = [line.body for line in lines]
    return Record(Head(terms, outcome_of(len(terms.seats), bodies), engine), tuple(lines), seed)


def read_entry(text: str) -> Body:
    """The body of an entry. Raises BadText with the line in it."""
    try:
        return read_body(text)
    except ValueError as error:
        raise BadText(f"an event stands where none belongs: {str(error)[:60]!r}", 1) from error


def outcome_of(seats: int, bodies: Iterable[Body]) -> Outcome:
    """What came of the entries; from the events common to all games, so it needs no game. Raises BadText."""
    tally = _Tally((0,) * seats)
    for body in bodies:
        tally.entry(body)
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

    def entry(self, body: Body) -> None:
        if body.begin is not None:
            self.started_ms = body.time_ms
            self._events(body.events)
        for item in body.items:
            if isinstance(item, Step):
                self.moves += item.seat is not None
                self._events(item.events)
        if body.end is not None:
            self.ended_ms, self.cause = body.time_ms, body.end

    def _events(self, lines: Iterable[str]) -> None:
        for line in lines:
            if line.partition(" ")[0] in _RESULTS:
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
