"""What is to be played next, from the spec and the results alone. docs/duplicate.md, "Schedule".

The set of games that a tournament plays is a function of its spec and of the games' results, never of the order in
which they came: an encounter plays its sets in batches, and whether it goes on is looked at only when a batch is
complete. So a runner that was killed goes on with exactly the same games.

    schedule = Schedule(spec); schedule.add(result) …; schedule.next(in_flight)

`next_games(spec, results, in_flight)` is the same in one call.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from kangtou_engine.registry import REGISTRY

from .formats import Encounter, Outcome, Round, fixed_rounds, is_fixed, next_round, ranking
from .knock_out import REPLAYS
from .model import Format, Game, Result, Spec
from .scores import Meeting, SetBook, SetScore, cross_set_id, full_set_id
from .sets import config_of, seatings
from .stats.sequential import decide, looks

SHARE = 2.0  # an entrant plays at most so many times its even share of the games at once


def next_games(spec: Spec, results: Iterable[Result], in_flight: Iterable[Game], most: int | None = None) -> list[Game]:
    """The games that may start now, in order; `in_flight` have started and have no result. Raises BadOptions."""
    schedule = Schedule(spec)
    for result in results:
        schedule.add(result)
    return schedule.next(in_flight, most)


@dataclass(slots=True)
class _Group:
    """Encounters that share boards: one of a full rotation, all of a round with cross sets.

    opened: sets whose games were given out; scores: by number, then by encounter; prefix: sets known without a gap.
    """

    round: int
    first: int  # the number of its first encounter in the round
    encounters: tuple[Encounter, ...]
    board: int
    stride: int
    opened: int = 0
    done: bool = False
    prefix: int = 0
    scores: dict[int, dict[Meeting, SetScore]] = field(default_factory=dict)

    def complete(self) -> bool:
        """Whether all sets that were given out have counted."""
        while self.prefix in self.scores:
            self.prefix += 1
        return self.prefix >= self.opened

    def meetings(self) -> tuple[Meeting, ...]:
        """Of its encounters."""
        return tuple((self.round, self.first + place) for place in range(len(self.encounters)))

    def values(self, meeting: Meeting) -> list[SetScore]:
        """The sets of one of its encounters, in order."""
        return [self.scores[number][meeting] for number in range(self.opened)]


class Schedule:
    """The state of a tournament as far as it matters for what comes next. Raises BadOptions for a bad spec."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.config = config_of(spec)
        self._better = REGISTRY.game(spec.game).spec.better
        self._cross = spec.rotation == "cross"
        self._book = SetBook(self._better)
        self._seen: set[str] = set()
        self._queue: dict[str, Game] = {}
        self._rounds: list[list[_Group]] = []
        self._groups: dict[Meeting, _Group] = {}
        self._boards = 0
        self._over = False
        self._scores: list[SetScore] = []
        self._early: list[SetScore] = []
        if is_fixed(spec):
            for encounters in fixed_rounds(spec, self.config.seats):
                self._open_round(encounters)
        self._advance()

    # ---- what was played ----

    def add(self, result: Result) -> None:
        """A game's result; a repeat changes nothing."""
        if result.game.id in self._seen:
            return
        self._seen.add(result.game.id)
        self._queue.pop(result.game.id, None)
        scores = self._book.add(result)
        self._scores += scores
        for score in scores:
            self._note(score)
        group = self._groups.get(scores[0].meeting) if scores else None
        if group and group.complete():
            self._advance()

    @property
    def over(self) -> bool:
        """Whether everything that is to be played has a result."""
        return self._over and not self._queue

    @property
    def scores(self) -> tuple[SetScore, ...]:
        """Of all complete sets, by meeting and number."""
        return tuple(sorted(self._scores, key=lambda score: (score.meeting, score.number)))

    def planned(self) -> int:
        """How many games there will be, as far as that is known: sequential tests and ties may change it."""
        games = 0
        for group in (group for groups in self._rounds for group in groups):
            size = len(group.encounters) if self._cross else self._size(group.encounters[0])
            games += size * (group.opened if group.done else max(group.opened, self._sets()))
        return games

    # ---- what comes next ----

    def next(self, in_flight: Iterable[Game], most: int | None = None) -> list[Game]:
        """The games that may start now beside those: `most` at once (the spec's concurrency), and no entrant in more
        than SHARE times its even share of them."""
        flying = {game.id: game for game in in_flight if game.id not in self._seen}
        limit = self.spec.concurrency if most is None else most
        share = max(1, math.ceil(SHARE * limit * self.spec.table / len(self.spec.entrants)))
        busy = [0] * len(self.spec.entrants)
        for game in flying.values():
            for entrant in game.encounter:
                busy[entrant] += 1
        found: list[Game] = []
        for game in self._queue.values():
            if len(flying) + len(found) >= limit:
                break
            if game.id not in flying and all(busy[entrant] < share for entrant in game.encounter):
                found.append(game)
                for entrant in game.encounter:
                    busy[entrant] += 1
        return found

    def outcomes(self) -> list[list[Outcome]]:
        """Of the rounds that are complete, in order: what formats decide by."""
        return [
            [outcome for group in groups for outcome in self._outcomes(group)]
            for groups in self._rounds
            if all(group.done for group in groups)
        ]

    def ranking(self) -> tuple[tuple[float, ...], ...]:
        """By entrant, see formats.ranking."""
        return ranking(self.spec, self.outcomes())

    # ---- inside ----

    def _note(self, score: SetScore) -> None:
        group = self._groups.get(score.meeting)
        if group is None:
            self._early.append(score)  # results may be read in another order than they came
        else:
            group.scores.setdefault(score.number, {})[score.meeting] = score

    def _ratings(self) -> Mapping[int, float]:
        from .stats.strength import quick_ratings  # with scipy, which takes its time to load

        return quick_ratings(self._scores)

    def _sets(self) -> int:
        """How many sets an encounter has at most, without replays of ties."""
        movement = self._cross and self.spec.format is Format.ROUND_ROBIN and self.spec.table > 2
        return 1 if self.spec.format is Format.LADDER or movement else self.spec.sets

    def _open_round(self, encounters: Round) -> None:
        number, boards = len(self._rounds), self._sets() + REPLAYS * (self.spec.format is Format.KNOCK_OUT)
        if self._cross:
            groups = [_Group(number, 0, encounters, self._boards, 1)]
            self._boards += boards
        else:
            groups = [
                _Group(number, place, (encounter,), self._boards + place, len(encounters))
                for place, encounter in enumerate(encounters)
            ]
            self._boards += boards * len(encounters)
        self._rounds.append(groups)
        for group in groups:
            self._groups.update(dict.fromkeys(group.meetings(), group))
        early, self._early = self._early, []
        for score in early:
            self._note(score)

    def _advance(self) -> None:
        """Open what may be opened now."""
        fresh: list[Game] = []
        while True:
            for group in (group for groups in self._rounds for group in groups if not group.done):
                fresh += self._go_on(group)
            if is_fixed(self.spec) or not all(group.done for groups in self._rounds for group in groups):
                break
            ratings = self._ratings() if self.spec.format is Format.LADDER else {}
            encounters = next_round(self.spec, self.outcomes(), ratings)
            if encounters is None:
                break
            self._open_round(encounters)
        self._over = all(group.done for groups in self._rounds for group in groups)
        if fresh:
            queue = [*self._queue.values(), *(game for game in fresh if game.id not in self._seen)]
            self._queue = {game.id: game for game in sorted(queue, key=_order)}

    def _go_on(self, group: _Group) -> Iterator[Game]:
        """The games of the next batch of sets, none while the last one is not complete or when it is decided."""
        while group.complete() and not group.done:
            batch = self._batch(group)
            group.done = not batch
            for number in range(group.opened, group.opened + batch):
                yield from self._games(group, number)
            group.opened += batch

    def _batch(self, group: _Group) -> int:
        """How many sets come next; 0: it is decided."""
        most, opened = self._sets(), group.opened
        if opened < most:
            if opened and self._is_decided(group):
                return 0
            return min(most - opened, looks(self.spec.stopping, self._width(), opened))
        tied = self.spec.format is Format.KNOCK_OUT and any(one.winner() is None for one in self._outcomes(group))
        return 1 if tied and opened < most + REPLAYS else 0

    def _size(self, encounter: Encounter) -> int:
        return len(seatings(self.config, encounter, 0, False))

    def _width(self) -> int:
        """Games of one set of all encounters of the first round: a batch of more sets where that is few."""
        first = self._rounds[0]
        games = len(first[0].encounters) if self._cross else sum(self._size(group.encounters[0]) for group in first)
        return math.ceil(self.spec.concurrency / max(1, games))

    def _is_decided(self, group: _Group) -> bool:
        if self.spec.stopping.method == "none":
            return False
        for meeting, encounter in zip(group.meetings(), group.encounters, strict=True):
            scores = group.values(meeting)
            for place, one in enumerate(encounter):
                for other in encounter[:place]:
                    if decide([score.edge(one, other) for score in scores], self.spec.stopping) is None:
                        return False
        return True

    def _outcomes(self, group: _Group) -> list[Outcome]:
        found = []
        for meeting, encounter in zip(group.meetings(), group.encounters, strict=True):
            edges = [score.edges() for score in group.values(meeting)]
            mean = tuple(math.fsum(column) / len(edges) for column in zip(*edges, strict=True))
            found.append(Outcome(encounter, tuple(round(edge, 9) for edge in mean), len(edges)))
        return found

    def _games(self, group: _Group, number: int) -> Iterator[Game]:
        board = group.board + number * group.stride
        if self._cross:
            set_id = cross_set_id(group.round, number)
            for place, encounter in enumerate(group.encounters):
                seated = self._seated(encounter, number)
                yield Game(set_id, place, encounter, board, seated, len(group.encounters))
            return
        encounter = group.encounters[0]
        every = seatings(self.config, encounter, number, False)
        set_id = full_set_id((group.round, group.first), number)
        for place, seated in enumerate(every):
            yield Game(set_id, place, encounter, board, seated, len(every))

    def _seated(self, encounter: Encounter, number: int) -> tuple[int, ...]:
        """Of a cross board; the movement of a full table has said it already."""
        if self.spec.format is Format.ROUND_ROBIN and self.spec.table > 2:
            return encounter
        return seatings(self.config, encounter, number, True)[0]


def _order(game: Game) -> tuple[int, ...]:
    """Rounds in order; in them all encounters' first sets before all second ones, so that all get on alike."""
    parts = [int(part) for part in game.set_id.split("-")]
    return (parts[0], parts[-1], parts[1] if len(parts) == 3 else 0, game.number)
