"""Named house rules. EB-13."""

from __future__ import annotations

from ...rule_sets import STANDARD, RuleSet

SETS: tuple[RuleSet, ...] = (
    STANDARD,
    RuleSet(
        "quick",
        ("at most eight rounds, no cut, no pause", "最多八局，不切牌，不停顿"),
        {"rounds": 8, "cut": False, "between": False},
    ),
    RuleSet(
        "plain",
        ("no doubling, no catching, no penalties", "无整五，不抠，无跟牌与黑帮死亡"),
        {"five": 1, "kou": False, "follow": 0, "dead_black": 0},
    ),
    RuleSet("open", ("discards lie open", "弃牌公开"), {"open_discards": True}),
)
