"""Formats and the schedule: what is played follows from spec and results, whatever the order and the restarts."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import pytest

from kangtou_services.tournament.fits import misfits
from kangtou_services.tournament.formats import Outcome, circle, movement
from kangtou_services.tournament.knock_out import bracket
from kangtou_services.tournament.model import Format, Game, Result, Spec, Stopping, Unit
from kangtou_services.tournament.schedule import SHARE, Schedule, next_games
from kangtou_services.tournament.swiss import pair, points_of

from ..conftest import Counts
from .made import Play, run, spec_of, strong

SEQUENTIAL = Stopping("sequential", 0.0, 20.0)
SKILL = (3.0, 1.0, 2.5, 0.0, 2.0, 0.5, 1.5, 2.2)
SPECS = {
    "round robin": spec_of(5, sets=3),
    "round robin of fours": spec_of(5, sets=2, table=4),
    "round robin, sequential": spec_of(4, sets=60, stopping=SEQUENTIAL, concurrency=8),
    "cross round robin": spec_of(5, "duizhu", sets=4, rotation="cross"),
    "cross movement": spec_of(8, sets=6, table=4, rotation="cross"),
    "swiss": spec_of(7, sets=2, format=Format.SWISS),
    "cross swiss": spec_of(6, sets=3, format=Format.SWISS, rotation="cross"),
    "knock-out": spec_of(6, sets=2, format=Format.KNOCK_OUT),
    "cross knock-out": spec_of(8, sets=2, format=Format.KNOCK_OUT, rotation="cross"),
    "gauntlet": spec_of(4, sets=3, format=Format.GAUNTLET),
    "ladder": spec_of(5, rounds=7, format=Format.LADDER),
}


def even(game: Game) -> Result:
    """Nobody is better."""
    return strong([0.0] * 8, noise=0)(game)


@pytest.mark.parametrize("name", SPECS)
@pytest.mark.parametrize("play", [strong(SKILL), even], ids=["strong", "even"])
def test_the_same_games_in_any_order(name: str, play: Play, counts: Counts) -> None:
    first, schedule = run(SPECS[name], play)
    games = {result.game.id: result.game for result in first}
    assert len(games) == len(first) == schedule.planned()
    for order in range(1, counts(3, 30)):
        others, _ = run(SPECS[name], play, order)
        assert {result.game.id: result.game for result in others} == games


@pytest.mark.parametrize("name", SPECS)
def test_resumed_from_the_log_alone(name: str) -> None:
    """At every moment a schedule built anew from the results says the same as the one that has run all the time."""
    spec, play = SPECS[name], strong(SKILL)
    results: list[Result] = []
    flying: list[Game] = []
    schedule, chance = Schedule(spec), random.Random(1)
    while not schedule.over:
        fresh = schedule.next(flying)
        if len(results) % 7 == 0:
            again = list(results)
            chance.shuffle(again)
            assert next_games(spec, again, flying) == fresh
        flying += fresh
        results.append(play(flying.pop(chance.randrange(len(flying)))))
        schedule.add(results[-1])
    assert next_games(spec, results, []) == []


@pytest.mark.parametrize("name", SPECS)
def test_boards_are_new_and_shares_bounded(name: str) -> None:
    spec = SPECS[name]
    results, _ = run(spec, strong(SKILL))
    boards = {result.game.set_id: result.game.board for result in results}
    assert len(set(boards.values())) == len(boards), "every set has a board of its own"
    for set_id, board in boards.items():
        of = {result.game.of for result in results if result.game.set_id == set_id}
        assert of == {sum(result.game.set_id == set_id for result in results)}, (set_id, board)
    if spec.rotation == "cross":
        seen = Counter((result.game.board, who) for result in results for who in set(result.game.entrants))
        assert set(seen.values()) == {1}, "nobody sees a board twice"
    busy = Counter(entrant for game in Schedule(spec).next([]) for entrant in game.encounter)
    assert max(busy.values()) <= -(-SHARE * spec.concurrency * spec.table // len(spec.entrants))


def test_circle() -> None:
    for count in range(2, 12):
        rounds = circle(count)
        assert len(rounds) == count - 1 + count % 2
        met = Counter(tuple(sorted(pair)) for one in rounds for pair in one)
        assert met == Counter(itertools.combinations(range(count), 2))
        assert all(len(set(sum(one, ()))) == 2 * len(one) for one in rounds)


@pytest.mark.parametrize(("count", "size"), [(8, 4), (9, 4), (12, 4), (13, 4), (10, 3), (12, 6)])
def test_movement_puts_everybody_everywhere(count: int, size: int) -> None:
    seats = Counter(
        (who, seat) for n in range(count) for table in movement(count, size, n) for seat, who in enumerate(table)
    )
    assert set(seats.values()) == {count // size}
    assert len(seats) == count * size
    met = {
        frozenset(two)
        for n in range(4 * count)
        for table in movement(count, size, n)
        for two in itertools.combinations(table, 2)
    }
    assert len(met) > 0.6 * count * (count - 1) / 2, "most have met"


def test_swiss_pairs_equals_without_rematches() -> None:
    chance = random.Random(3)
    for count in (6, 7, 16, 33):
        history: list[list[Outcome]] = []
        for _ in range(min(5, count - 2)):
            pairs = pair(points_of(history, count), history)
            assert len({who for two in pairs for who in two}) == 2 * (count // 2)
            history.append([Outcome(two, (edge, -edge), 1) for two in pairs for edge in (chance.choice((-1, 0, 1)),)])
        met = Counter(frozenset(one.encounter) for outcomes in history for one in outcomes)
        assert set(met.values()) == {1}
        byes = Counter(
            who for outcomes in history for who in set(range(count)) - {e for o in outcomes for e in o.encounter}
        )
        assert not byes or max(byes.values()) == 1


def test_swiss_goes_on_when_everybody_has_met() -> None:
    history = [[Outcome((0, 1), (1.0, -1.0), 1)]]
    assert sorted(pair(points_of(history, 2), history)[0]) == [0, 1]


def test_bracket_keeps_the_best_apart() -> None:
    assert bracket(8) == (0, 7, 3, 4, 1, 6, 2, 5)
    assert bracket(5) == (0, -1, 3, 4, 1, -1, 2, -1)


def test_knock_out_of_equals_goes_to_the_seed_after_replays() -> None:
    results, schedule = run(SPECS["knock-out"], even)
    assert schedule.ranking()[0] == (3.0,)
    played = Counter(result.game.set_id.rsplit("-", 1)[0] for result in results)
    assert set(played.values()) == {(2 + 3) * 6}, "two sets and three replays of six games"


def test_the_best_wins() -> None:
    for name in ("swiss", "knock-out"):
        ranking = run(SPECS[name], strong(SKILL, noise=1))[1].ranking()
        assert max(range(len(ranking)), key=lambda who: (ranking[who], -who)) == 0


def test_sequential_stops_early_and_only_where_it_is_clear() -> None:
    spec: Spec = SPECS["round robin, sequential"]
    results, schedule = run(spec, strong(SKILL))
    sets = Counter(score.encounter for score in schedule.scores)
    assert min(sets.values()) < spec.sets
    assert len(results) == 6 * sum(sets.values())


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        (spec_of(3, table=3), "table"),
        (spec_of(3, "duizhu", table=3), "table"),
        (spec_of(3, unit=Unit.PAIR), "unit"),
        (spec_of(4, table=4, format=Format.SWISS), "table"),
        (spec_of(1), "entrants"),
        (spec_of(3, options={"cut": True}), "options.cut"),
        (spec_of(3, options={"rounds": 0}), "rounds"),
        (spec_of(3, "chess"), "game"),
        (spec_of(3, rotation="twice"), "rotation"),
        (spec_of(3, stopping=Stopping("sequential", 2.0, 1.0)), "stopping.low"),
        (spec_of(40, table=4), "entrants"),
    ],
)
def test_misfits_are_named(spec: Spec, name: str) -> None:
    assert [one.name for one in misfits(spec)] == [name]


def test_what_fits() -> None:
    assert all(misfits(spec) == () for spec in SPECS.values())
