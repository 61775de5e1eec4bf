"""Random playout of Hongshi, with the legal actions listed at every move: moves a second, in one process.

python -m bench.engine_hongshi
"""

from __future__ import annotations

import statistics
import sys
import time
from random import Random

from kangtou_engine.cards import Cards
from kangtou_engine.game import TooMany
from kangtou_engine.registry import REGISTRY

GAME = REGISTRY.game("hongshi")
RUNS, ROUNDS, TARGET = 7, 250, 30_000


class Packs:
    """Packs from a plain generator: what is measured is the engine, not the checkable shuffle."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng

    def shuffle(self, pack: Cards, purpose: str, number: int) -> Cards:
        """See Chance."""
        cards = list(pack)
        self._rng.shuffle(cards)
        return tuple(cards)


def playout(seed: int, rounds: int = ROUNDS) -> tuple[int, float]:
    """Moves and seconds of one match."""
    rng = Random(seed)
    chance = Packs(rng)
    config = GAME.config({"rounds": rounds, "between": False})
    began = time.perf_counter()
    _, state = GAME.begin(config, chance)
    moves = 0
    while seats := GAME.to_act(state):
        seat = seats[0]
        legal = GAME.legal(state, seat)
        assert not isinstance(legal, TooMany)
        _, state = GAME.step(state, seat, legal[int(rng.random() * len(legal))], chance)
        moves += 1
    return moves, time.perf_counter() - began


def main() -> int:
    """The median of seven matches; exit code 1 if the target is missed."""
    playout(0, 10)
    runs = [playout(seed) for seed in range(1, RUNS + 1)]
    rates = [moves / seconds for moves, seconds in runs]
    median = statistics.median(rates)
    print(
        f"hongshi engine: {median:,.0f} moves/s random playout with legal listing "
        f"(median of {RUNS} runs of {runs[0][0]:,} moves; {min(rates):,.0f}–{max(rates):,.0f}; target {TARGET:,})"
    )
    return 0 if median >= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
