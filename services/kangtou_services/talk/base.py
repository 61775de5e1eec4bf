"""What is kept of what people say, and the seam of its store."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import Protocol

CHAT_MOST = 200  # messages of a match that are kept; the oldest go first
REPORTS_MOST = 10_000
KEEP_MS = 24 * 3_600_000  # after the last message of a match


@dataclass(frozen=True, slots=True)
class Message:
    """One message. `seat` -1: a spectator's. One of `text` and `phrase`; `watchers`: for spectators only.

    chat_id   "" before it is stored; grows within a match
    command   the id under which its author sent it
    """

    account_id: str
    name: str
    seat: int
    text: str
    phrase: str
    watchers: bool
    time_ms: int
    command: str
    chat_id: str = ""

    def same(self, other: Message) -> bool:
        """Whether it says the same."""
        return (self.text, self.phrase) == (other.text, other.phrase)


@dataclass(frozen=True, slots=True)
class Report:
    """What somebody has told the operators of, with what stood around it."""

    match_id: str
    reporter_id: str
    chat_id: str
    reason: str
    time_ms: int
    context: tuple[Message, ...]
    report_id: str = ""

    def to_json(self) -> str:
        """As it is stored."""
        return json.dumps(asdict(self), ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str, report_id: str) -> Report:
        """The same again."""
        given = json.loads(text)
        given["context"] = tuple(Message(**one) for one in given["context"])
        return replace(cls(**given), report_id=report_id)


class Talk(Protocol):
    """All methods raise StoreUnavailable; all may be repeated."""

    async def say(self, match: str, message: Message) -> tuple[Message, bool]:
        """Store a message; with its id, and whether it is new. A repeat of an account's command gives the first one."""
        ...

    async def find(self, match: str, account_id: str, command: str) -> Message | None:
        """What an account said by a command, as long as it is kept."""
        ...

    async def last(self, match: str) -> list[Message]:
        """The last CHAT_MOST messages, the oldest first."""
        ...

    async def mute(self, match: str, account_id: str, muted: bool) -> None:
        """Silence an account at a match, or let it speak."""
        ...

    async def muted(self, match: str) -> frozenset[str]:
        """Who is silenced."""
        ...

    async def report(self, report: Report) -> None:
        """Keep a report for the operators. A repeat by the same reporter of the same message is not kept again."""
        ...

    async def reports(self, most: int) -> list[Report]:
        """The newest first."""
        ...
