"""What entrants made of a set: points a seat and deal, and nothing that the cards gave. docs/duplicate.md, "Sets".

full     everybody held every hand: the mean of an entrant's points over its seats of all games of the set
cross    an entrant held some hands once: its points less the mean of those who held the same at the other tables of
         the board. Where there is no other table, its points as they are

Points are counted so that more is better (CM-7.2). A set counts when all its games have a result.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from .model import Game, Result

Meeting: TypeAlias = "tuple[int, int]"  # round and encounter in it, from 0


@dataclass(frozen=True, slots=True)
class SetScore:
    """A set of one encounter. `number` of its board among those of the encounter, `values` by entrant of `encounter`;
    `games`: the same of each game alone, not freed of the cards, for comparison."""

    meeting: Meeting
    number: int
    encounter: tuple[int, ...]
    values: tuple[float, ...]
    games: tuple[tuple[float, ...], ...]

    def edge(self, one: int, other: int) -> float:
        """What entrant `one` made more than `other`."""
        place = self.encounter.index
        return self.values[place(one)] - self.values[place(other)]

    def edges(self) -> tuple[float, ...]:
        """What each made more than the mean of the others."""
        total, others = sum(self.values), len(self.values) - 1
        return tuple(own - (total - own) / others for own in self.values)


def full_set_id(meeting: Meeting, number: int) -> str:
    """`ROUND-ENCOUNTER-SET`, counted from 1."""
    return f"{meeting[0] + 1}-{meeting[1] + 1}-{number + 1}"


def cross_set_id(round_: int, number: int) -> str:
    """`ROUND-SET`, counted from 1: all tables of a board are one set."""
    return f"{round_ + 1}-{number + 1}"


def meeting_of(game: Game) -> tuple[Meeting, int]:
    """Which encounter a game belongs to and the set's number in it. Raises ValueError for a foreign set id."""
    parts = [int(part) - 1 for part in game.set_id.split("-")]
    if len(parts) == 3:
        return (parts[0], parts[1]), parts[2]
    if len(parts) == 2:
        return (parts[0], game.number), parts[1]
    raise ValueError(f"no set id: {game.set_id[:40]!r}")


def score_set(results: Sequence[Result], better: int) -> tuple[SetScore, ...]:
    """Of all results of a complete set: one score, or one for each table of a cross set. `better`: GameSpec.better."""
    ordered = sorted(results, key=lambda result: result.game.number)
    if ordered[0].game.set_id.count("-") == 1:
        return _cross(ordered, better)
    encounter = ordered[0].game.encounter
    meeting, number = meeting_of(ordered[0].game)
    games = tuple(_by_entrant(encounter, result.game, result.scores, better) for result in ordered)
    sums, seats = [0.0] * len(encounter), [0] * len(encounter)
    place = {entrant: where for where, entrant in enumerate(encounter)}
    for result in ordered:
        for entrant, score in zip(result.game.entrants, result.scores, strict=True):
            sums[place[entrant]] += score
            seats[place[entrant]] += 1
    values = tuple(better * total / count for total, count in zip(sums, seats, strict=True))
    return (SetScore(meeting, number, encounter, values, games),)


def _by_entrant(encounter: Sequence[int], game: Game, scores: Sequence[float], better: int) -> tuple[float, ...]:
    """The mean of each entrant's seats in one game; every entrant of an encounter sits in every game of it."""
    sums = dict.fromkeys(encounter, 0.0)
    seats = dict.fromkeys(encounter, 0)
    for entrant, score in zip(game.entrants, scores, strict=True):
        sums[entrant] += score
        seats[entrant] += 1
    return tuple(better * sums[entrant] / seats[entrant] for entrant in encounter)


def _cross(ordered: Sequence[Result], better: int) -> tuple[SetScore, ...]:
    """Against the others of the same seat."""
    tables = len(ordered)
    totals = [sum(column) for column in zip(*(result.scores for result in ordered), strict=True)]
    found = []
    for result in ordered:
        own, encounter = result.scores, result.game.encounter
        freed = own if tables == 1 else [a - (t - a) / (tables - 1) for a, t in zip(own, totals, strict=True)]
        meeting, number = meeting_of(result.game)
        plain = _by_entrant(encounter, result.game, own, better)
        values = _by_entrant(encounter, result.game, freed, better)
        found.append(SetScore(meeting, number, encounter, values, (plain,)))
    return tuple(found)


class SetBook:
    """Results, collected into sets until they are complete."""

    def __init__(self, better: int) -> None:
        self._better = better
        self._open: dict[str, dict[int, Result]] = defaultdict(dict)

    def add(self, result: Result) -> tuple[SetScore, ...]:
        """One more result; the scores of its set if it is complete by it."""
        game = result.game
        held = self._open[game.set_id]
        held[game.number] = result
        if len(held) < game.of:
            return ()
        del self._open[game.set_id]
        return score_set(tuple(held.values()), self._better)

    def partial(self) -> int:
        """Sets that have begun and do not count yet."""
        return len(self._open)


def set_scores(results: Iterable[Result], better: int) -> tuple[SetScore, ...]:
    """Of all complete sets, by meeting and number."""
    book = SetBook(better)
    found = [score for result in results for score in book.add(result)]
    return tuple(sorted(found, key=lambda score: (score.meeting, score.number)))


def by_pair(scores: Iterable[SetScore]) -> Iterator[tuple[tuple[int, int], float]]:
    """The difference of every two entrants in every set, lower number first."""
    for score in scores:
        for place, (one, own) in enumerate(zip(score.encounter, score.values, strict=True)):
            for other, theirs in zip(score.encounter[:place], score.values[:place], strict=True):
                yield ((one, other), own - theirs) if one < other else ((other, one), theirs - own)
