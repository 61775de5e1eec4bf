"""Named house rules: the five variants with their own defaults, and a short match. WK-14."""

from __future__ import annotations

from ...rule_sets import RuleSet
from .variants import ALL, DEFAULT

SETS: tuple[RuleSet, ...] = (
    RuleSet("standard", DEFAULT.title),
    *(RuleSet(name, one.title, {"variant": name}) for name, one in ALL.items() if one is not DEFAULT),
    RuleSet("quick", ("two rounds without a pause", "两局，不停顿"), {"rounds": 2, "between": False}),
)
