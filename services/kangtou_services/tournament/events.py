"""What happens to a tournament, as its log has it, and the state that follows from that alone.

    submitted   spec, who submitted it, the seed's commitment
    scheduled   games, in the order in which they were given out
    started     a game's attempt: its match id, what the infrastructure was then, whether its processes are isolated
    replayed    an attempt came to nothing through the infrastructure: the game is played again, on the same board
    ended       a game's result
    closed      nothing more is played: the cause, and the seed

A log is read and folded by the runner, by every gateway that is asked, and by whoever resumes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .model import Game, Result, Spec, game_from, result_from, spec_from, to_plain

SUBMITTED, SCHEDULED, STARTED, REPLAYED, ENDED, CLOSED = (
    "submitted",
    "scheduled",
    "started",
    "replayed",
    "ended",
    "closed",
)


@dataclass(frozen=True, slots=True)
class Event:
    """One of the above, at Unix ms. `body` is JSON."""

    kind: str
    time_ms: int
    body: Mapping[str, Any]

    def to_text(self) -> str:
        """Canonical JSON."""
        plain = {"kind": self.kind, "time_ms": self.time_ms, **self.body}
        return json.dumps(plain, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def event_from(text: str) -> Event:
    """The same again. Raises ValueError."""
    plain = json.loads(text)
    return Event(plain.pop("kind"), plain.pop("time_ms"), plain)


def submitted(spec: Spec, by: str, commitment: str, time_ms: int) -> Event:
    """The first event. `by`: an account."""
    return Event(SUBMITTED, time_ms, {"spec": to_plain(spec), "by": by, "commitment": commitment})


def scheduled(games: Iterable[Game], time_ms: int) -> Event:
    """Games given out by the schedule."""
    return Event(SCHEDULED, time_ms, {"games": [to_plain(game) for game in games]})


def started(game: Game, attempt: int, match: str, world: str, isolated: bool, time_ms: int) -> Event:
    """`world`: what the infrastructure was (evidence.py)."""
    body = {"game": game.id, "attempt": attempt, "match": match, "world": world, "isolated": isolated}
    return Event(STARTED, time_ms, body)


def replayed(game: Game, attempt: int, why: str, time_ms: int) -> Event:
    """Attempt number `attempt` is void."""
    return Event(REPLAYED, time_ms, {"game": game.id, "attempt": attempt, "why": why})


def ended(result: Result, details: Mapping[str, str], time_ms: int) -> Event:
    """`details`: by seat, what a faulting entrant's process said last; for its author."""
    return Event(ENDED, time_ms, {"result": to_plain(result), "details": dict(details)})


def closed(cause: str, seed: bytes, time_ms: int) -> Event:
    """The last event. `cause`: complete, cancelled or infrastructure."""
    return Event(CLOSED, time_ms, {"cause": cause, "seed": seed.hex()})


@dataclass(slots=True)
class Flight:
    """A game that was given out and has no result. `match` is "" until its attempt has started."""

    game: Game
    attempt: int = 0
    match: str = ""
    world: str = ""
    started_ms: int = 0


@dataclass(slots=True)
class State:
    """A tournament as its log has it. `results` in the order in which games ended."""

    tournament: str
    spec: Spec | None = None
    by: str = ""
    commitment: str = ""
    isolated: bool = True  # all processes of entrants were, so far
    submitted_ms: int = 0
    length: int = 0
    flights: dict[str, Flight] = field(default_factory=dict)
    results: list[Result] = field(default_factory=list)
    done: set[str] = field(default_factory=set)
    counted: dict[str, int] = field(default_factory=dict)  # games with a result, by set
    replays: list[tuple[str, int, str]] = field(default_factory=list)
    matches: dict[str, list[str]] = field(default_factory=dict)  # by set: all its attempts
    outputs: dict[str, Mapping[str, str]] = field(default_factory=dict)  # by game: what faulting processes said
    cause: str = ""
    seed: bytes = field(default=b"", repr=False)
    last_ms: int = 0
    moves: int = 0

    @property
    def open(self) -> bool:
        """Whether it is still played."""
        return not self.cause

    def fold(self, event: Event) -> None:
        """One more event. What a newer version has added is left out."""
        body = event.body
        self.length += 1
        self.last_ms = max(self.last_ms, event.time_ms)
        if event.kind == SUBMITTED:
            self.spec = spec_from(body["spec"])
            self.by, self.commitment = body["by"], body["commitment"]
            self.submitted_ms = event.time_ms
        elif event.kind == SCHEDULED:
            for plain in body["games"]:
                game = game_from(plain)
                if game.id not in self.done:
                    self.flights.setdefault(game.id, Flight(game))
        elif event.kind == STARTED:
            flight = self.flights.get(body["game"])
            if flight is not None:
                flight.attempt, flight.match = body["attempt"], body["match"]
                flight.world, flight.started_ms = body["world"], event.time_ms
                self.isolated &= bool(body["isolated"])
                self.matches.setdefault(flight.game.set_id, []).append(flight.match)
        elif event.kind == REPLAYED:
            flight = self.flights.get(body["game"])
            if flight is not None:
                flight.attempt, flight.match = body["attempt"] + 1, ""
            self.replays.append((body["game"], body["attempt"], body["why"]))
        elif event.kind == ENDED:
            self._ended(result_from(body["result"]), body.get("details", {}))
        elif event.kind == CLOSED:
            self.cause, self.seed = body["cause"], bytes.fromhex(body["seed"])
            self.flights.clear()

    def _ended(self, result: Result, details: Mapping[str, str]) -> None:
        if result.game.id in self.done:
            return
        self.done.add(result.game.id)
        self.flights.pop(result.game.id, None)
        self.results.append(result)
        self.counted[result.game.set_id] = self.counted.get(result.game.set_id, 0) + 1
        self.moves += result.moves
        if details:
            self.outputs[result.game.id] = details


def fold(tournament: str, texts: Iterable[str]) -> State:
    """The state after all of these."""
    state = State(tournament)
    for text in texts:
        state.fold(event_from(text))
    return state
