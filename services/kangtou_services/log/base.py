"""The event log: one stream a match, entry ids `epoch-seq`, one writer at a time. Design §4.

`seq` is dense over the whole match and goes on across epochs. Whoever takes a table over claims the next epoch
by compare-and-set on the tail; the claim writes a marker entry and is the only call that may create a stream. After
that a writer appends with explicit ids, so that a resend is refused rather than doubled and an older owner is fenced.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a match's log.

    epoch, seq   its id
    body         its lines in the record notation (UTF-8, no trailing newline)
    chain        hash chained over the entry before, hex
    rounds       seqs of the round-begin entries of the round in play and the one before, newest first (0, 1 or 2 of
                 them), so that a loader needs to read no further back
    """

    epoch: int
    seq: int
    body: str = field(repr=False)  # hidden cards, and what would give them away
    chain: str = field(repr=False)
    rounds: tuple[int, ...] = ()

    @property
    def id(self) -> str:
        """`epoch-seq`."""
        return f"{self.epoch}-{self.seq}"


class LogError(Exception):
    """The root of what a log raises."""


class Fenced(LogError):
    """This writer's table belongs to somebody else now, or its stream is gone. Stop it."""


class TailLost(Fenced):
    """The log does not end with the entry before the one to be appended: it has lost what it had acknowledged."""


class LogUnavailable(LogError):
    """The log cannot be reached or does not take writes; whether an append was stored is not known.

    Ask `tail` before anything is written again.
    """


class EventLog(Protocol):
    """Durable logs of matches. A method that returns has been made durable as the settings promise.

    All methods raise LogUnavailable when the store cannot be reached.
    """

    async def claim(self, match: str, owner: str, tail: Entry | None, marker: Entry) -> bool:
        """Become the writer of a match: append `marker` if the last entry still is `tail` (None: no stream).

        `marker.epoch` is greater than the tail's. The owner's name is stored with it atomically. Returns False, and
        changes nothing, if the tail is another. A repeat of the very same claim returns True as long as its marker is
        the tail, so it may be repeated after LogUnavailable.
        """
        ...

    async def append(self, match: str, entry: Entry) -> None:
        """Append by the owner. Raises Fenced if the stream is gone or has an entry that is not smaller.

        Calls of several matches are carried together; a caller has at most one unanswered append per match. A resend
        of an entry that is stored succeeds and stores nothing. Raises TailLost, a Fenced, if the log does not end
        with an entry of this epoch and the seq before.
        """
        ...

    async def tail(self, match: str) -> Entry | None:
        """The last entry, None without a stream."""
        ...

    async def read(self, match: str, first_seq: int = 0, last_seq: int | None = None) -> list[Entry]:
        """Entries by seq, both ends included, oldest first."""
        ...

    async def after(self, match: str, entry_id: str, count: int) -> list[Entry]:
        """The next entries behind one of that id ("": from the beginning), oldest first, at most so many."""
        ...

    async def owner(self, match: str) -> str | None:
        """Who claimed it last."""
        ...

    async def owners(self, matches: list[str]) -> list[str | None]:
        """The same for many at once, in order."""
        ...

    async def hand_on(self, match: str, owner: str, to: str, now_ms: int) -> bool:
        """An owner that has stopped writing names the next one, and when it stopped. False if it is not the owner."""
        ...

    async def put_down(self, match: str) -> int | None:
        """Since when (Unix ms) nobody plays this match, if that is known: handed on, or restored from a backup.

        Forgotten with the next claim.
        """
        ...

    async def incarnation(self) -> str:
        """Which life of the store answers: another text after it was restarted. Also the cheapest sign of life."""
        ...

    async def close(self) -> None:
        """Finish what was begun and let go of connections."""
        ...


class MatchStore(Protocol):
    """What lies beside the log of a match: its agreement, its seed, whether it is live."""

    async def create(self, match: str, agreement: str, seed: bytes) -> bool:
        """Store agreement (JSON text) and seed durably and list the match as live; False if it exists already.

        Idempotent: a repeat changes nothing.
        """
        ...

    async def agreement(self, match: str) -> str | None:
        """The agreement stored by `create`."""
        ...

    async def seed(self, match: str) -> bytes | None:
        """The seed; for the table alone."""
        ...

    async def live(self) -> list[str]:
        """All matches that have not been retired."""
        ...

    async def retire(self, match: str, keep_ms: int) -> None:
        """The match is archived: no longer live, log, seed and agreement expire after `keep_ms`."""
        ...

    async def blame(self, match: str) -> int:
        """An actor died while it was handling this match: count it, give the count."""
        ...

    async def deaths(self, match: str) -> int:
        """How often that happened."""
        ...

    async def pardon(self, match: str) -> None:
        """It has gone on well since: those deaths are not held against it."""
        ...
