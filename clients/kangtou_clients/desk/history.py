"""What this client received of a match: a log without a look back where the book forbids it, and the score sheet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from kangtou_engine.events import Event, kind_of
from kangtou_engine.match.events import MatchOver, RoundBegan, Scored, Voided
from kangtou_engine.match.match import Game
from kangtou_engine.match.state import Config

LINES_MOST = 20_000  # events that are kept; the oldest go first


@dataclass(frozen=True, slots=True)
class Told:
    """One event, and in which round it came."""

    round: int
    time_ms: int
    event: Event


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the score sheet: a round's points and the totals after it. `points` None: not seen here."""

    round: int
    points: tuple[int, ...] | None
    totals: tuple[int, ...]


@dataclass
class History:
    """Grows with what comes in."""

    game: Game
    config: Config
    told: list[Told] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    round: int = 0
    closed: bool = False  # the round in play is scored, so nothing of it is covered any more

    def take(self, time_ms: int, events: Iterable[Event]) -> None:
        """Events in order."""
        for event in events:
            if isinstance(event, RoundBegan):
                self._began(event)
            elif isinstance(event, (Scored, Voided)):
                self._ended(event)
            elif isinstance(event, MatchOver) and self.rows and self.rows[-1].totals != event.scores:
                self.rows.append(Row(self.round, None, event.scores))
            self.told.append(Told(self.round, time_ms, event))
        del self.told[:-LINES_MOST]

    def _began(self, event: RoundBegan) -> None:
        self.round, self.closed = event.round, False
        if not self.rows and any(event.scores):
            self.rows.append(Row(event.round - 1, None, event.scores))

    def _ended(self, event: Scored | Voided) -> None:
        self.closed = True
        if isinstance(event, Scored):
            before = self.rows[-1].totals if self.rows else (0,) * self.config.seats
            totals = tuple(old + new for old, new in zip(before, event.points, strict=True))
            self.rows.append(Row(self.round, event.points, totals))

    def joined(self, round_: int, scores: tuple[int, ...]) -> None:
        """The match was joined in a round with these scores, or a gap was left."""
        self.round = round_
        if round_ > 1 and (not self.rows or self.rows[-1].totals != scores):
            self.rows.append(Row(round_ - 1, None, scores))

    def shown(self) -> list[Told | str]:
        """The log; in place of what is covered the rule that covers it, once in a row."""
        hidden: dict[int, str] = {}
        start = 0
        for number, told in enumerate(self.told):
            if isinstance(told.event, RoundBegan):
                start = number
        if not self.closed:
            self._cover(start, hidden)
        lines: list[Told | str] = []
        for number, told in enumerate(self.told):
            rule = hidden.get(number)
            if rule is None:
                lines.append(told)
            elif not lines or lines[-1] != rule:
                lines.append(rule)
        return lines

    def _cover(self, start: int, hidden: dict[int, str]) -> None:
        for covered in self.game.spec.covered(self.config):
            waiting: list[int] = []
            for number in range(start, len(self.told)):
                kind = kind_of(type(self.told[number].event))
                if kind in covered.by:
                    hidden.update(dict.fromkeys(waiting, covered.rule))
                    waiting.clear()
                if kind in covered.kinds:
                    waiting.append(number)
