"""House options. HS-15."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...game import check_seats
from ...match.state import Config
from ...options import option, parse_options


@dataclass(frozen=True, slots=True)
class Options:
    """What a table may agree on. HS-15."""

    rounds: int = option("HS-15.1", 50, low=1, high=1000)
    cut: bool = option("HS-15.8", True)
    between: bool = option("HS-15.13", True)
    vote_end: bool = option("HS-15.10", True)
    keep345: bool = option("HS-15.2", False)
    top: str = option("HS-15.3", "jokers", words=("jokers", "tens"))
    reveal: bool = option("HS-15.4", True)
    lightning: bool = option("HS-15.5", True)
    lightning_factor: int = option("HS-15.6", 4, words=(1, 2, 4))
    play_out: bool = option("HS-15.7", True)
    next_dealer: str = option("HS-15.9", "first", words=("first", "rotate"))
    penalty: int = option("HS-15.11", 8, low=0, high=1000)
    chat: str = option("HS-15.12", "safe", words=("free", "safe", "off"))


def configure(given: Mapping[str, object], seats: int | None) -> tuple[int, Options]:
    """Seats and options of a table. Raises BadOptions. HS-1.2, CM-11.1."""
    return check_seats(seats, (4,), 4), parse_options(Options, given)


def options_of(config: Config) -> Options:
    """The options of a Hongshi table, by type."""
    options = config.options
    assert isinstance(options, Options)
    return options
