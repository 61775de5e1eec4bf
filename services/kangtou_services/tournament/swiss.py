"""Swiss: those with equal points meet, nobody meets anybody twice, an odd one out has a bye. docs/duplicate.md.

An encounter is worth 1 to who is ahead over its sets, ½ each if nobody is; a bye is worth 1, and nobody has a second
one while others have had none. Ties in the final table: Buchholz (the sum of the opponents' points), then the mean
difference, then the seeding.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .formats import History, Round

STEPS = 20_000  # of the search for a round without rematches; after that the best found so far with rematches


def rounds_for(count: int) -> int:
    """So many that one entrant alone can be without a loss."""
    return max(1, (count - 1).bit_length())


def points_of(history: History, count: int) -> list[float]:
    """Of each entrant after these rounds."""
    points = [0.0] * count
    for outcomes in history:
        seen = set()
        for outcome in outcomes:
            winner = outcome.winner()
            for entrant in outcome.encounter:
                seen.add(entrant)
                points[entrant] += 0.5 if winner is None else float(entrant == winner)
        for entrant in set(range(count)) - seen:
            points[entrant] += 1.0  # a bye
    return points


def ranking(history: History, count: int) -> tuple[tuple[float, ...], ...]:
    """(points, Buchholz) of each."""
    points = points_of(history, count)
    buchholz = [0.0] * count
    for outcomes in history:
        for outcome in outcomes:
            for entrant in outcome.encounter:
                buchholz[entrant] += sum(points[other] for other in outcome.encounter if other != entrant)
    return tuple(zip(points, buchholz, strict=True))


def pair(points: Sequence[float], history: History) -> Round:
    """The next round: from the top, each with the one half its score group further down, as far as that may be."""
    order = sorted(range(len(points)), key=lambda entrant: (-points[entrant], entrant))
    met, byes = _past(history, len(points))
    if len(order) % 2:
        out = min(reversed(order), key=lambda entrant: byes[entrant])
        order.remove(out)
    search = _Search(points, met)
    pairs = search.fill(order)
    return tuple(_turned(one, other, met) for one, other in (pairs if pairs is not None else search.anyhow(order)))


def _past(history: History, count: int) -> tuple[dict[tuple[int, int], int], list[int]]:
    """How often pairs have met and entrants had byes."""
    met: dict[tuple[int, int], int] = {}
    byes = [0] * count
    for outcomes in history:
        seen = set()
        for outcome in outcomes:
            one, other = sorted(outcome.encounter)
            met[one, other] = met.get((one, other), 0) + 1
            seen |= {one, other}
        for entrant in set(range(count)) - seen:
            byes[entrant] += 1
    return met, byes


def _turned(one: int, other: int, met: dict[tuple[int, int], int]) -> tuple[int, int]:
    played = sum(number for pair, number in met.items() if one in pair)
    return (one, other) if played % 2 == 0 else (other, one)


class _Search:
    """Depth first, best candidates first."""

    def __init__(self, points: Sequence[float], met: dict[tuple[int, int], int]) -> None:
        self._points = points
        self._met = met
        self._steps = 0

    def fill(self, order: Sequence[int]) -> list[tuple[int, int]] | None:
        """Pairs of all, without a rematch; None if there are none or the search is too long."""
        if not order:
            return []
        self._steps += 1
        if self._steps > STEPS:
            return None
        one, others = order[0], order[1:]
        for other in self._candidates(one, others):
            if self._times(one, other):
                continue
            rest = self.fill([entrant for entrant in others if entrant != other])
            if rest is not None:
                return [(one, other), *rest]
        return None

    def anyhow(self, order: Sequence[int]) -> list[tuple[int, int]]:
        """From the top, each with a candidate whom it has met least."""
        left, pairs = list(order), []
        while left:
            one = left.pop(0)
            other = min(self._candidates(one, left), key=lambda other: self._times(one, other))
            left.remove(other)
            pairs.append((one, other))
        return pairs

    def _candidates(self, one: int, others: Sequence[int]) -> list[int]:
        """Nearest in points first; in the own group those half of it away."""
        group = [other for other in others if self._points[other] == self._points[one]]
        ideal = (len(group) + 1) // 2 - 1 if group else 0
        place = {other: number for number, other in enumerate(others)}
        return sorted(
            others,
            key=lambda other: (abs(self._points[one] - self._points[other]), abs(place[other] - ideal), other),
        )

    def _times(self, one: int, other: int) -> int:
        return self._met.get((min(one, other), max(one, other)), 0)
