"""Named house rules of every game: they can be played, and no two mean the same."""

from __future__ import annotations

import re

import pytest

from kangtou_engine.errors import BadOptions
from kangtou_engine.registry import REGISTRY

SETS = [(game, one) for game in REGISTRY.names() for one in REGISTRY.game(game).spec.rule_sets]


@pytest.mark.parametrize(("game", "rules"), SETS, ids=[f"{game}-{one.name}" for game, one in SETS])
def test_a_set_can_be_played(game: str, rules: object) -> None:
    found = REGISTRY.game(game)
    one = next(known for known in found.spec.rule_sets if known is rules)
    found.config(dict(one.options), None)
    assert re.fullmatch("[a-z][a-z0-9]{1,15}", one.name)
    assert all(one.title)
    assert re.search("[\u4e00-\u9fff]", one.title[1])


@pytest.mark.parametrize("game", REGISTRY.names())
def test_no_two_sets_mean_the_same(game: str) -> None:
    found = REGISTRY.game(game)
    sets = found.spec.rule_sets
    assert sets[0].name == "standard"
    assert not sets[0].options
    assert len({found.config(dict(one.options), None).options for one in sets}) == len(sets)
    with pytest.raises(BadOptions, match="standard"):
        found.spec.rule_set("nonsense")
