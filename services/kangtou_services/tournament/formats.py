"""Who meets whom: the formats, as functions of what was played before. docs/duplicate.md, "Formats".

A tournament is a sequence of rounds, a round a tuple of encounters. Round robin and gauntlet know all their rounds
beforehand (`fixed_rounds`); Swiss, knock-out and ladder draw each round from the outcomes of those before it
(`next_round`). Entrants are numbers from 0, in the order of the spec, which is the seeding.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

from . import knock_out, swiss
from .ladder import ladder_round
from .model import Format, Spec

Encounter: TypeAlias = "tuple[int, ...]"
Round: TypeAlias = "tuple[Encounter, ...]"


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an encounter ended: the mean by which each of its entrants was ahead of the others, over `sets` sets."""

    encounter: Encounter
    edges: tuple[float, ...]
    sets: int

    def winner(self) -> int | None:
        """Who is ahead of all others; None: nobody."""
        best = max(self.edges)
        leaders = [entrant for entrant, edge in zip(self.encounter, self.edges, strict=True) if edge == best]
        return leaders[0] if len(leaders) == 1 else None


History: TypeAlias = "Sequence[Sequence[Outcome]]"


def is_fixed(spec: Spec) -> bool:
    """Whether all rounds are known beforehand."""
    return spec.format in (Format.ROUND_ROBIN, Format.GAUNTLET)


def fixed_rounds(spec: Spec, seats: int) -> tuple[Round, ...]:
    """All rounds of a round robin or a gauntlet.

    With full sets one round has all encounters. With cross sets each round's encounters share its boards, so a round
    has everybody at one table at most.
    """
    count = len(spec.entrants)
    cross = spec.rotation == "cross"
    if spec.format is Format.GAUNTLET:
        pairs = tuple((0, other) for other in range(1, count))
        return tuple((pair,) for pair in pairs) if cross else (pairs,)
    if spec.table == 2:
        rounds = circle(count)
        return rounds if cross else (tuple(pair for one in rounds for pair in one),)
    if cross:
        return tuple(movement(count, spec.table, number) for number in range(spec.sets))
    return (tuple(combinations(range(count), spec.table)),)


def circle(count: int) -> tuple[Round, ...]:
    """Everybody meets everybody once: the first stays, the others move on by one. With an odd number one has a bye.

    The order within pairs alternates, so that nobody always plays the same direction of a cross board first.
    """
    ring = list(range(count)) + ([-1] if count % 2 else [])
    rounds = []
    for number in range(len(ring) - 1):
        half = len(ring) // 2
        pairs = list(zip(ring[:half], reversed(ring[half:]), strict=True))
        turned = [pair if (number + place) % 2 == 0 else pair[::-1] for place, pair in enumerate(pairs)]
        rounds.append(tuple(pair for pair in turned if -1 not in pair))
        ring = [ring[0], ring[-1], *ring[1:-1]]
    return tuple(rounds)


def movement(count: int, size: int, number: int) -> Round:
    """The tables of board `number` when as many entrants as seats meet: everybody moves on by one place a board.

    The places of the room are the seats of its tables, one after another, and those too many are byes. In every `count`
    boards (a lap) everybody has each place once, so sits at each seat equally often; those who are near in the ring
    meet. For each lap the ring is mixed anew, always in the same way.
    """
    lap, shift = divmod(number, count)
    ring = sorted(range(count), key=lambda entrant: _mixed(lap, entrant)) if lap else list(range(count))
    ring = ring[shift:] + ring[:shift]
    return tuple(tuple(ring[table * size : (table + 1) * size]) for table in range(count // size))


def _mixed(lap: int, entrant: int) -> bytes:
    return hashlib.sha256(f"{lap}/{entrant}".encode()).digest()


def next_round(spec: Spec, history: History, ratings: Mapping[int, float]) -> Round | None:
    """The round after these, None when there is none. `ratings`: strength estimates of those who have played."""
    count = len(spec.entrants)
    if spec.format is Format.SWISS:
        points = swiss.points_of(history, count)
        wanted = spec.rounds or swiss.rounds_for(count)
        return swiss.pair(points, history) if len(history) < wanted else None
    if spec.format is Format.KNOCK_OUT:
        return knock_out.next_round(count, history) or None
    if spec.rounds and len(history) >= spec.rounds:
        return None
    return ladder_round(count, spec.table, len(history), ratings)


def ranking(spec: Spec, history: History) -> tuple[tuple[float, ...], ...]:
    """By entrant what decides the final table before the mean difference does; a higher tuple is better."""
    count = len(spec.entrants)
    if spec.format is Format.SWISS:
        return swiss.ranking(history, count)
    if spec.format is Format.KNOCK_OUT:
        return knock_out.ranking(history, count)
    return ((),) * count
