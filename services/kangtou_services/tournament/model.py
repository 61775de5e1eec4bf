"""The words of a tournament, as its event log, statistics and reports use them. All are values that go through JSON.

entrant     who competes: a built-in bot, a command that the runner starts, or an account that connects by itself
encounter   entrants who meet: two, or as many as a table has seats
board       one sequence of packs (engine/boards.py)
game        one match on one board, with an entrant at each seat
set         the games of one encounter on one board that together are fair; the unit of all statistics. A set counts
            when all its games have counted
fault       what went wrong with a game, and whose it is: `infrastructure` is nobody's, its game is played again
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any


class Format(StrEnum):
    """Who meets whom."""

    ROUND_ROBIN = "round-robin"
    SWISS = "swiss"
    KNOCK_OUT = "knock-out"
    GAUNTLET = "gauntlet"  # the first entrant against each of the others
    LADDER = "ladder"  # goes on until it is stopped; closest ratings meet


class Unit(StrEnum):
    """Who has a result: each seat for itself, or two partners as one entrant (games with fixed sides)."""

    SINGLE = "single"
    PAIR = "pair"


class Blame(StrEnum):
    """Kinds of faults. All but the last are the entrant's, and it forfeits the game."""

    CRASH = "crash"
    TIMEOUT = "timeout"
    ILLEGAL = "illegal"
    DISCONNECTED = "disconnected"
    INFRASTRUCTURE = "infrastructure"


THINKING = frozenset({"search"})  # built-in bots that think for longer than a millisecond a move


@dataclass(frozen=True, slots=True)
class Entrant:
    """One of `bot` (a built-in policy), `command` (started anew for each game) and `account` (an account id) is set.

    memory_mb, cpu_s: limits of a command's process for one game.
    """

    name: str
    bot: str = ""
    command: tuple[str, ...] = ()
    account: str = ""
    memory_mb: int = 512
    cpu_s: int = 60


@dataclass(frozen=True, slots=True)
class Stopping:
    """When an encounter ends before `sets`: `none`, or a sequential test of H0: the difference a set is at most `low`
    points against H1: it is at least `high`, with errors of the two kinds at most `alpha` and `beta`."""

    method: str = "none"
    low: float = 0.0
    high: float = 1.0
    alpha: float = 0.05
    beta: float = 0.05


@dataclass(frozen=True, slots=True)
class Spec:
    """A tournament as it was submitted and checked. `sets`: the most that an encounter plays. `rotation`: `full` (every
    arrangement of a set) or `cross` (each entrant plays each board once and is compared with who held the same cards);
    `trusted` marks a full rotation in which accounts see a board more than once."""

    name: str
    game: str
    entrants: tuple[Entrant, ...]
    format: Format = Format.ROUND_ROBIN
    unit: Unit = Unit.SINGLE
    seats: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)
    sets: int = 20
    rounds: int = 0  # of Swiss; 0: as many as it takes
    table: int = 2  # entrants of an encounter
    rotation: str = "full"
    trusted: bool = False
    concurrency: int = 16
    turn_ms: int = 10_000
    stopping: Stopping = field(default_factory=Stopping)
    confidence: float = 0.95


@dataclass(frozen=True, slots=True)
class Game:
    """One match to be played. `entrants`: an entrant's number at each seat. Its id is `SET.NUMBER`. `of`: the number
    of games in its set."""

    set_id: str
    number: int
    encounter: tuple[int, ...]
    board: int
    entrants: tuple[int, ...]
    of: int = 1

    @property
    def id(self) -> str:
        """Unique in the tournament."""
        return f"{self.set_id}.{self.number}"


@dataclass(frozen=True, slots=True)
class Result:
    """How a game ended, once for each game. By seat: scores, places, faults ("" for none)."""

    game: Game
    match: str
    scores: tuple[int, ...]
    places: tuple[int, ...]
    faults: tuple[str, ...]
    moves: int = 0
    ended_ms: int = 0


def to_plain(value: Any) -> dict[str, Any]:
    """A value of this module as JSON takes it."""
    return asdict(value)


def game_from(plain: Mapping[str, Any]) -> Game:
    """The same again."""
    encounter, entrants = tuple(plain["encounter"]), tuple(plain["entrants"])
    return Game(plain["set_id"], plain["number"], encounter, plain["board"], entrants, plain.get("of", 1))


def result_from(plain: Mapping[str, Any]) -> Result:
    """The same again."""
    return Result(
        game_from(plain["game"]),
        plain["match"],
        tuple(plain["scores"]),
        tuple(plain["places"]),
        tuple(plain["faults"]),
        plain.get("moves", 0),
        plain.get("ended_ms", 0),
    )


def spec_from(plain: Mapping[str, Any]) -> Spec:
    """The same again; what newer versions have added is left out."""
    given = {name: plain[name] for name in Spec.__dataclass_fields__ if name in plain}
    given["entrants"] = tuple(Entrant(**{**one, "command": tuple(one.get("command", ()))}) for one in plain["entrants"])
    given["format"] = Format(given.get("format", Format.ROUND_ROBIN))
    given["unit"] = Unit(given.get("unit", Unit.SINGLE))
    given["stopping"] = Stopping(**given.get("stopping", {}))
    return Spec(**given)
