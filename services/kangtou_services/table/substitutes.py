"""When the clock plays for a seat: after its time and the lag that it is owed, or soon where its owner is away.

What is kept here is known to the owner of the table alone and only moves the moment at which a default action is
played; the log says what was played, and when. docs/clocks.md
"""

from __future__ import annotations

from kangtou_engine.cards import Seat
from kangtou_engine.match.clocks import Asked, Clock, Prompts
from kangtou_engine.match.match import Game
from kangtou_engine.match.state import Config

from ..agreement import HUMAN, Agreement
from .commands import Command


def clock_of(game: Game, agreement: Agreement, config: Config) -> Clock:
    """The clock settings of a table."""
    return Clock(
        agreement.turn_ms,
        agreement.window_ms,
        game.spec.window_ms(config),
        frozenset(seat for seat, member in enumerate(agreement.members) if member.kind == HUMAN),
        agreement.bank_ms,
        agreement.increment_ms,
        agreement.lag_ms,
        agreement.lag_match_ms,
        agreement.late_most,
    )


class Substitutes:
    """The seats of one table.

    lag_ms   by seat, the lag that the gateway has measured on its owner's stream
    housed   seats that are away and for which a house bot is attached
    """

    def __init__(self, clock: Clock, substitute_ms: int) -> None:
        self._clock = clock
        self._substitute_ms = substitute_ms
        self.lag_ms: dict[Seat, int] = {}
        self.housed: set[Seat] = set()
        self._now_ms = 0
        self._seen: dict[Seat, tuple[int, bool, int]] = {}  # question, whether a bot was there, when the clock plays

    def due(self, prompts: Prompts, now_ms: int) -> tuple[Seat, ...]:
        """The seats for which the clock plays now."""
        if prompts.ledger is None:
            return prompts.due(now_ms)
        self._now_ms = now_ms
        return tuple(seat for seat, one in enumerate(prompts.asked) if one and self.at(prompts, seat, now_ms) <= now_ms)

    def next(self, prompts: Prompts) -> int | None:
        """When the clock plays next, in Unix ms, if nothing happens before; `due` has been asked a moment ago."""
        if prompts.ledger is None:
            return prompts.next_deadline()
        now_ms = self._now_ms
        return min((self.at(prompts, seat, now_ms) for seat, one in enumerate(prompts.asked) if one), default=None)

    def at(self, prompts: Prompts, seat: Seat, now_ms: int) -> int:
        """When the clock plays for a seat that is asked, in Unix ms."""
        asked = prompts.asked[seat]
        assert asked is not None
        if not prompts.away(seat):
            return asked.deadline_ms + prompts.lag(seat, self.lag_ms.get(seat, 0), self._clock)
        number, housed, at_ms = self._seen.get(seat, (0, False, 0))
        if (number, housed) != (asked.number, seat in self.housed):
            at_ms = self._patience(asked, seat in self.housed, now_ms)
            self._seen[seat] = (asked.number, seat in self.housed, at_ms)
        return min(at_ms, asked.deadline_ms)

    def owed(self, prompts: Prompts, command: Command, time_ms: int) -> int:
        """How much of its measured lag an action of a seat needs, and is given back."""
        asked = prompts.asked[command.seat]
        if asked is None:
            return 0
        return min(prompts.lag(command.seat, command.lag_ms, self._clock), max(0, time_ms - asked.own_ms))

    def _patience(self, asked: Asked, housed: bool, now_ms: int) -> int:
        """A house bot has the question's own time, and some in any case; for nobody the table waits a little only."""
        soon_ms = now_ms + self._substitute_ms
        if housed:
            return max(soon_ms, asked.own_ms)
        return min(soon_ms, asked.own_ms) if asked.own_ms > now_ms else soon_ms
