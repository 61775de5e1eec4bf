"""What a match tells whoever follows it: who plays, what happens, and what a seat is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kangtou_engine.actions import Action, parse_action
from kangtou_engine.cards import Seat
from kangtou_engine.events import Event
from kangtou_engine.game import Legal

from .values import Answer

if TYPE_CHECKING:
    from .match import Match


@dataclass(frozen=True, slots=True)
class Player:
    """Who sits at a seat. `kind` is `human` or `bot`."""

    account_id: str
    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class SeatStatus:
    """Who plays a seat now. `delegated`: why a substitute does (timeouts, left, asked), "": the owner; bank in ms."""

    seat: Seat
    delegated: str
    connected: bool
    bank_ms: int


@dataclass(frozen=True, slots=True)
class Change:
    """What one entry of the log brought. `gap`: earlier ones were left out, look at `Match.view` instead."""

    seq: int
    time_ms: int
    events: tuple[Event, ...]
    gap: bool = False


@dataclass(frozen=True, slots=True)
class Prompt:
    """The seat is asked to act.

    number       changes when the seat must decide anew
    deadline_ms  Unix ms by the server's clock; `left_ms` when this was sent, 0: no limit. Then `default` is played
    turn_ms      what of `left_ms` is the question's own time; the rest, `bank_ms`, is the seat's bank
    legal        all legal actions, or TooMany if they cannot be listed: then ask `Client.check` or the engine
    """

    match: Match
    number: int
    deadline_ms: int
    left_ms: int
    default: Action
    legal: Legal
    turn_ms: int = 0
    bank_ms: int = 0

    @property
    def open(self) -> bool:
        """Whether the question still stands. It may have been put again since, with another deadline."""
        now = self.match.prompt
        return now is not None and now.number == self.number

    async def answer(self, action: Action | str) -> Answer:
        """Act; returns when the action is durable, or why it is refused. Raises IllegalAction for a malformed text."""
        wanted = parse_action(action) if isinstance(action, str) else action
        return await self.match.act(wanted, prompt=self.number)

    def __repr__(self) -> str:
        return f"<Prompt {self.number} of {self.match.match_id}>"
