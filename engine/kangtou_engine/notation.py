"""The text of one log entry, the same in the live log and in a record.

    @ 1796000000000 given=1200                     when (Unix ms), time given back to the clocks
    = claim owner=actor-7                           a table was opened or taken over
    = begin entropies=9f…,-,-,-                     the seats' opened entropies; the match's first events follow
    > 2 4f1c 17 play HT DT                          seat, command id, prompt, action; what it caused follows
    > - - - timeout seat=2                          the table's own
    > 2 * 17 pass                                   a standing answer of seat 2, applied by the table
    trick_won seat=2                                an event
    ~ 2 4f1d until=level_card wait                  a standing answer left with the table (`~ 2 4f1e -`: revoked)
    ~ 2 * until=level_card wait                     one that goes on into the round that began in this entry
    - delegate seat=2 cause=timeouts                a note of the platform: a word, then keys and values
    = end cause=rules                               the match has ended

The chain hash of an entry is SHA-256(previous hash (hex) LF id LF body), in hex; before the first it is 64 zeros.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TypeAlias

from .actions import Action, parse_action
from .cards import Seat
from .errors import BadText, IllegalAction

CHAIN_START = "0" * 64
NO_ID, BY_STANDING = "-", "*"
_NOTE = re.compile(r"[a-z][a-z_]{0,31}(?: [a-z][a-z_]{0,31}=[!-~]{1,512})*")
_ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}")


@dataclass(frozen=True, slots=True)
class Step:
    """One accepted action and the events (as texts) that it caused. `seat` None: the table's."""

    seat: Seat | None
    command: str
    prompt: int
    action: Action
    events: tuple[str, ...] = ()

    @property
    def acted(self) -> tuple[Seat, ...]:
        """The seat that this was an answer of, given by itself or by its clock."""
        if self.seat is not None:
            return (self.seat,)
        late = self.action.key("seat") if self.action.verb == "timeout" else None  # else it is about a seat
        return (int(late),) if late else ()


@dataclass(frozen=True, slots=True)
class Left:
    """A standing answer left (`action` None: revoked) by a seat. Design §5."""

    seat: Seat
    command: str
    action: Action | None
    until: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """What the platform notes about seats and clocks: no action, no event. docs/record-format.md lists the words."""

    word: str
    keys: tuple[tuple[str, str], ...] = ()

    def key(self, name: str) -> str:
        """The value of a key. Raises ValueError if it is not there."""
        for known, value in self.keys:
            if known == name:
                return value
        raise ValueError(f"note {self.word} has no {name}")

    def get(self, name: str) -> str:
        """The same, "" if it is not there."""
        return dict(self.keys).get(name, "")


Item: TypeAlias = Step | Left | Note


@dataclass(frozen=True, slots=True)
class Body:
    """What one entry says. Exactly one of claim, begin, items and end is its business (begin may hold events)."""

    time_ms: int
    given_ms: int = 0
    claim: str | None = None
    begin: tuple[str, ...] | None = None
    events: tuple[str, ...] = ()
    items: tuple[Item, ...] = ()
    end: str | None = None


def valid_id(text: str) -> bool:
    """Whether a command or match id has the form that the notation takes: 1–64 of letters, digits, `_.:-`."""
    return _ID.fullmatch(text) is not None and text not in (NO_ID, BY_STANDING)


def chain(previous: str, entry_id: str, body: str) -> str:
    """The hash of an entry over the one before."""
    return hashlib.sha256(f"{previous}\n{entry_id}\n{body}".encode()).hexdigest()


def write_body(body: Body) -> str:
    """The lines of an entry, without a trailing line end."""
    lines = [f"@ {body.time_ms}" + (f" given={body.given_ms}" if body.given_ms else "")]
    if body.claim is not None:
        lines.append(f"= claim owner={body.claim}")
    if body.begin is not None:
        lines.append("= begin entropies=" + ",".join(entropy or NO_ID for entropy in body.begin))
        lines += body.events
    for item in body.items:
        if isinstance(item, Step):
            lines.append(_step_line(item))
            lines += item.events
        else:
            lines.append(_left_line(item) if isinstance(item, Left) else _note_line(item))
    if body.end is not None:
        lines.append(f"= end cause={body.end}")
    return "\n".join(lines)


def _step_line(step: Step) -> str:
    who = NO_ID if step.seat is None else str(step.seat)
    return f"> {who} {step.command or NO_ID} {step.prompt or NO_ID} {step.action}"


def _left_line(left: Left) -> str:
    if left.action is None:
        return f"~ {left.seat} {left.command} -"
    until = f"until={left.until} " if left.until else ""
    return f"~ {left.seat} {left.command} {until}{left.action}"


def _note_line(note: Note) -> str:
    return " ".join(("-", note.word, *(f"{name}={value}" for name, value in note.keys)))


def read_body(text: str) -> Body:
    """The entry that `write_body` wrote. Raises BadText with the line (from 1 in this entry)."""
    lines = text.split("\n")
    reader = _Reader()
    for number, line in enumerate(lines, 1):
        try:
            reader.line(number, line)
        except (ValueError, IllegalAction) as error:
            raise BadText(f"cannot be read: {line[:80]!r}", number) from error
    try:
        body = reader.body()
    except ValueError as error:
        raise BadText(f"an event that nothing causes: {str(error)[:80]!r}", len(lines)) from error
    if write_body(body) != text:
        raise BadText("entry is not in canonical form", 1)
    return body


class _Reader:
    def __init__(self) -> None:
        self.head: tuple[int, int] = (0, 0)
        self.claim: str | None = None
        self.begin: tuple[str, ...] | None = None
        self.end: str | None = None
        self.events: list[str] = []
        self.items: list[Item] = []
        self.caused: list[str] = []

    def line(self, number: int, line: str) -> None:
        mark, _, rest = line.partition(" ")
        if (mark == "@") != (number == 1):
            raise ValueError(line)
        if mark == "@":
            time_ms, _, given = rest.partition(" given=")
            self.head = (int(time_ms), int(given or 0))
        elif mark == "=":
            self._business(rest)
        elif mark == ">":
            self._flush()
            self.items.append(_read_step(rest))
        elif mark == "~":
            self._flush()
            self.items.append(_read_left(rest))
        elif mark == NO_ID:
            self._flush()
            self.items.append(_read_note(rest))
        elif not mark or not mark[0].isalpha() or not mark.islower():
            raise ValueError(line)
        else:
            self.caused.append(line)

    def _business(self, rest: str) -> None:
        word, _, value = rest.partition("=")
        self._flush()
        if word == "claim owner" and value:
            self.claim = value
        elif word == "begin entropies":
            self.begin = tuple("" if part == NO_ID else part for part in value.split(","))
        elif word == "end cause" and value:
            self.end = value
        else:
            raise ValueError(rest)

    def _flush(self) -> None:
        if not self.caused:
            return
        last = self.items[-1] if self.items else None
        if isinstance(last, Step):
            self.items[-1] = Step(last.seat, last.command, last.prompt, last.action, tuple(self.caused))
        elif last is None and self.begin is not None:
            self.events = self.caused
        else:
            raise ValueError(self.caused[0])
        self.caused = []

    def body(self) -> Body:
        self._flush()
        return Body(*self.head, self.claim, self.begin, tuple(self.events), tuple(self.items), self.end)


def _read_step(rest: str) -> Step:
    who, command, prompt, said = rest.split(" ", 3)
    return Step(
        None if who == NO_ID else int(who),
        "" if command == NO_ID else command,
        0 if prompt == NO_ID else int(prompt),
        parse_action(said),
    )


def _read_left(rest: str) -> Left:
    who, command, said = rest.split(" ", 2)
    if said == "-":
        return Left(int(who), command, None)
    until = ""
    if said.startswith("until="):
        head, _, said = said.partition(" ")
        until = head.removeprefix("until=")
    return Left(int(who), command, parse_action(said), until)


def _read_note(rest: str) -> Note:
    if not _NOTE.fullmatch(rest):
        raise ValueError(rest)
    word, *keys = rest.split(" ")
    pairs = (key.partition("=") for key in keys)
    return Note(word, tuple((name, value) for name, _, value in pairs))
