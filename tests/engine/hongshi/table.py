"""Set positions of Hongshi for tests."""

from __future__ import annotations

from typing import Any

from kangtou_engine.actions import parse_action
from kangtou_engine.cases import start_of
from kangtou_engine.chance import Chance
from kangtou_engine.errors import IllegalAction
from kangtou_engine.events import Event
from kangtou_engine.game import TooMany
from kangtou_engine.games.hongshi import GAME
from kangtou_engine.games.hongshi.state import Hongshi
from kangtou_engine.match.match import Game
from kangtou_engine.shuffle import SeededChance

HONGSHI = Game(GAME)
CHANCE: Chance = SeededChance("hongshi", bytes(32), ())


def setup(options: dict[str, object] | None = None, **start: Any) -> Hongshi:
    """The position that a case with this `start` begins from."""
    return start_of(HONGSHI, {"id": "test", "options": options or {}, "start": start})[0]


def play(state: Hongshi, *lines: str) -> Hongshi:
    """The state after some lines `SEAT ACTION`."""
    return told(state, *lines)[1]


def told(state: Hongshi, *lines: str) -> tuple[list[Event], Hongshi]:
    """Events and state after some lines."""
    events: list[Event] = []
    for line in lines:
        who, _, said = line.partition(" ")
        action = GAME.canonical(parse_action(said))
        more, state = HONGSHI.step(state, None if who == "-" else int(who), action, CHANCE)
        events += more
    return events, state


def refusal(state: Hongshi, line: str) -> str:
    """`RULE code` of a line, `legal` if it is not refused."""
    try:
        play(state, line)
    except IllegalAction as error:
        return f"{error.rule} {error.code}"
    return "legal"


def legal(state: Hongshi, seat: int) -> list[str]:
    """The texts of a seat's legal actions."""
    listed = HONGSHI.legal(state, seat)
    assert not isinstance(listed, TooMany)
    return [str(action) for action in listed]
