"""The score of a round. WK-8.5 … WK-8.9, WK-9.6, WK-9.7, WK-10.10, WK-11.6 … WK-11.8.

A scoring is a function from how the round ended to the points that it gives; a variant names its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from ...cards import Seat


@dataclass(frozen=True, slots=True)
class RoundEnd:
    """How a round ended. `captured` and `left` (points in hands) are by seat, `caught` is the option. WK-14.12."""

    out: tuple[Seat, ...]
    captured: tuple[int, ...]
    left: tuple[int, ...]
    caught: str = "each20"

    @property
    def holders(self) -> tuple[Seat, ...]:
        """The seats that still have cards."""
        return tuple(seat for seat in range(len(self.captured)) if seat not in self.out)


@dataclass(frozen=True, slots=True)
class RoundPoints:
    """What it gives: `points` by side (by seat where every seat plays for itself), `gain` by seat."""

    ending: str
    points: tuple[int, ...]
    gain: tuple[int, ...]
    winner: tuple[Seat, ...]


RoundScore: TypeAlias = Callable[[RoundEnd], RoundPoints]

TRANSFER = {"double": 30, "single": 15, "even": 0}  # WK-8.7
FULL = 200  # WK-10.10


def _of_sides(ending: str, points: list[int], gains: tuple[int, int]) -> RoundPoints:
    """Each seat gains what its side does; the side with more points wins, equal is a draw. WK-8.9, WK-10.11."""
    best = max(points)
    winner = () if points[0] == points[1] else tuple(seat for seat in range(4) if points[seat % 2] == best)
    return RoundPoints(ending, tuple(points), (*gains, *gains), winner)


def _captured_less_left(end: RoundEnd) -> list[int]:
    """Points captured by a side's seats less those in their hands. WK-8.5, WK-8.6."""
    return [sum(end.captured[seat] - end.left[seat] for seat in (side, side + 2)) for side in (0, 1)]


def chengde_ending(out: tuple[Seat, ...]) -> str:
    """Which places the side of the first-out seat has. WK-8.7."""
    partner = (out[0] + 2) % 4
    if partner not in out:
        return "even"
    return "double" if out[1] == partner else "single"


def chengde_round(end: RoundEnd) -> RoundPoints:
    """WK-8.5 … WK-8.9."""
    points = _captured_less_left(end)
    ending = chengde_ending(end.out)
    first = end.out[0] % 2
    points[first] += TRANSFER[ending]  # WK-8.7, WK-8.8: always in full
    points[1 - first] -= TRANSFER[ending]
    return _of_sides(ending, points, (points[0], points[1]))


def liaoning_round(end: RoundEnd) -> RoundPoints:
    """WK-9.6, WK-9.7."""
    points = list(end.captured)
    points[end.out[0]] += 30
    for seat in end.holders:
        points[seat] -= 30 + end.left[seat]
    best = max(points)
    winner = tuple(seat for seat, own in enumerate(points) if own == best)
    return RoundPoints("last", tuple(points), tuple(points), winner)


def jiangnan_round(end: RoundEnd) -> RoundPoints:
    """WK-10.10, WK-10.11."""
    first = end.out[0]
    points = [0, 0]
    if end.out[1] == (first + 2) % 4:
        points[first % 2] = FULL
        return _of_sides("shutout", points, (points[0], points[1]))
    for seat in end.out:
        points[seat % 2] += end.captured[seat]
    for last in end.holders:
        points[first % 2] += end.captured[last]
        points[end.out[2] % 2] += end.left[last]
    return _of_sides("shared", points, (points[0], points[1]))


def jinzhou_round(end: RoundEnd) -> RoundPoints:
    """WK-11.6 … WK-11.8."""
    points = _captured_less_left(end)
    caught = end.holders
    if end.caught == "thirtyfifty":  # WK-14.12
        points[caught[0] % 2] -= 30 if len(caught) == 1 else 50
    else:
        points[end.out[0] % 2] += 20
        points[caught[0] % 2] -= 20 * len(caught)
    gain = (points[0] - points[1]) // 10
    return _of_sides("one" if len(caught) == 1 else "two", points, (gain, -gain))
