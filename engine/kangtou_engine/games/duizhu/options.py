"""House options. DZ-13."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...errors import BadOptions
from ...game import check_seats
from ...options import option, parse_options
from .levels import LEVELS, level_of

SEATS = 4


@dataclass(frozen=True, slots=True)
class Options:
    """What the house may choose. DZ-13, CM-11."""

    rounds: int = option("DZ-13.1", 0, low=0, high=1000)
    cut: bool = option("DZ-13.4", True)
    between: bool = option("DZ-13.14", True)
    vote_end: bool = option("DZ-13.15", False)
    start_level: str = option("DZ-13.2", "3", words=LEVELS)
    end_level: str = option("DZ-13.3", "A", words=LEVELS)
    windows: str = option("DZ-13.5", "card", words=("card", "lap", "end"))
    announce: str = option("DZ-13.6", "any", words=("any", "jokers", "none"))
    snatch: bool = option("DZ-13.7", True)
    partner_sink: bool = option("DZ-13.8", True)
    redeal: bool = option("DZ-13.9", True)
    stack: bool = option("DZ-13.10", False)
    weak_last: str = option("DZ-13.11", "hold", words=("hold", "fail", "kou"))
    suited_high: bool = option("DZ-13.12", False)
    bury_points: str = option("DZ-13.13", "none", words=("none", "last"))

    @property
    def start(self) -> int:
        """The level of both sides at the start. DZ-9.1."""
        return level_of(self.start_level)

    @property
    def end(self) -> int:
        """The level that must be made to win. DZ-10.3."""
        return level_of(self.end_level)


def configure(given: Mapping[str, object], seats: int | None) -> tuple[int, Options]:
    """Four seats (DZ-1.2) and options; refuses a start above the end. DZ-13. Raises BadOptions."""
    count = check_seats(seats, (SEATS,), SEATS)
    options = parse_options(Options, given)
    if options.start > options.end:
        allowed = ", ".join(LEVELS[: LEVELS.index(options.end_level) + 1])
        raise BadOptions("DZ-13.2", "start_above_end", "start_level", options.start_level, allowed)
    return count, options
