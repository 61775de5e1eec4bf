"""Tournaments whose results are made up: deterministic, whatever the order of the games."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Sequence
from typing import Any

from kangtou_services.tournament.model import Entrant, Game, Result, Spec
from kangtou_services.tournament.schedule import Schedule

Play = Callable[[Game], Result]


def spec_of(count: int, game: str = "hongshi", **more: Any) -> Spec:
    """A tournament of that many entrants."""
    return Spec("made", game, tuple(Entrant(f"e{number}", bot="greedy") for number in range(count)), **more)


def result_of(game: Game, scores: Sequence[int]) -> Result:
    """An ordinary end."""
    places = tuple(1 + sum(other > own for other in scores) for own in scores)
    return Result(game, f"m-{game.id}", tuple(scores), places, ("",) * len(scores), moves=50)


def strong(skill: Sequence[float], noise: int = 10, game: str = "made") -> Play:
    """Whoever has more skill scores more; the hand at a seat of a board is worth something too."""

    def play(one: Game) -> Result:
        chance = random.Random(hashlib.sha256(f"{game}/{one.id}".encode()).digest())
        cards = random.Random(one.board)
        hands = [cards.randint(-50, 50) for _ in one.entrants]
        scores = [
            round(10 * skill[who] + hand + chance.gauss(0, noise))
            for who, hand in zip(one.entrants, hands, strict=True)
        ]
        return result_of(one, scores)

    return play


def run(spec: Spec, play: Play, order: int = 0) -> tuple[list[Result], Schedule]:
    """Play a tournament to its end; `order` chooses which of the running games ends next."""
    schedule, chance = Schedule(spec), random.Random(order)
    flying: list[Game] = []
    results: list[Result] = []
    while not schedule.over:
        flying += schedule.next(flying)
        assert flying, "nothing runs, nothing may start, and it is not over"
        ended = flying.pop(chance.randrange(len(flying)))
        results.append(play(ended))
        schedule.add(results[-1])
    return results, schedule
