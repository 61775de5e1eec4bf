"""Levels and how a round changes them. DZ-1.5, DZ-9.

A level is a whole number: 3 … 10, J 11, Q 12, K 13, A 14, and the virtual levels 2, 1, 0, -1 … below 3.
"""

from __future__ import annotations

from typing import NamedTuple

from ...cards import Cards

LEVELS = tuple("3456789TJQKA")  # DZ-1.5
LOWEST, JACK, ACE = 3, 11, 14

MADE = ("made", "guang")  # the up side passes its level
STAYS = frozenset(("made", "guang", "held", "zhi", "xue", "heihu"))  # DZ-10.1: the up side stays up
FRESH_START = {"zhi": LOWEST, "xue": JACK, "heihu": LOWEST}  # DZ-9.10–9.12: what it plays next


def level_of(text: str) -> int:
    """The level that a text names. Raises ValueError. DZ-1.5, DZ-9.9."""
    if text in LEVELS:
        return LEVELS.index(text) + LOWEST
    level = int(text)
    if level >= LOWEST or text != str(level):
        raise ValueError(f"{text!r} is not a level")
    return level


def level_text(level: int) -> str:
    """`T`, `3`, `-1`. DZ-1.5, DZ-9.9."""
    return LEVELS[level - LOWEST] if level >= LOWEST else str(level)


def level_rank(level: int) -> str:
    """The rank of the level cards; on a virtual level the threes. DZ-4.1, DZ-9.9."""
    return level_text(max(level, LOWEST))


class Knobs(NamedTuple):
    """The options that touch levels: the level that ends the match, and whether 抠 stacks on 大破."""

    end: int
    stack: bool


def raised(level: int, steps: int, made: bool, end: int) -> int:
    """A level raised step by step; 3, J, A and the end level must be made to be passed. DZ-9.3, DZ-9.4."""
    for step in range(steps):
        if level >= end:
            break
        if level in (LOWEST, JACK, ACE) and not (made and step == 0):
            break
        level += 1
    return level


def sunk_worth(sunk: Cards) -> int:
    """What the buried jokers move the up side: black 2, red 3. DZ-9.2, DZ-9.6."""
    return sum({"BJ": 2, "RJ": 3}[joker] for joker in sunk)


def new_levels(
    levels: tuple[int, ...], up: int, outcome: str, points: int, sunk: Cards, knobs: Knobs
) -> tuple[int, ...]:
    """Both sides' levels after a round that side `up` played. DZ-9.2, DZ-9.5–9.8, DZ-13.10."""
    mine, theirs = levels[up], levels[1 - up]
    worth = sunk_worth(sunk)
    if outcome in MADE:
        steps = worth + 2 if outcome == "guang" else worth or 1  # DZ-9.5, DZ-9.6
        mine = raised(mine, steps, True, knobs.end)
    else:
        mine = FRESH_START.get(outcome, mine) - worth  # DZ-9.7
    if outcome in ("dapo", "kou"):
        steps = 2 if knobs.stack and outcome == "kou" and points >= 80 else 1  # DZ-13.10
        theirs = raised(theirs, steps, False, knobs.end)
    return (mine, theirs) if up == 0 else (theirs, mine)
