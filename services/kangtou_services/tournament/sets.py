"""Duplicate sets: which entrant sits where, in each game that is played on one board. docs/duplicate.md, "Sets".

A *pattern* says which of the k entrants of an encounter sits at each seat. It is played k times on a board; each time
everybody's seats go to the next entrant. So each holds every hand once, and the luck of the cards is gone from their
difference. A set is one pattern, k games, and the pattern changes from set to set through all that a game tells apart:

    fixed    the sides are seats: an entrant plays a whole side, and there is one pattern; or each seat is an entrant
             (table = seats), and everybody is everybody's partner in turn
    none     each seat for itself: every balanced pattern, so that everybody sits behind everybody
    hidden   the sides follow from the cards (hongshi): the same; but where entrants have copies, a set is all patterns
             on one board, six games of two entrants. With two on each side only one pattern in three puts copies of
             one entrant against those of the other; the others show nothing, whoever plays

More games on one board would be fair too, but as many on new boards say more: bench/duplicate.py measures it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import cache
from itertools import permutations
from typing import Any

from kangtou_engine.match.state import Config
from kangtou_engine.options import Value
from kangtou_engine.registry import REGISTRY

from .model import Spec, Unit

Pattern = tuple[int, ...]

FORCED: Mapping[str, Value] = {
    "cut": False,
    "between": False,
    "vote_end": False,
}  # whoever decides them changes the deals


class Sides(StrEnum):
    """How seats belong together."""

    FIXED = "fixed"
    HIDDEN = "hidden"
    NONE = "none"


def board_options(game: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a match on a board: the game's shortest fair match, what the tournament chose, what boards force.

    Raises BadOptions for an unknown game.
    """
    spec = REGISTRY.game(game).spec
    return {**spec.board, **options, **FORCED}


def config_of(spec: Spec) -> Config:
    """What all matches of a tournament are played by. Raises BadOptions."""
    return REGISTRY.game(spec.game).config(board_options(spec.game, spec.options), spec.seats or None)


def sides_of(config: Config) -> Sides:
    """What the game says of its seats."""
    spec = REGISTRY.game(config.game, config.version).spec
    if spec.sides(config):
        return Sides.FIXED
    return Sides.HIDDEN if spec.hidden_sides else Sides.NONE


def table_sizes(config: Config, unit: Unit) -> tuple[int, ...]:
    """How many entrants may meet at a table: two, as many as there are seats, and what divides them evenly."""
    if unit is Unit.PAIR:
        return (len(REGISTRY.game(config.game, config.version).spec.sides(config)),) if _fixed(config) else ()
    if _fixed(config):
        return (2, config.seats)
    return tuple(size for size in range(2, config.seats + 1) if size == 2 or config.seats % size == 0)


def _fixed(config: Config) -> bool:
    return sides_of(config) is Sides.FIXED


def patterns(config: Config, size: int) -> tuple[Pattern, ...]:
    """The patterns of sets of `size` entrants (0 … size-1 at each seat), in the order in which sets take them."""
    game = REGISTRY.game(config.game, config.version)
    sides = game.spec.sides(config)
    if sides and size == len(sides):
        seat_side = {seat: number for number, side in enumerate(sides) for seat in side}
        return (tuple(seat_side[seat] for seat in range(config.seats)),)
    return _balanced(config.seats, size)


@cache
def _balanced(seats: int, size: int) -> tuple[Pattern, ...]:
    """All ways to sit, numbers of seats as equal as may be, that are not another one with entrants moved on."""
    few, more = divmod(seats, size)
    found: set[Pattern] = set()
    for extra in permutations(range(size), more) if more else ((),):
        copies = [entrant for entrant in range(size) for _ in range(few + (entrant in extra))]
        found.update(_arrangements(copies))
    first = {min(_shifted(pattern, by, size) for by in range(size)) for pattern in found}
    return tuple(sorted(first, key=lambda pattern: (-_alternation(pattern), pattern)))


def _arrangements(copies: Sequence[int]) -> set[Pattern]:
    """All orders of a list with repeats; six seats at most, so 720 of them."""
    return set(permutations(copies))


def _alternation(pattern: Pattern) -> int:
    """How often neighbours differ: patterns that mix best come first, for tournaments of few sets."""
    return sum(own != pattern[place - 1] for place, own in enumerate(pattern))


def _shifted(pattern: Pattern, by: int, size: int) -> Pattern:
    return tuple((entrant + by) % size for entrant in pattern)


def arrangements(spec: Spec, encounter: Sequence[int], number: int = 0) -> tuple[tuple[int, ...], ...]:
    """The games of the set `number` (from 0) of an encounter: for each, the entrant at each seat.

    With `rotation` "cross" there is one: the boards of an encounter go through the seats one after another.
    """
    return seatings(config_of(spec), tuple(encounter), number, spec.rotation == "cross")


def seatings(config: Config, encounter: tuple[int, ...], number: int, cross: bool) -> tuple[tuple[int, ...], ...]:
    """The same of a configuration."""
    size = len(encounter)
    every = patterns(config, size)
    if cross:
        where = number // size % len(every)
        chosen, shifts = every[where : where + 1], range(number % size, number % size + 1)
    elif sides_of(config) is Sides.HIDDEN and size < config.seats:
        chosen, shifts = every, range(size)
    else:
        where = number % len(every)
        chosen, shifts = every[where : where + 1], range(size)
    return tuple(
        tuple(encounter[entrant] for entrant in _shifted(pattern, by, size)) for pattern in chosen for by in shifts
    )
