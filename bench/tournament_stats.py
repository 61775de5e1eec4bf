"""Time of the whole report over 100,000 games: sets, intervals, strengths, pairs, places, duplicate factor.

python -m bench.tournament_stats [--games 100000] [--runs 3]
"""

from __future__ import annotations

import argparse
import random
import statistics
import time

from kangtou_services.tournament.model import Entrant, Game, Result, Spec
from kangtou_services.tournament.report import report
from kangtou_services.tournament.schedule import Schedule

ENTRANTS = 10


def made(games: int) -> tuple[Spec, list[Result]]:
    """A round robin of that many games, with results that hands and skills go into."""
    encounters, size = ENTRANTS * (ENTRANTS - 1) // 2, 6
    entrants = tuple(Entrant(f"bot-{number}", bot="greedy") for number in range(ENTRANTS))
    sets = max(1, round(games / encounters / size))
    spec = Spec("speed", "hongshi", entrants, sets=sets, concurrency=encounters * size * sets)
    return spec, [_result(game) for game in Schedule(spec).next([], most=spec.concurrency)]


def _result(game: Game) -> Result:
    hands, chance = random.Random(game.board), random.Random(game.id)
    scores = tuple(who + hands.randint(-20, 20) + chance.randint(-10, 10) for who in game.entrants)
    places = tuple(1 + sum(other > own for other in scores) for own in scores)
    return Result(game, f"m-{game.id}", scores, places, ("",) * len(scores), 60)


def main() -> None:
    """Wall time and CPU time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--games", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=3)
    args = parser.parse_args()
    spec, results = made(args.games)
    walls, cpus = [], []
    for _ in range(args.runs):
        wall, cpu = time.perf_counter(), time.process_time()
        told = report(spec, results)
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
        assert told["games"]["counted"] == len(results)
    print(
        f"report of {len(results):,} games: {statistics.median(walls):.2f} s "
        f"(CPU {statistics.median(cpus):.2f} s, median of {args.runs})"
    )


if __name__ == "__main__":
    main()
