"""How a tournament goes on: what is shown while it is played. The final report has better intervals (report.py)."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

from kangtou_engine.registry import REGISTRY

from .events import State
from .model import Blame, Result, Spec
from .scores import SetBook

RATE_S = 10.0  # what moves a second are counted over
Z = 1.96
LEAST_SETS = 5  # from which an interval is shown


@dataclass(frozen=True, slots=True)
class Standing:
    """An entrant's mean of what it made more than the others in a set, and half its 95 % interval (0: too few sets)."""

    name: str
    sets: int
    mean: float
    half: float
    faults: int


class _Sum:
    """Mean and spread of values that come one by one (Welford)."""

    __slots__ = ("count", "mean", "squares")

    def __init__(self) -> None:
        self.count, self.mean, self.squares = 0, 0.0, 0.0

    def add(self, value: float) -> None:
        self.count += 1
        apart = value - self.mean
        self.mean += apart / self.count
        self.squares += apart * (value - self.mean)

    @property
    def half(self) -> float:
        """Half the interval."""
        if self.count < LEAST_SETS:
            return 0.0
        return Z * math.sqrt(self.squares / (self.count - 1) / self.count)


class Progress:
    """Fed with the states of one tournament, each when it is as it is."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._book = SetBook(REGISTRY.game(spec.game).spec.better)
        self._sums = [_Sum() for _ in spec.entrants]
        self._faults = [0] * len(spec.entrants)
        self._read = 0
        self._seen: deque[tuple[float, int, int]] = deque()

    def rates(self, now_s: float, state: State) -> tuple[float, float]:
        """Moves and games a second, over the last seconds."""
        self._seen.append((now_s, state.moves, len(state.results)))
        while len(self._seen) > 2 and now_s - self._seen[0][0] > RATE_S:
            self._seen.popleft()
        then, moves, games = self._seen[0]
        spent = now_s - then
        return ((state.moves - moves) / spent, (len(state.results) - games) / spent) if spent > 0 else (0.0, 0.0)

    def standings(self, state: State) -> list[Standing]:
        """By entrant, the best first."""
        for result in state.results[self._read :]:
            self._add(result)
        self._read = len(state.results)
        found = [
            Standing(entrant.name, own.count, own.mean, own.half, faults)
            for entrant, own, faults in zip(self._spec.entrants, self._sums, self._faults, strict=True)
        ]
        return sorted(found, key=lambda one: (-one.mean, one.name))

    @property
    def faults(self) -> int:
        """Of entrants, so far."""
        return sum(self._faults)

    def _add(self, result: Result) -> None:
        guilty = {
            entrant
            for entrant, fault in zip(result.game.entrants, result.faults, strict=True)
            if fault and fault != Blame.INFRASTRUCTURE
        }
        for entrant in guilty:
            self._faults[entrant] += 1
        for score in self._book.add(result):
            for entrant, edge in zip(score.encounter, score.edges(), strict=True):
                self._sums[entrant].add(edge)
