"""What the tournament runner and the supervisor count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from prometheus_client import Metric

from .families import counters, gauge, gauges

if TYPE_CHECKING:
    from ..supervisor import Child


class RunnerMeter:
    """Written by tournament/runner.py and conductor.py."""

    __slots__ = ("games", "open", "running")

    def __init__(self) -> None:
        self.games: Counter[str] = Counter({"ended": 0, "replayed": 0})  # by outcome
        self.running = self.open = 0

    def gather(self) -> Iterable[Metric]:
        """As metrics."""
        yield counters("kangtou_tournament_games", "Games of tournaments, by what came of them.", "outcome", self.games)
        yield gauge("kangtou_tournament_games_running", "Games that are being played.", self.running)
        yield gauge("kangtou_tournaments", "Tournaments that are taken up here.", self.open)


def of_children(children: Sequence[Child]) -> Iterable[Metric]:
    """The supervisor's processes."""
    up = {one.name: float(one.process is not None and one.process.returncode is None) for one in children}
    yield gauges("kangtou_child_up", "1 if a process of this server runs.", "child", up)
    restarts = {one.name: float(one.restarts) for one in children}
    yield counters("kangtou_child_restarts", "Times that a process was started again.", "child", restarts)
