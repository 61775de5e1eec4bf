"""What was seen during a run: answers by command, views by sequence number, what went wrong. Checked as it is written.

A violation is a broken promise of ours; what a run only finds inconvenient is counted.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from kangtou.v1 import play_pb2 as play

from .loop import SimLoop

AGAIN = frozenset({"table_unavailable", "log_unavailable", "rate_limited", "too_many_waiting"})  # no answer yet

Key = tuple[int, str]  # seat, command id


@dataclass
class Seen:
    """Views of one follower: sequence number and view, as folded by its client."""

    seat: int | None
    views: list[tuple[int, Any]] = field(default_factory=list)


@dataclass
class Journal:
    """One run's."""

    loop: SimLoop
    violations: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    stored: dict[Key, int] = field(default_factory=dict)  # in which entry
    accepted: dict[Key, int] = field(default_factory=dict)
    refused: dict[Key, str] = field(default_factory=dict)
    prompts: dict[Key, int] = field(default_factory=dict)
    seen: list[Seen] = field(default_factory=list)
    endings: list[Any] = field(default_factory=list)
    answered: int = 0

    def violation(self, what: str) -> None:
        """Something that must not be."""
        self.loop.note("VIOLATION", what)
        if len(self.violations) < 20:
            self.violations.append(what)

    def count(self, kind: str) -> None:
        """A fault has been injected, or something happened that is worth counting."""
        self.counts[kind] += 1

    def holds(self, key: Key, seq: int) -> None:
        """An entry holds a command."""
        if key in self.stored:
            self.violation(f"command {key} is in entries {self.stored[key]} and {seq}")
        self.stored[key] = seq

    def answer(self, key: Key, answer: play.Answer, where: str) -> None:
        """A client was given an answer."""
        self.answered += 1
        if answer.HasField("accepted"):
            seq = answer.accepted.seq
            first = self.accepted.setdefault(key, seq)
            if first != seq:
                self.violation(f"command {key} was accepted as {first}, then as {seq} ({where})")
            if seq and self.stored.get(key) != seq:
                self.violation(f"command {key} was acknowledged in {seq}, the log has it in {self.stored.get(key)}")
            if key in self.refused:
                self.violation(f"command {key} was refused {self.refused[key]}, then accepted ({where})")
            return
        code = answer.refused.code
        self.count(f"refused {code}")
        if code in AGAIN or code == "id_reused":
            return
        self.refused.setdefault(key, code)
        if key in self.accepted:
            self.violation(f"command {key} was accepted, then refused {code} ({where})")
        if key in self.stored:
            self.violation(f"command {key} was refused {code}, but is in entry {self.stored[key]} ({where})")


class Tap:
    """Counts commands and answers of one stream: to each command sent on it exactly one answer comes on it."""

    def __init__(self, journal: Journal, who: str) -> None:
        self._journal, self._who = journal, who
        self._due: Counter[str] = Counter()
        self._keys: dict[str, Key] = {}

    def sent(self, seat: int, command_id: str) -> None:
        """A command leaves."""
        self._due[command_id] += 1
        self._keys[command_id] = (seat, command_id)

    def came(self, update: play.Update) -> None:
        """An update has come."""
        if not update.HasField("answer") or not update.answer.command_id:
            return
        answer = update.answer
        self._due[answer.command_id] -= 1
        if self._due[answer.command_id] < 0:
            self._journal.violation(f"command {answer.command_id} was answered twice to {self._who}")
            return
        self._journal.answer(self._keys[answer.command_id], answer, self._who)

    @property
    def due(self) -> list[str]:
        """Commands without an answer."""
        return [command_id for command_id, count in self._due.items() if count > 0]
