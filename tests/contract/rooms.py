"""What tests of matchmaking and lobby stand on: a small game's registry, tables that are opened or not, waiting."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from kangtou.v1 import game_pb2 as pb
from kangtou_engine.errors import BadOptions
from kangtou_engine.match.match import Game
from kangtou_services.opening import Choice, Clocks, check_choice

from ..games import parrot

T = TypeVar("T")
CLOCKS = Clocks(turn_ms=1_000, window_ms=2_000, open_wait_ms=100)


class ParrotOnly:
    """A registry of one game."""

    def __init__(self) -> None:
        self._game = Game(parrot.GAME)

    def names(self) -> tuple[str, ...]:
        return ("parrot",)

    def game(self, name: str, version: int | None = None) -> Game:
        if name != "parrot" or version not in (None, 1):
            raise BadOptions("CM-11.1", "bad_option", "game", name, "parrot")
        return self._game


GAMES = ParrotOnly()


@dataclass
class OpenTables:
    """Opens whatever it is asked for as soon as `hold` is set. Sweeps ask for what other tests have left over too."""

    asked: list[str] = field(default_factory=list)
    opened: list[str] = field(default_factory=list)
    hold: asyncio.Event = field(default_factory=asyncio.Event)
    answer: bool = True

    def __post_init__(self) -> None:
        self.hold.set()

    async def open(self, match_id: str) -> bool:
        self.asked.append(match_id)
        await self.hold.wait()
        self.opened.append(match_id)
        return self.answer


def choose(seats: int = 2, *, rated: bool = False, rounds: int = 2, turn_ms: int = 0) -> Choice:
    """A checked choice of the small game."""
    options = {"rounds": pb.OptionValue(number=rounds)}
    given = pb.GameChoice(game="parrot", seats=seats, options=options)
    chosen = check_choice(GAMES, CLOCKS, given, pb.Clock(turn_ms=turn_ms), rated=rated)
    assert isinstance(chosen, Choice), chosen
    return chosen


async def eventually(look: Callable[[], Awaitable[T]], wanted: Callable[[T], bool] = bool, timeout_s: float = 60) -> T:
    """What `look` gives as soon as it is as wanted."""
    async with asyncio.timeout(timeout_s):
        for pause in itertools.chain([0.0, 0.001, 0.005], itertools.repeat(0.02)):
            await asyncio.sleep(pause)
            found = await look()
            if wanted(found):
                return found
    raise AssertionError("it ends by the time-out")
