"""Duizhu, engine only: random playout with legal listing and all windows, throws, the longest lists.

    python -m bench.engine_duizhu [seconds]

Prints the median of 7 runs each. Aims: 8,000 moves/s, a throw within 100 µs, a list within 5 ms.
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

from kangtou_engine.actions import Action, parse_action
from kangtou_engine.cases import start_of
from kangtou_engine.game import TooMany
from kangtou_engine.games.duizhu import GAME
from kangtou_engine.match.match import AnyState, Game
from kangtou_engine.match.state import OVER
from kangtou_engine.shuffle import SeededChance

RUNS = 7
TRUMPS_12 = "H3 H4 H5 H6 H7 H9 HT HJ S2 S8 BJ RJ"
SIDES = (
    "S3 S4 S5 S6 S7 S9 C3 C4 C5 C6 C7 C9",
    "ST SJ SQ SK SA CT CJ CQ CK CA D3 D4",
    "D5 D6 D7 D9 DT DJ DQ DK DA HQ HK HA",
)
Start = Mapping[str, Any]
LISTS: Mapping[str, tuple[int, Start]] = {
    "first lead, twelve trumps": (0, {"hands": [TRUMPS_12, *SIDES]}),
    "second lead, eleven trumps with a 嗡": (
        0,
        {"hands": ["H3 H4 H5 H6 H7 H9 S8 H8 C8 D8 RJ", "", "", ""], "tricks": 1},
    ),
    "six cards on a throw, no trump": (1, {"hands": ["", SIDES[1], "", ""], "trick": ["0 H3 H4 H5 H6 H7 H9"]}),
    "six cards on a throw, one trump": (
        1,
        {"hands": ["", "H3 " + SIDES[1][3:], "", ""], "trick": ["0 H4 H5 H6 H7 H9 HT"]},
    ),
    "four cards on a 嗡, one trump": (
        1,
        {"hands": ["", "HA SA CA DA S3 S4 S5 S6 S7 S9 ST", "", ""], "trick": ["0 SK HK CK DK"], "tricks": 1},
    ),
    "snatch, three cards": (
        0,
        {"phase": "snatch", "hands": (*SIDES, ""), "buried": "H3 H4 H5 S8 S2 D8", "snatchable": "H3 H4 H5"},
    ),
    "sink, two jokers": (2, {"phase": "sink", "hands": ["", "", "BJ RJ S3", ""], "buried": "H4 C4 D4 S4 H7 C7"}),
}
# A throw of five that stands: every hand is looked through; and one that fails at the last card of the last hand.
THROWS: Mapping[str, Start] = {
    "stands": {
        "hands": ["S9 ST SJ SQ SK SA C3", "S3 S4 S5 S6 S7 C4 C5", "D3 D4 D5 D6 D7 D9 DT", "H3 H4 H5 H6 H7 H9 HT"]
    },
    "fails": {"hands": ["S9 ST SJ SQ SK C3", "S3 S4 S5 S6 S7 C4", "D3 D4 D5 D6 D7 D9", "H3 H4 H5 H6 H7 SA"]},
}


def playout(game: Game, chance: SeededChance, rng: random.Random, declare: bool) -> int:
    """One match of random actions, every list that there is made; the number of actions."""
    _, state = game.begin(game.config({"rounds": 6}), chance)
    moves = 0
    while state.phase != OVER:
        seat = game.to_act(state)[0]
        legal = game.legal(state, seat)
        if isinstance(legal, TooMany):
            action = GAME.random(state, seat, legal, lambda n: int(rng.random() * n))
        else:
            action = legal[int(rng.random() * len(legal)) if declare or state.phase != "deal" else 0]
        _, state = game.step(state, seat, action, chance)
        moves += 1
    return moves


def rate(game: Game, run: int, seconds: float, declare: bool) -> float:
    """Moves a second."""
    rng = random.Random(run)
    moves, number, start = 0, 0, time.perf_counter()
    while (spent := time.perf_counter() - start) < seconds:
        moves += playout(game, SeededChance(f"bench-{run}-{number}", bytes(32), ()), rng, declare)
        number += 1
    return moves / spent


def position(game: Game, start: Start) -> AnyState:
    """Dealer 0, level 8, hearts are trumps."""
    filled = {"phase": "play", "dealer": 0, "levels": ["8", "8"], "trump": "H", "round": 2, **start}
    return start_of(game, {"id": "bench", "start": filled})[0]


def microseconds(act: Callable[[], object], times: int) -> float:
    """The time of one call, median of the runs."""
    found = []
    for _ in range(RUNS):
        start = time.perf_counter()
        for _ in range(times):
            act()
        found.append((time.perf_counter() - start) / times * 1e6)
    return statistics.median(found)


def main(seconds: float = 2.0) -> None:
    """Measure and print."""
    game = Game(GAME)
    for declare, said in ((True, "random playout"), (False, "the same, all 192 answers of each deal `wait`")):
        rates = [rate(game, run, seconds, declare) for run in range(RUNS)]
        print(f"{said}: {statistics.median(rates):,.0f} moves/s ({min(rates):,.0f} to {max(rates):,.0f})")
    for said, start in THROWS.items():
        state = position(game, start)
        action: Action = parse_action("play " + " ".join(card for card in state.game.hands[0] if card[0] == "S"))
        spent = microseconds(lambda state=state, action=action: game.check(state, 0, action), 2000)  # type: ignore[misc]
        print(f"a throw that {said}: decided in {spent:.1f} µs")
    for said, (seat, start) in LISTS.items():
        state = position(game, start)
        count = len(game.legal(state, seat))  # type: ignore[arg-type]
        spent = microseconds(lambda state=state, seat=seat: game.legal(state, seat), 50)  # type: ignore[misc]
        print(f"legal(), {said}: {count} actions, {spent / 1000:.3f} ms")


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
