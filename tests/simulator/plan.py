"""What one seed plays: the game and its options, who is there, how network and store are, which faults at which moment.

Few kinds of faults in each run, of all kinds there are: a run with everything at once would hide what a single kind
does (swarm testing).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from .network import Weather
from .store import Temper

GAMES: Mapping[str, Mapping[str, Any]] = {
    "parrot": {"rounds": 1},
    "hongshi": {"rounds": 1},
    "duizhu": {"rounds": 1},
    "erbaiwu": {"rounds": 1},
    "wushik": {"rounds": 1},
}
REAL = 0.08  # of the runs play one of the four games; the others the toy game
WIRED = 0.6  # of the runs have the group commit
ENTRIES = 24  # of a real game: then an operator ends it
KINDS = (
    "crash host",
    "crash gateway",
    "crash client",
    "cut stream",
    "cut link",
    "split network",
    "outage",
    "restart store",
    "cut off host",
    "deafen host",
    "pause host",
    "pause gateway",
    "pause client",
    "declare dead",
    "jump clock",
    "crash at step",
)


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that goes wrong: when (virtual s, or the step of the run), for how long, and numbers to choose by."""

    kind: str
    at: float
    seconds: float
    draw: float
    silent: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """One run."""

    seed: int
    game: str
    options: Mapping[str, Any]
    seats: int
    people: frozenset[int]
    twice: bool  # one account has two seats
    committed: bool
    hosts: int
    gateways: int
    watchers: int
    turn_ms: int
    window_ms: int
    bank_ms: int
    queue_updates: int
    think_s: float
    clumsy: float  # of a player's answers that are bad, late or given twice
    standing: float  # of a player's questions at which it leaves an answer for a later one
    house: bool  # a bot of the house plays where an owner is away
    weather: Weather
    temper: Temper
    wired: bool  # appends go through the group commit, on connections of bytes
    replicas: int
    faults: tuple[Fault, ...] = field(default=())

    @property
    def log_fails(self) -> bool:
        """Whether an entry may have to be drafted more than once: its questions are as old as the first draft then."""
        temper = self.temper
        kinds = {fault.kind for fault in self.faults} & {"outage", "restart store", "cut off host"}
        return bool(kinds or temper.lost or temper.unanswered or temper.late or temper.behind or temper.slow)

    @property
    def jumps(self) -> bool:
        """Whether a clock is ever wrong: then true times say nothing of deadlines."""
        return any(fault.kind == "jump clock" for fault in self.faults)


def plan(seed: int) -> Plan:
    """By the seed alone."""
    rng = Random(f"plan {seed}")
    game = rng.choice(sorted(GAMES.keys() - {"parrot"})) if rng.random() < REAL else "parrot"
    options = dict(GAMES[game])
    seats = 4
    if game == "parrot":
        seats = rng.choice((2, 2, 3, 4))
        options |= {name: rng.random() < 0.2 for name in ("cut", "between", "vote_end")}
        options["rounds"] = 2 if rng.random() < 0.15 else 1
    people = frozenset(seat for seat in range(seats) if rng.random() < 0.5) if rng.random() < 0.4 else frozenset()
    turn_ms = rng.choice((800, 2_000, 5_000))
    wired = rng.random() < WIRED
    return Plan(
        seed=seed,
        game=game,
        options=options,
        seats=seats,
        people=people,
        twice=seats > 2 and rng.random() < 0.15,
        committed=rng.random() < 0.7,
        hosts=rng.choice((1, 2, 2, 3)),
        gateways=rng.choice((1, 2, 2)),
        watchers=rng.choice((0, 0, 1)),
        turn_ms=turn_ms,
        window_ms=rng.choice((0, turn_ms, 1_200)),
        bank_ms=3_000 if people and rng.random() < 0.6 else 0,
        queue_updates=rng.choice((4, 1_024, 1_024)),
        think_s=rng.choice((0.01, 0.1, 0.4)),
        clumsy=rng.choice((0.0, 0.1, 0.3)),
        standing=rng.choice((0.0, 0.0, 0.3)),
        house=rng.random() < 0.7,
        weather=_weather(rng),
        temper=_temper(rng),
        wired=wired,
        replicas=rng.choice((0, 0, 1)) if wired else 0,
        faults=tuple(_faults(rng)),
    )


def _weather(rng: Random) -> Weather:
    if rng.random() < 0.6:
        return Weather()
    return Weather(spread_s=rng.choice((0.004, 0.05)), held=rng.choice((0.0, 0.02, 0.1)), held_s=rng.choice((0.2, 2.0)))


def _temper(rng: Random) -> Temper:
    if rng.random() < 0.5:
        return Temper()
    each = rng.choice((0.01, 0.05, 0.15))
    return Temper(
        slow=rng.choice((0.0, each)),
        slow_s=rng.choice((0.1, 1.5)),
        lost=rng.choice((0.0, each)),
        unanswered=rng.choice((0.0, each)),
        late=rng.choice((0.0, each)),
        behind=rng.choice((0.0, each)),
    )


def _faults(rng: Random) -> list[Fault]:
    kinds = rng.sample(KINDS, rng.choice((0, 1, 1, 2, 2, 3)))
    found = []
    for kind in kinds:
        for _ in range(rng.choice((2, 5, 10) if kind.startswith("cut ") else (1, 1, 2, 4))):
            at = float(rng.randrange(6_000)) if kind == "crash at step" else rng.random() * rng.choice((0.5, 2.0, 5.0))
            seconds = rng.choice((0.05, 0.4, 1.5, 4.0, 7.0)) * (0.5 + rng.random())
            found.append(Fault(kind, at, seconds, rng.random(), rng.random() < 0.3))
    return sorted(found, key=lambda fault: fault.at)
