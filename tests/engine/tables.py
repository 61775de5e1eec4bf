"""What is tested: every option set of every registered game, and what the tests must know of a game.

That is in `tests/engine/<game>/facts.py`:

    OPTION_SETS    [(seats or None, options)]: every value of every option, every number of seats
    all_cards      every card of the pack, wherever it lies, of a full state from the deal on
    zero_sum       whether the scores add up as the book says
    public_facts   what the book calls public, from the full state
    candidates     may be left out: every action text that there could be for a small hand, None for a large one
    TABLE_ACTIONS  may be left out: actions of the table to try, legal or not
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol

import pytest

from kangtou_engine.cards import Cards
from kangtou_engine.chance import Chance
from kangtou_engine.match.match import Game
from kangtou_engine.registry import SPECS
from kangtou_engine.shuffle import SeededChance


class Facts(Protocol):
    """A game's facts module."""

    OPTION_SETS: Sequence[tuple[int | None, Mapping[str, object]]]

    def all_cards(self, state: Any) -> Cards:
        """See above."""
        ...

    def zero_sum(self, state: Any) -> bool:
        """See above."""
        ...

    def public_facts(self, state: Any) -> object:
        """See above."""
        ...


def facts_of(name: str) -> Facts:
    """The facts of a game family; fails the test, and says so, if there are none."""
    module = f"tests.engine.{name}.facts"
    try:
        found: Any = importlib.import_module(module)
    except ModuleNotFoundError:
        pytest.fail(f"{name} is registered but has no {module.replace('.', '/')}.py: see tests/engine/laws.py")
    lacking = [part for part in ("OPTION_SETS", "all_cards", "zero_sum", "public_facts") if not hasattr(found, part)]
    if lacking:
        pytest.fail(f"{module.replace('.', '/')}.py lacks {', '.join(lacking)}")
    return found  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True)
class Table:
    """A game with one agreement: what a test is run for."""

    game: Game
    facts: Facts
    seats: int | None
    options: Mapping[str, object]
    share: int  # how many such tables share the game's (or the variant's) count

    def __str__(self) -> str:
        said = ",".join(f"{key}={value}" for key, value in self.options.items())
        return (
            f"{self.game.spec.id}[{self.seats or ''}{':' if self.seats else ''}{said.replace(' ', '_') or 'default'}]"
        )


def tables() -> Iterator[Table]:
    """Every option set of every registered game (found without running its tests)."""
    for spec in SPECS:
        if importlib.util.find_spec(f"tests.engine.{spec.name}") is None or not _has_facts(spec.name):
            continue  # test_every_game_has_facts says so
        facts = facts_of(spec.name)
        sets = facts.OPTION_SETS
        for seats, options in sets:
            share = sum(other.get("variant") == options.get("variant") for _, other in sets)
            yield Table(Game(spec), facts, seats, options, share)


def _has_facts(name: str) -> bool:
    return importlib.util.find_spec(f"tests.engine.{name}.facts") is not None


def chance_of(seed: int) -> Chance:
    """A source of packs for one random match."""
    return SeededChance(f"test-{seed}", seed.to_bytes(32, "big"), ())


def pick_of(rng: Random) -> Callable[[int], int]:
    """A bot's chance."""
    return lambda n: int(rng.random() * n)


def options_for(table: Table, rng: Random) -> dict[str, object]:
    """The agreement, with one to three rounds unless it says how many."""
    return {"rounds": rng.randint(1, 3), **table.options}
