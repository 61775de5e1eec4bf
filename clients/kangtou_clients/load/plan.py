"""What a load is: games, tables at once, and how long players think."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

from kangtou_engine.registry import REGISTRY

from ..api import Wanted

# Without questions that a bot answers at once and people mostly leave to a standing answer.
OPTIONS: Mapping[str, Mapping[str, int | bool | str]] = {"duizhu": {"windows": "lap"}}
SEATS = 4  # all games have tables of four
OF_DEADLINE = 0.8  # nobody thinks longer than this part of his time: the load measures answers, not time-outs


@dataclass(frozen=True, slots=True)
class Plan:
    """A load. Times in seconds.

    tables      at once, when the ramp is over; a table that ends makes room for another
    ramp_s      in which they arrive, as a Poisson process
    seconds     measured after that
    think_s     median time from a question to its answer; log-normal
    spread      the logarithm's standard deviation; 0: always the median
    pause_s     mean time from a table's end to the next arrival; exponential
    watchers    spectators at each table
    rounds      of a match
    connections over which the players' streams are spread; more are made where they would be too many for one
    """

    games: tuple[str, ...] = tuple(REGISTRY.names())
    tables: int = 20
    ramp_s: float = 10.0
    seconds: float = 30.0
    think_s: float = 3.0
    spread: float = 0.7
    pause_s: float = 1.0
    watchers: int = 0
    rounds: int = 1
    connections: int = 16

    def think(self, chance: Random, left_s: float) -> float:
        """Seconds of thought for one question that has `left_s` on its clock (0: no limit)."""
        if not self.think_s:
            return 0.0
        drawn = chance.lognormvariate(0.0, self.spread) * self.think_s
        return min(drawn, left_s * OF_DEADLINE) if left_s else drawn

    def wanted(self, game: str) -> Wanted:
        """A table of a game."""
        options = {"rounds": self.rounds, "cut": False, "between": False, **OPTIONS.get(game, {})}
        return Wanted(game, seats=SEATS, options=options)
