"""Positions for tests, in the words of case files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kangtou_engine.actions import Action, parse_action
from kangtou_engine.cases import start_of
from kangtou_engine.chance import Chance
from kangtou_engine.errors import IllegalAction
from kangtou_engine.events import Event
from kangtou_engine.games.erbaiwu import GAME
from kangtou_engine.games.erbaiwu.state import Position
from kangtou_engine.match.match import Game
from kangtou_engine.shuffle import SeededChance

ERBAIWU = Game(GAME)
CHANCE: Chance = SeededChance("erbaiwu", bytes(32), ())


def position(start: Mapping[str, Any], options: Mapping[str, object] | None = None) -> Position:
    """The position that a case would start from; as many seats as hands."""
    seats = len(start["hands"])
    return start_of(ERBAIWU, {"id": "test", "seats": seats, "options": options or {}, "start": start})[0]


def said(text: str) -> Action:
    """An action as a table would take it."""
    return GAME.canonical(parse_action(text))


def play(state: Position, *script: str) -> tuple[list[Event], Position]:
    """Lines `SEAT ACTION`, all legal; what happened and where it led."""
    events: list[Event] = []
    for line in script:
        who, _, text = line.partition(" ")
        more, state = ERBAIWU.step(state, None if who == "-" else int(who), said(text), CHANCE)
        events += more
    return events, state


def refusal(state: Position, seat: int, text: str) -> tuple[str, str]:
    """Rule and code by which an action is refused; ("", "") if it is legal."""
    try:
        ERBAIWU.check(state, seat, said(text))
    except IllegalAction as error:
        return error.rule, error.code
    return "", ""


def of_kind(events: Sequence[Event], kind: type[Event]) -> list[Any]:
    """The events of one kind."""
    return [event for event in events if type(event) is kind]
