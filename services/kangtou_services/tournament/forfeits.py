"""What a fault costs. docs/duplicate.md, "Faults and forfeits".

A match is ended when an entrant has faulted; nobody can finish it fairly. Each seat of a faulting entrant gets a score
that no seat can have by playing, of the wrong sign; every other seat gets 0. So a side never gains by a fault: whatever
it would have had, it has less.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from kangtou_engine.match.state import Config
from kangtou_engine.registry import REGISTRY

# More than the most that a seat can lose in one round by any options that the books allow: HS-9.2 times HS-10.5;
# DZ-10.5; EB-9: sums of hands, each with EB-9.3, EB-13.9 and EB-13.10; WK-8.5, WK-8.7, WK-10.10 with two decks.
WORST_OF_ROUND = {"hongshi": 40, "duizhu": 2, "erbaiwu": 10_000, "wushik": 1_000}
WORST = 10_000  # of a round of any other game
ROUNDS_MOST = 100  # of a match that says no number


def penalty(config: Config) -> int:
    """What a seat of a faulting entrant gets for a match: a score worse than any."""
    spec = REGISTRY.game(config.game, config.version).spec
    rounds = int(getattr(config.options, "rounds", 0)) or ROUNDS_MOST
    of_round = WORST_OF_ROUND.get(config.game, WORST)
    return -spec.better * (of_round if spec.name == "duizhu" else of_round * rounds)


def forfeited(config: Config, entrants: Sequence[int], guilty: Collection[int]) -> tuple[int, ...]:
    """The scores by seat of a match in which these entrants have faulted."""
    worst = penalty(config)
    return tuple(worst if entrant in guilty else 0 for entrant in entrants)


def places(config: Config, scores: Sequence[int]) -> tuple[int, ...]:
    """Places by seat, from 1; equal scores share one. CM-7.2."""
    better = REGISTRY.game(config.game, config.version).spec.better
    return tuple(1 + sum(better * other > better * own for other in scores) for own in scores)
