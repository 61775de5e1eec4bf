"""What somebody wants to play, as it is asked for."""

from __future__ import annotations

from kangtou.v1 import game_pb2

from ..house_rules import named
from ..opening import Choice, Clocks, Games, check_choice


def chosen(
    games: Games, clocks: Clocks, given: game_pb2.GameChoice, rules: str, clock: game_pb2.Clock, *, rated: bool
) -> Choice | game_pb2.Refusal:
    """A choice by options or named house rules, checked, or why it is refused."""
    choice = named(games, given, rules)
    if isinstance(choice, game_pb2.Refusal):
        return choice
    return check_choice(games, clocks, choice, clock, rated=rated)
