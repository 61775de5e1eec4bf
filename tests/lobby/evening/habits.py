"""What somebody does in a match besides playing, and when."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Habit(StrEnum):
    """The values are the causes that the log gives to a substitution, where there is one."""

    PLAYS = ""
    FALLS_ASLEEP = "timeouts"  # says nothing until a substitute plays, and takes the seat back later
    STEPS_OUT = "asked"  # hands the seat over and takes it back through another gateway
    LEAVES = "left"  # for good
    MOVES = "moves"  # loses the connection and goes on through another gateway


@dataclass(frozen=True, slots=True)
class Does:
    """A habit, and at which of the seat's questions it begins."""

    habit: Habit = Habit.PLAYS
    at: int = 3


PLAYS = Does()
