"""Erbaiwu, engine only: random playout with legal listing, and the longest list (both jokers in hand).

    python -m bench.engine_erbaiwu [seconds]

Prints the median of 7 runs each.
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

from kangtou_engine.cards import parse_cards
from kangtou_engine.cases import start_of
from kangtou_engine.game import TooMany
from kangtou_engine.games.erbaiwu import GAME
from kangtou_engine.match.match import AnyState, Game
from kangtou_engine.match.state import OVER
from kangtou_engine.shuffle import SeededChance

RUNS = 7
# Both jokers and as many different ranks as a hand has room for: the most names to choose from.
WORST_HANDS = (
    "BJ RJ SA H2 C3 S4 H5",
    "BJ RJ S8 H8 C8 S6 H6",
    "BJ RJ S6 H6 C6 D6 S8 H8",
    "BJ RJ SA S2 S3 S4 S5 S6 S8 S9 ST SJ SQ SK HA H2",
)


def playout(game: Game, chance: SeededChance, seats: int, rng: random.Random) -> int:
    """One match of random actions, every list of legal actions made; the number of actions."""
    config = game.config({"rounds": 6, "limit": 0}, seats)
    _, state = game.begin(config, chance)
    moves = 0
    while state.phase != OVER:
        seat = game.to_act(state)[0]
        legal = game.legal(state, seat)
        assert not isinstance(legal, TooMany)
        _, state = game.step(state, seat, legal[int(rng.random() * len(legal))], chance)
        moves += 1
    return moves


def rate(game: Game, run: int, seconds: float) -> tuple[float, float]:
    """Moves a second over matches of all numbers of seats, and moves a second of processor time."""
    rng = random.Random(run)
    moves, number, start, worked = 0, 0, time.perf_counter(), time.process_time()
    while (spent := time.perf_counter() - start) < seconds:
        chance = SeededChance(f"bench-{run}-{number}", bytes(32), ())
        moves += playout(game, chance, 2 + number % 5, rng)
        number += 1
    return moves / spent, moves / (time.process_time() - worked)


def worst_position(game: Game, hand: str) -> AnyState:
    """A turn with this hand, three runs and two sets on the table."""
    cards = parse_cards(hand)
    runs = {"D": "D7", "C": "C7", "H": "H7"}
    sets = [trio for trio in ("SJ HJ CJ", "SQ HQ CQ") if not set(parse_cards(trio)) & set(cards)]
    start: dict[str, Any] = {"phase": "turn", "hands": [hand, "", ""], "runs": runs, "sets": sets}
    return start_of(game, {"id": hand, "seats": 3, "start": start})[0]


def milliseconds(act: Callable[[], object], times: int = 200) -> float:
    """The time of one call."""
    start = time.perf_counter()
    for _ in range(times):
        act()
    return (time.perf_counter() - start) / times * 1000


def main(seconds: float = 2.0) -> None:
    """Measure and print."""
    game = Game(GAME)
    rates, worked = zip(*(rate(game, run, seconds) for run in range(RUNS)), strict=True)
    low, high = min(rates), max(rates)
    print(f"random playout, 2-6 seats: {statistics.median(rates):,.0f} moves/s ({low:,.0f} to {high:,.0f}),")
    print(f"  {statistics.median(worked):,.0f} a second of processor time")
    for hand in WORST_HANDS:
        state = worst_position(game, hand)
        length = len(game.legal(state, 0))  # type: ignore[arg-type]
        times = [milliseconds(lambda state=state: game.legal(state, 0)) for _ in range(RUNS)]  # type: ignore[misc]
        print(f"legal() of {hand}: {length} actions, {statistics.median(times):.3f} ms")


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
