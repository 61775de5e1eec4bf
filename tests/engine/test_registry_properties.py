"""Random matches of every registered game, over all option sets, with all laws checked after every action.

A new line in `registry.py` is enough to have a game tested here; without `tests/engine/<game>/facts.py` it fails.
"""

from __future__ import annotations

from typing import Any

import pytest

from kangtou_engine.game import GameSpec
from kangtou_engine.registry import REGISTRY, SPECS
from tests.conftest import Counts
from tests.engine.laws import watch_match
from tests.engine.tables import Table, facts_of, tables

FULL = {"hongshi": 2_000, "wushik": 500}  # matches of a game (Wushik: of each variant) in a full run
FULL_OTHERS = 1_000
CI = 1  # of each option set

TABLES = tuple(tables())


@pytest.mark.parametrize("name", REGISTRY.names())
def test_every_game_has_facts(name: str) -> None:
    """What the tests below need to know of a game is in its facts."""
    facts = facts_of(name)
    assert facts.OPTION_SETS


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.id)
def test_option_sets_hold_every_value_of_every_option(spec: GameSpec[Any]) -> None:
    """Each named value of each option is played, or said by default."""
    name = spec.name
    sets = facts_of(name).OPTION_SETS
    for row in spec.option_rows:
        played = {repr(options.get(row.name, row.default)) for _, options in sets}
        lacking = [word for word in row.words if repr(word) not in played]
        assert not lacking, f"{name}: {row.name}: {lacking} in no option set"


@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("table", TABLES, ids=str)
def test_laws_hold_in_random_matches(table: Table, counts: Counts) -> None:
    """Conservation, zero sum, folds, views, legality, refusals, round trips, replay."""
    full = FULL.get(table.game.spec.name, FULL_OTHERS)
    for seed in range(counts(CI, -(-full // table.share))):
        watch_match(table, seed)
