"""House options. EB-13."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...cards import Seat
from ...errors import BadOptions
from ...game import check_seats
from ...match.state import Config
from ...options import option, parse_options

SEATS = (2, 3, 4, 5, 6)  # EB-1.1
DEFAULT_SEATS = 4
LOT = "lot"


@dataclass(frozen=True, slots=True)
class Options:
    """What a house may choose. The defaults are the book's."""

    limit: int = option("EB-13.1", 250, low=0, high=10000)
    exact: int = option("EB-13.2", -50, low=-1000, high=0)
    rounds: int = option("EB-13.3", 0, low=0, high=1000)
    settle_at: int = option("EB-13.4", 5, low=0, high=14)
    daiqi: int = option("EB-13.5", -15, low=-15, high=0)
    five: int = option("EB-13.6", 2, low=1, high=10)
    kou: bool = option("EB-13.7", True)
    kou_compare: str = option("EB-13.8", "doubled", words=("doubled", "hand"))
    follow: int = option("EB-13.9", 30, low=0, high=1000)
    dead_black: int = option("EB-13.10", 30, low=0, high=1000)
    first_dealer: str | int = option("EB-13.11", LOT, words=(LOT, 0, 1, 2, 3, 4, 5))
    open_discards: bool = option("EB-13.12", False)
    cut: bool = option("EB-13.13", True)
    between: bool = option("EB-13.14", True)
    vote_end: bool = option("EB-13.15", False)


def configure(given: Mapping[str, object], seats: int | None) -> tuple[int, Options]:
    """Seats and options of a table. Raises BadOptions. EB-13."""
    count = check_seats(seats, SEATS, DEFAULT_SEATS)
    options = parse_options(Options, given)
    if not options.limit and not options.rounds:
        raise BadOptions("EB-13.1", "bad_option", "rounds", "0", "1 … 1000")
    if options.first_dealer != LOT and int(options.first_dealer) >= count:
        allowed = ", ".join((LOT, *map(str, range(count))))
        raise BadOptions("EB-13.11", "bad_option", "first_dealer", str(options.first_dealer), allowed)
    return count, options


def first_seat(config: Config) -> Seat | None:
    """Who deals the first round; None: the lot finds out. EB-2.2."""
    named: str | int = config.options.first_dealer
    return None if named == LOT else int(named)
