"""Whether the search bot beats greedy, and greedy beats random: duplicate sets, a sequential test. Issue 8, line 6.

    python -m bench.search_bots [--ms 10] [--minutes 25] [--fields WORD …]

Every set plays the same packs with the bots' seats exchanged (docs/tournaments.md). A comparison ends when the anytime
test of the tournaments decides, or when its share of the time is over; what is decided early leaves its time to those
after it. The search must win in hongshi, duizhu, erbaiwu with four and wushik chengde1; the others are reported.
A move's time is processor time of its thread, so that other programs on the machine count for little.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from itertools import count
from random import Random

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from bench._sets import LIMIT, SEED, TOURNAMENT, Field, fields, games_of
from kangtou_clients.bots.search import Budget, Memory, think
from kangtou_engine.actions import Action
from kangtou_engine.boards import board_name, board_seed, match_chance
from kangtou_engine.events import Event
from kangtou_engine.match.match import AnyState
from kangtou_engine.match.match import Game as Rules
from kangtou_engine.match.state import OVER
from kangtou_engine.registry import REGISTRY
from kangtou_services.tournament.model import Game, Result, Stopping
from kangtou_services.tournament.scores import score_set
from kangtou_services.tournament.sets import config_of
from kangtou_services.tournament.stats.sequential import bounds, decide

REQUIRED = ("duizhu", "wushik chengde1", "erbaiwu 4", "hongshi")  # those that take longest last
STOPPING = Stopping("sequential", low=0.0, high=0.02, alpha=0.05, beta=0.05)
WORKERS, RANDOM_S, OTHERS_S = 2, 20.0, 12.0


@dataclass(slots=True)
class Comparison:
    """What came of it: differences of sets, and the ms of the search's moves."""

    field: Field
    verdict: str = "undecided"
    edges: list[float] = dataclasses.field(default_factory=list)
    times: list[float] = dataclasses.field(default_factory=list)

    def line(self) -> str:
        """Mean difference a seat and deal with the test's 95 % confidence sequence."""
        low, high = bounds(self.edges, STOPPING.alpha)
        spent = np.array(self.times or [0.0])
        took = f"; ms a move {spent.mean():.1f}, p99 {np.quantile(spent, 0.99):.1f}" if self.times else ""
        mean = sum(self.edges) / max(1, len(self.edges))
        return (
            f"{self.field.bots[0]} {self.verdict} than {self.field.bots[1]} in {self.field.name}: "
            f"{mean:+.3f} ({low:+.3f} to {high:+.3f}) in {len(self.edges)} sets{took}"
        )


class Seat:
    """A bot at a seat: it sees what a client would, and the search remembers it."""

    def __init__(self, rules: Rules, seat: int, bot: str, before: AnyState) -> None:
        self.rules, self.seat, self.bot, self.view = rules, seat, bot, before
        self.memory = Memory(rules)
        self.times: list[float] = []

    def sees(self, events: tuple[Event, ...]) -> None:
        """Events as they are sent to it."""
        for event in events:
            shown = event.seen_by(self.seat)
            self.memory.saw(self.view, shown)
            self.view = self.rules.evolve(self.view, shown)

    def act(self, pick: Callable[[int], int]) -> Action:
        """Its move."""
        legal = self.rules.legal(self.view, self.seat, LIMIT)
        if not self.bot.startswith("search"):
            spec = self.rules.spec
            action: Action = (spec.greedy if self.bot == "greedy" else spec.random)(self.view, self.seat, legal, pick)
            return action
        budget = Budget.parse(self.bot.partition(":")[2])
        began = time.thread_time()
        action = think(self.rules, self.view, self.seat, legal, pick, self.memory.known, budget)
        self.times.append((time.thread_time() - began) * 1000)
        return action


def play(one: Field, game: Game) -> tuple[Result, list[float]]:
    """One match, and the times of the search's moves in ms."""
    rules, config = REGISTRY.game(one.game), config_of(one.spec())
    seed = board_seed(TOURNAMENT, SEED, game.board)
    chance = match_chance(game.id, board_name(TOURNAMENT, game.board), seed, ())
    pick = Random(f"{game.board}/{game.id}").randrange
    seats = [Seat(rules, place, one.bots[who], rules.before(config)) for place, who in enumerate(game.entrants)]
    events, state = rules.begin(config, chance)
    while True:
        for seat in seats:
            seat.sees(events)
        if state.phase == OVER:
            break
        acting = rules.to_act(state)[0]
        events, state = rules.step(state, acting, seats[acting].act(pick), chance)
    result = Result(game, game.id, state.sheet.scores, state.sheet.places or (), ("",) * config.seats)
    return result, [spent for seat in seats for spent in seat.times]


def play_set(one: Field, number: int) -> tuple[float, list[float]]:
    """What the first bot made more than the second in one set, a seat and deal."""
    played = [play(one, game) for game in games_of(one, number)]
    (score,) = score_set([result for result, _ in played], REGISTRY.game(one.game).spec.better)
    return score.edge(0, 1), [spent for _, times in played for spent in times]


def compare(pool: ProcessPoolExecutor, one: Field, seconds: float, told: Callable[[Comparison], None]) -> Comparison:
    """Sets until the test decides or the time is over."""
    found, until, numbers = Comparison(one), time.monotonic() + seconds, count()
    for edge, times in _sets(pool, one, numbers, until):
        found.edges.append(edge)
        found.times += times
        verdict = decide(found.edges, STOPPING)
        told(found)
        if verdict is not None:
            found.verdict = verdict
            break
    return found


def _sets(
    pool: ProcessPoolExecutor, one: Field, numbers: Iterator[int], until: float
) -> Iterator[tuple[float, list[float]]]:
    """Sets in the order of their numbers, so that no fast one is favoured; a few under way at once."""
    waiting: list[Future[tuple[float, list[float]]]] = []
    while True:
        while len(waiting) < 2 * WORKERS:
            waiting.append(pool.submit(play_set, one, next(numbers)))
        wait(waiting[:1], return_when=FIRST_COMPLETED)
        yield waiting.pop(0).result()
        if time.monotonic() > until:
            return


def plan(wanted: list[str], ms: int, until: float, now: Callable[[], float]) -> Iterator[tuple[Field, float]]:
    """What is compared, and the seconds that it may take as the clock stands: greedy with random first, then what must
    be won, then the rest. What is decided early leaves its time to those after it."""

    def chosen(bots: tuple[str, str]) -> list[Field]:
        return [one for one in fields(bots) if not wanted or any(word in one.name for word in wanted)]

    for one in chosen(("greedy", "random")):
        yield one, RANDOM_S
    searches = chosen((f"search:{ms}ms", "greedy"))
    must = sorted((one for one in searches if one.name in REQUIRED), key=lambda one: REQUIRED.index(one.name))
    others = [one for one in searches if one.name not in REQUIRED]
    for place, one in enumerate(must):
        yield one, (until - now() - OTHERS_S * len(others)) / (len(must) - place)
    for place, one in enumerate(others):
        yield one, (until - now()) / (len(others) - place)


def main(arguments: list[str] | None = None) -> int:
    """Prints a line for each comparison; exit code 1 if one that must be won was not."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ms", type=int, default=10, help="budget of the search for a move")
    parser.add_argument("--minutes", type=float, default=25.0, help="for all comparisons together")
    parser.add_argument("--fields", nargs="*", default=[], help="only these, by a part of the name")
    given = parser.parse_args(arguments)
    lost, began = 0, time.monotonic()
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    comparisons = plan(given.fields, given.ms, began + 60 * given.minutes, time.monotonic)
    required = 0
    with ProcessPoolExecutor(WORKERS) as pool, Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=None)
        for one, seconds in comparisons:

            def told(found: Comparison) -> None:
                bar.update(task, description=f"{found.field.name}: {len(found.edges)} sets")

            found = compare(pool, one, seconds, told)
            must = one.bots[1] == "random" or one.name in REQUIRED
            required += must
            lost += must and found.verdict != "better"
            print(found.line() + ("" if must else " (reported)"), flush=True)
    took = time.monotonic() - began
    print(f"{required - lost} of the comparisons that must be won were won, {lost} were not, in {took:.0f} s")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
