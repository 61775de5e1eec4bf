"""Duplicate sets played in process by the engine: what the statistics of tournaments are measured on.

All chance follows from the board's number (the cards) and the game's id (the bots).
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from kangtou_engine.actions import Action
from kangtou_engine.boards import board_name, board_seed, match_chance
from kangtou_engine.game import GameSpec, Legal, Pick
from kangtou_engine.games.wushik.variants import ALL
from kangtou_engine.match.state import OVER
from kangtou_engine.registry import REGISTRY
from kangtou_services.tournament.model import Entrant, Game, Result, Spec
from kangtou_services.tournament.scores import SetScore, full_set_id, set_scores
from kangtou_services.tournament.sets import config_of, seatings

TOURNAMENT, SEED = "bench", bytes(32)
LIMIT = 200  # legal actions that a bot is shown, as in a prompt


@dataclass(frozen=True, slots=True)
class Field:
    """A game with its options, and who meets: built-in bots by name."""

    game: str
    seats: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)
    bots: tuple[str, ...] = ("greedy", "random")

    @property
    def name(self) -> str:
        """`wushik liaoning 3`."""
        return " ".join(filter(None, (self.game, str(self.options.get("variant", "")), str(self.seats or ""))))

    def spec(self) -> Spec:
        """As a tournament."""
        entrants = tuple(Entrant(f"{bot}-{number}", bot=bot) for number, bot in enumerate(self.bots))
        return Spec(self.name, self.game, entrants, seats=self.seats, options=self.options, table=len(self.bots))


def fields(bots: tuple[str, ...] = ("greedy", "random")) -> tuple[Field, ...]:
    """Every game, variant and number of seats."""
    found = [Field("hongshi", bots=bots), Field("duizhu", bots=bots)]
    found += [Field("erbaiwu", seats, bots=bots) for seats in (2, 3, 4, 5, 6)]
    found += [
        Field("wushik", seats if len(variant.seats) > 1 else 0, {"variant": name}, bots)
        for name, variant in ALL.items()
        for seats in variant.seats
    ]
    return tuple(found)


def policy(spec: GameSpec[Any], name: str) -> Callable[[Any, int, Legal, Pick], Action]:
    """`greedy`, `random`, or `sloppy30`: greedy, and in 30 of 100 moves random."""
    if name in ("greedy", "random"):
        return spec.greedy if name == "greedy" else spec.random
    share = int(name.removeprefix("sloppy"))

    def act(view: Any, seat: int, legal: Legal, pick: Pick) -> Action:
        return (spec.random if pick(100) < share else spec.greedy)(view, seat, legal, pick)

    return act


def play(one: Field, game: Game) -> Result:
    """One match."""
    spec = one.spec()
    rules, config = REGISTRY.game(one.game), config_of(spec)
    board = board_name(TOURNAMENT, game.board)
    chance = match_chance(game.id, board, board_seed(TOURNAMENT, SEED, game.board), ())
    pick: Pick = random.Random(f"{game.board}/{game.id}").randrange
    policies = [policy(rules.spec, one.bots[who]) for who in game.entrants]
    state, moves = rules.begin(config, chance)[1], 0
    while state.phase != OVER:
        seat = rules.to_act(state)[0]
        action = policies[seat](rules.view(state, seat), seat, rules.legal(state, seat, LIMIT), pick)
        state = rules.step(state, seat, action, chance)[1]
        moves += 1
    places = state.sheet.places or ()
    return Result(game, game.id, state.sheet.scores, places, ("",) * config.seats, moves)


def games_of(one: Field, number: int, boards: Sequence[int] | None = None) -> tuple[Game, ...]:
    """The games of a set: on one board, or (for comparison) each on a board of its own."""
    encounter = tuple(range(len(one.bots)))
    every = seatings(config_of(one.spec()), encounter, number, False)
    set_id = full_set_id((0, 0), number)
    return tuple(
        Game(set_id, place, encounter, number if boards is None else boards[place], seated, len(every))
        for place, seated in enumerate(every)
    )


def _chunk(one: Field, numbers: range, independent: bool) -> list[Result]:
    found = []
    for number in numbers:
        boards = range(1_000_000 + number * 100, 1_000_100 + number * 100) if independent else None
        found += [play(one, game) for game in games_of(one, number, boards)]
    return found


def play_sets(one: Field, count: int, independent: bool = False, workers: int = 2) -> tuple[SetScore, ...]:
    """So many sets; with `independent` every game of a set has another board."""
    results = list(_results(one, count, independent, workers))
    return set_scores(results, REGISTRY.game(one.game).spec.better)


def _results(one: Field, count: int, independent: bool, workers: int) -> Iterator[Result]:
    size = 25
    parts = [range(start, min(count, start + size)) for start in range(0, count, size)]
    if workers < 2:
        for part in parts:
            yield from _chunk(one, part, independent)
        return
    with ProcessPoolExecutor(workers) as pool:
        for found in pool.map(_chunk, [one] * len(parts), parts, [independent] * len(parts)):
            yield from found
