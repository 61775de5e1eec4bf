"""What a table has decided and not yet written."""

from __future__ import annotations

from dataclasses import dataclass, field

from kangtou.v1 import play_pb2 as play
from kangtou_engine.cards import Seat
from kangtou_engine.events import Event
from kangtou_engine.match.clocks import Prompts
from kangtou_engine.match.match import AnyState
from kangtou_engine.notation import Item

from ..log.base import Entry
from .commands import Command
from .standing import Standing


@dataclass(slots=True, repr=False)
class Draft:
    """What the next entry will hold, and the table after it. It shows nothing of that: there are hidden cards in it."""

    time_ms: int
    state: AnyState
    prompts: Prompts
    standing: dict[Seat, Standing]
    entry: Entry | None = None
    items: list[Item] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    answers: list[tuple[Command, play.Answer]] = field(default_factory=list)
    commands: list[Command] = field(default_factory=list)
    handed: list[tuple[Seat, str]] = field(default_factory=list)  # to a substitute, with the cause; "": taken back
    late: list[Seat] = field(default_factory=list)  # the clock plays for them
    begin: tuple[str, ...] | None = None
    claim: str | None = None
    given_ms: int = 0
    end: str | None = None
    began: float = 0.0  # when it was drafted, decided and stored, in perf_counter seconds; 0.0: not measured
    decided: float = 0.0
    stored: float = 0.0

    @property
    def empty(self) -> bool:
        """Whether there is nothing to write."""
        return not self.items and self.begin is None and self.end is None and self.claim is None
