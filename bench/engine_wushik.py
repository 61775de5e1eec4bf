"""Wushik: random playout with a listing limit of 200, listings with the book's limit, recognising a play.

python -m bench.engine_wushik [--hands 10000] [--moves 3000]
"""

from __future__ import annotations

import argparse
import gc
import random
import statistics
import time
from collections.abc import Callable
from typing import Any

from kangtou_engine.cards import Cards, in_order
from kangtou_engine.game import TooMany
from kangtou_engine.games.wushik import GAME
from kangtou_engine.games.wushik.rules import readings_of, rules_of
from kangtou_engine.games.wushik.variants import ALL
from kangtou_engine.match.match import Game
from kangtou_engine.shuffle import SeededChance

WUSHIK = Game(GAME)
RUNS = 7
BOOK_LIMIT = 2000  # WK-7.5
TWO_DECKS = tuple(name for name, variant in ALL.items() if len(variant.pack) > 54)


def playout(variant: str, moves: int, seed: int, limit: int = 200) -> float:
    """Moves a second of a random playout that lists the legal actions of every move."""
    chance = SeededChance(f"bench-{seed}", bytes(32), ())
    pick = random.Random(seed).randrange
    config = WUSHIK.config({"variant": variant, "between": False, "rounds": 1000, "target": 0})
    state = WUSHIK.begin(config, chance)[1]
    begun = time.perf_counter()
    for _ in range(moves):
        seat = WUSHIK.to_act(state)[0]
        action = GAME.random(state, seat, WUSHIK.legal(state, seat, limit), pick)
        state = WUSHIK.step(state, seat, action, chance)[1]
    return moves / (time.perf_counter() - begun)


def random_hand(config: Any, chance: random.Random) -> Cards:
    """A hand as dealt, or what is left of one."""
    pack = GAME.pack(config)
    full = len(pack) // config.seats
    size = full if chance.random() < 0.5 else chance.randrange(1, full + 1)
    return in_order(chance.sample(pack, size))


def positions(count: int) -> list[Any]:
    """Two-deck hands that lead, or follow a play of another random hand."""
    chance = random.Random(7)
    found = []
    for number in range(count):
        variant = TWO_DECKS[number % len(TWO_DECKS)]
        config = WUSHIK.config({"variant": variant})
        hand = random_hand(config, chance)
        start: dict[str, Any] = {"phase": "play", "hands": [" ".join(hand), "C3", "C4", "C5"], "to_act": 0}
        if chance.random() < 0.5:
            other = GAME.cases.position(
                WUSHIK.before(config),
                {"phase": "play", "hands": [" ".join(random_hand(config, chance)), "C3", "C4", "C5"], "to_act": 0},
            )
            action = GAME.random(other, 0, TooMany("WK-7.5", "any_lead"), chance.randrange)
            start["trick"] = {"by": 3, "cards": " ".join(action.args)}
        found.append(GAME.cases.position(WUSHIK.before(config), start))
    return found


def timed(call: Callable[[], object]) -> float:
    """Milliseconds of one call."""
    begun = time.perf_counter()
    call()
    return 1000 * (time.perf_counter() - begun)


def listings(count: int) -> None:
    """Worst and typical time of a listing, and how many hands have too many plays."""
    states = positions(count)
    gc.collect()
    gc.disable()
    times, many, longest = [], 0, 0.0
    for state in states:
        begun = time.perf_counter()
        legal = WUSHIK.legal(state, 0, BOOK_LIMIT)
        times.append(1000 * (time.perf_counter() - begun))
        many += isinstance(legal, TooMany)
        if not isinstance(legal, TooMany) and len(legal) > 1000:
            longest = max(longest, times[-1])
    gc.enable()
    times.sort()
    print(f"listing, limit {BOOK_LIMIT}, {count} two-deck hands ({100 * many / count:.0f} % too many):")
    print(
        f"  median {statistics.median(times):.3f} ms, 99 % {times[int(0.99 * count)]:.2f} ms, worst {times[-1]:.1f} ms"
    )


def recognising() -> None:
    """Microseconds for one play, of plays of all kinds and of cards that are none."""
    for variant in ALL:
        config = WUSHIK.config({"variant": variant})
        rules, chance = rules_of(config.options), random.Random(3)
        plays = []
        for number in range(2000):
            hand = random_hand(config, chance)
            state = GAME.cases.position(
                WUSHIK.before(config), {"phase": "play", "hands": [" ".join(hand), "C3", "C4", "C5"], "to_act": 0}
            )
            action = GAME.random(state, 0, TooMany("WK-7.5", "any_lead"), chance.randrange)
            cards = action.args if number % 4 else in_order(chance.sample(hand, min(5, len(hand))))
            plays.append(cards)
        runs = [timed(lambda: [readings_of(rules, cards) for cards in plays]) for _ in range(RUNS)]  # noqa: B023
        slowest = max(min(timed(lambda: readings_of(rules, cards)) for _ in range(3)) for cards in plays)  # noqa: B023
        print(f"recognising, {variant}: {statistics.median(runs) / 2:.1f} µs a play, slowest {1000 * slowest:.0f} µs")


def main() -> None:
    """All figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hands", type=int, default=10_000)
    parser.add_argument("--moves", type=int, default=3_000)
    args = parser.parse_args()
    for variant in ALL:
        rates = [playout(variant, args.moves, seed) for seed in range(RUNS)]
        print(f"random playout, {variant}: {statistics.median(rates):,.0f} moves/s (median of {RUNS})")
    listings(args.hands)
    recognising()


if __name__ == "__main__":
    main()
