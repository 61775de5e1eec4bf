"""Named house rules. HS-15."""

from __future__ import annotations

from ...rule_sets import STANDARD, RuleSet

SETS: tuple[RuleSet, ...] = (
    STANDARD,
    RuleSet(
        "quick",
        ("ten rounds, no cut, no pause", "十局，不切牌，不停顿"),
        {"rounds": 10, "cut": False, "between": False},
    ),
    RuleSet("tens", ("red tens above jokers", "红十大"), {"top": "tens"}),
    RuleSet("keep345", ("3, 4 and 5 stay in", "带三四五"), {"keep345": True}),
    RuleSet("plain", ("no reveal, no lightning", "不亮牌，不闪电"), {"reveal": False, "lightning": False}),
)
