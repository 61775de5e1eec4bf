"""A record as plain facts for statistics: who acted when and how long it took, what each round dealt and gave.

Reads the text line by line, several times as fast as the strict reader: of all hashes only the last is checked, which
every change of the text breaks (not one that made it anew: that is for `verify`). docs/study.md says what is counted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .cards import Cards, Seat
from .errors import BadText
from .events import Event, from_text, kinds
from .game import GameSpec
from .match.events import RoundBegan, Scored, Voided
from .match.state import Config
from .notation import BY_STANDING, NO_ID
from .opening import Opening, best_points
from .record.head import read_head
from .record.values import Head
from .registry import Registry
from .replay import find_game_by_terms

SCORED, VOID, UNFINISHED = "scored", "void", "unfinished"
_COMMON = (RoundBegan, Scored, Voided)
_TIMED_OUT = "> - - - timeout seat="


@dataclass(frozen=True, slots=True)
class Act:
    """An action of a seat, or its time-out.

    think_ms  from the entry that put the question, time given back for outages left out; None for what the table did
              for the seat: a time-out, a standing answer
    """

    seq: int
    time_ms: int
    round: int
    seat: Seat
    verb: str
    text: str
    think_ms: int | None
    standing: bool = False
    timed_out: bool = False


@dataclass(slots=True)
class Round:
    """One deal. `end` is `scored`, `void` or `unfinished`; hands and features are empty where nothing tells them."""

    round: int
    deal: int
    dealer: Seat | None
    began_ms: int
    ended_ms: int | None = None
    end: str = UNFINISHED
    points: tuple[int, ...] = ()
    winners: tuple[Seat, ...] = ()
    hands: tuple[Cards, ...] = ()
    features: tuple[Mapping[str, int], ...] = ()


@dataclass(slots=True)
class Facts:
    """One match."""

    head: Head
    acts: list[Act] = field(default_factory=list)
    rounds: list[Round] = field(default_factory=list)

    @property
    def variant(self) -> str:
        """The game's variant, "" if it has none or the table chose none."""
        return str(self.head.terms.options.get("variant", ""))

    @property
    def winners(self) -> tuple[Seat, ...] | None:
        """The seats in first place; () if all are; None if the rules did not end the match."""
        places = self.head.outcome.places
        if places is None:
            return None
        first = tuple(seat for seat, place in enumerate(places) if place == 1)
        return first if len(first) < len(places) else ()


def facts_of(data: bytes, registry: Registry) -> Facts:
    """The facts of a record's text. Raises BadText for a text that is damaged or cannot be read."""
    lines = _sealed(data)
    closed = next((at for at, line in enumerate(lines) if line.startswith("header ")), 0)
    if not closed:
        raise BadText("the record has no header", 1)
    head = read_head(lines[:closed])
    reader = _Reader(head, registry)
    for number, line in enumerate(lines[closed + 1 : -3], closed + 2):
        try:
            reader.line(line)
        except BadText as error:
            raise BadText(error.reason, number) from error
        except (ValueError, IndexError, KeyError) as error:
            raise BadText(f"cannot be read: {line[:60]!r}", number) from error
    reader.close_round(None)
    return reader.facts


def _sealed(data: bytes) -> list[str]:
    body, mark, said = data.rpartition(b"! sha256 ")
    if not mark or said != hashlib.sha256(body).hexdigest().encode() + b"\n":
        raise BadText("the record is not what was written: its last hash does not fit", data.count(b"\n"))
    try:
        return data.decode().rstrip("\n").split("\n")
    except UnicodeDecodeError as error:
        raise BadText("not UTF-8") from error


class _Reader:
    """Lines of the entries, one after another."""

    def __init__(self, head: Head, registry: Registry) -> None:
        self.facts = Facts(head)
        self.seats = len(head.terms.seats)
        found = find_game_by_terms(registry, head.terms)
        self.spec: GameSpec[Any] | None = found[0].spec if found else None
        self.config: Config | None = found[0].config(head.terms.options, self.seats) if found else None
        self.opening: Opening | None = self.spec.opening if self.spec else None
        self.kinds = kinds((*_COMMON, *(self.opening.events if self.opening else ())))
        self.wanted = tuple(f"{kind} " for kind in self.kinds)
        self.seq = 0
        self.time_ms = 0
        self.given = 0  # given back in all, ms
        self.asked: dict[int, tuple[int, int]] = {}  # by entry: its time, what had been given back by then
        self.began: RoundBegan | None = None
        self.dealing: list[Event] = []

    def line(self, line: str) -> None:
        mark = line[0]
        if mark == ">":
            self._step(line)
        elif mark == "@":
            when, _, given = line[2:].partition(" given=")
            self.time_ms = int(when)
            self.given += int(given or 0)
            self.asked[self.seq] = (self.time_ms, self.given)
        elif mark.isdigit():
            self.seq = int(line.partition(" ")[0].partition("-")[2])
        elif line.startswith(self.wanted):
            self._event(from_text(self.kinds, line))
        elif mark not in "=~-" and not mark.isalpha():
            raise ValueError(line)

    def _step(self, line: str) -> None:
        number = self.began.round if self.began else 0
        _, who, command, prompt, said = line.split(" ", 4)
        if who == NO_ID:
            if line.startswith(_TIMED_OUT):
                seat = int(line.removeprefix(_TIMED_OUT))
                act = Act(self.seq, self.time_ms, number, self._seat(seat), "timeout", said, None, timed_out=True)
                self.facts.acts.append(act)
            return
        standing = command == BY_STANDING
        think = None if standing or prompt == NO_ID else self._think(int(prompt))
        verb = said.partition(" ")[0]
        act = Act(self.seq, self.time_ms, number, self._seat(int(who)), verb, said, think, standing)
        self.facts.acts.append(act)

    def _seat(self, seat: Seat) -> Seat:
        if not 0 <= seat < self.seats:
            raise ValueError(seat)
        return seat

    def _think(self, prompt: int) -> int:
        asked, given = self.asked[prompt]
        return max(0, self.time_ms - asked - (self.given - given))

    def _event(self, event: Event) -> None:
        if isinstance(event, RoundBegan):
            self.close_round(None)
            self.began, self.dealing = event, []
            self.facts.rounds.append(Round(event.round, event.deals, event.dealer, self.time_ms))
        elif isinstance(event, (Scored, Voided)):
            self.close_round(event)
        else:
            self.dealing.append(event)

    def close_round(self, event: Scored | Voided | None) -> None:
        """The round in play ends, by an event or with the match."""
        if self.began is None or not self.facts.rounds or self.facts.rounds[-1].ended_ms is not None:
            return
        part = self.facts.rounds[-1]
        if event is not None:
            part.ended_ms, part.end = self.time_ms, SCORED if isinstance(event, Scored) else VOID
        if isinstance(event, Scored):
            part.points, part.winners = event.points, self._winners(event)
        if self.opening is None or self.config is None or part.hands:
            return
        hands = self.opening.hands(self.began, self.dealing)
        if hands is not None:
            part.hands = hands
            part.features = tuple(self._features(self.opening, hand) for hand in hands)

    def _features(self, opening: Opening, hand: Cards) -> Mapping[str, int]:
        assert self.config is not None
        assert self.began is not None
        return opening.features(self.config, self.began, self.dealing, hand)

    def _winners(self, scored: Scored) -> tuple[Seat, ...]:
        better = self.spec.better if self.spec else 1
        found = self.opening.winners(scored, better) if self.opening else best_points(scored, better)
        return () if len(found) == self.seats else found
