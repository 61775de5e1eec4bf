"""Named house rules. DZ-13."""

from __future__ import annotations

from ...rule_sets import STANDARD, RuleSet

SETS: tuple[RuleSet, ...] = (
    STANDARD,
    RuleSet(
        "quick",
        ("eight rounds, a window a lap, no cut, no pause", "八局，每轮一次亮主，不切牌，不停顿"),
        {"rounds": 8, "windows": "lap", "cut": False, "between": False},
    ),
    RuleSet(
        "plain",
        ("no announced trumps, no snatching, the partner buries no jokers", "不报主，不抢主，对家不埋王"),
        {"announce": "none", "snatch": False, "partner_sink": False},
    ),
    RuleSet("stack", ("the last trick with 80 points raises by two", "抠且八十分以上多升两级"), {"stack": True}),
)
