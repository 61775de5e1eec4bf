"""Random playout of Hongshi, with the legal actions listed at every move: moves a second, in one process.

    python -m bench.engine_hongshi

Where RLCard or OpenSpiel are installed, their dou dizhu (the nearest game they have) is played in the same way, in
turn with Hongshi, and the ratios are shown. The target is measured in processor time, so that other programs on the
machine count for little; moves by the clock are shown beside it.
"""

from __future__ import annotations

import importlib
import importlib.util
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from kangtou_engine.cards import Cards
from kangtou_engine.game import TooMany
from kangtou_engine.registry import REGISTRY

GAME = REGISTRY.game("hongshi")
RUNS, ROUNDS, TARGET = 7, 250, 30_000


@dataclass(frozen=True, slots=True)
class Run:
    """One run: moves, seconds by the clock, seconds of processor time."""

    moves: int
    clock: float
    processor: float


class Packs:
    """Packs from a plain generator: what is measured is the engine, not the checkable shuffle."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng

    def shuffle(self, pack: Cards, purpose: str, number: int) -> Cards:
        """See Chance."""
        cards = list(pack)
        self._rng.shuffle(cards)
        return tuple(cards)


def hongshi(seed: int, rounds: int = ROUNDS) -> int:
    """Moves of one match."""
    rng = Random(seed)
    chance = Packs(rng)
    _, state = GAME.begin(GAME.config({"rounds": rounds, "between": False}), chance)
    moves = 0
    while seats := GAME.to_act(state):
        seat = seats[0]
        legal = GAME.legal(state, seat)
        assert not isinstance(legal, TooMany)
        _, state = GAME.step(state, seat, legal[int(rng.random() * len(legal))], chance)
        moves += 1
    return moves


def open_spiel(seed: int, deals: int = 1_000) -> int:
    """Moves of some deals of OpenSpiel's dou dizhu (C++ behind Python calls)."""
    pyspiel: Any = importlib.import_module("pyspiel")
    game, rng, moves = pyspiel.load_game("dou_dizhu"), Random(seed), 0
    for _ in range(deals):
        state = game.new_initial_state()
        while not state.is_terminal():
            legal = state.legal_actions()
            moves += not state.is_chance_node()
            state.apply_action(legal[int(rng.random() * len(legal))])
    return moves


def rlcard(seed: int, deals: int = 30) -> int:
    """Moves of some deals of RLCard's dou dizhu (Python)."""
    env: Any = importlib.import_module("rlcard").make("doudizhu", config={"seed": seed})
    rng, moves = Random(seed), 0
    for _ in range(deals):
        state, _ = env.reset()
        while not env.is_over():
            legal = list(state["legal_actions"])
            state, _ = env.step(legal[int(rng.random() * len(legal))])
            moves += 1
    return moves


PEERS = {"OpenSpiel dou_dizhu": ("pyspiel", open_spiel), "RLCard doudizhu": ("rlcard", rlcard)}


def measure(play: Callable[[int], int], seed: int) -> Run:
    """One run with this seed."""
    clock, processor = time.perf_counter(), time.process_time()
    moves = play(seed)
    return Run(moves, time.perf_counter() - clock, time.process_time() - processor)


def rates(runs: list[Run]) -> list[float]:
    """Moves by processor time."""
    return [run.moves / run.processor for run in runs]


def main() -> int:
    """The medians of seven runs each, in turn; exit code 1 if the target is missed."""
    peers = {name: play for name, (module, play) in PEERS.items() if importlib.util.find_spec(module)}
    hongshi(0, 10)
    own: list[Run] = []
    others: dict[str, list[Run]] = {name: [] for name in peers}
    for seed in range(1, RUNS + 1):
        own.append(measure(hongshi, seed))
        for name, play in peers.items():
            others[name].append(measure(play, seed))
    rate = statistics.median(rates(own))
    clock = statistics.median(run.moves / run.clock for run in own)
    print(
        f"hongshi engine: {rate:,.0f} moves/s random playout with legal listing (median of {RUNS} runs of about "
        f"{own[0].moves:,} moves, {min(rates(own)):,.0f}–{max(rates(own)):,.0f}; by the clock {clock:,.0f}; "
        f"target {TARGET:,})"
    )
    for name, runs in others.items():
        ratios = sorted(mine / other for mine, other in zip(rates(own), rates(runs), strict=True))
        print(
            f"  {name}: {statistics.median(rates(runs)):,.0f} moves/s; "
            f"hongshi is {statistics.median(ratios):.2f} times as fast ({ratios[0]:.2f}–{ratios[-1]:.2f})"
        )
    for name in PEERS.keys() - peers.keys():
        print(f"  {name}: not installed")
    return 0 if rate >= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
