"""One attempt at one game: the match is made, its seats are played, and it ends with a result or is to be played again.

Everything here may be cut off and done again: the match id follows from the game and the attempt.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import structlog

from kangtou.internal.v1 import link_pb2 as lpb
from kangtou_engine.boards import board_name, board_seed
from kangtou_engine.match.state import Config
from kangtou_engine.record import Record

from ..agreement import BOT, Member
from ..gateway.routes import TableProblem
from ..identity import StoreUnavailable
from ..log.base import LogUnavailable
from ..opening import Board, Choice
from .commands import Process, Seat
from .events import Flight
from .evidence import SLACK_S, STANDSTILL, Standstill, late_seats
from .forfeits import forfeited, places
from .ids import dice_seed, entrant_account, seat_account
from .model import THINKING, Blame, Entrant, Result, Spec
from .parts import START_MS, Parts
from .recorded import recorded
from .watch import Watch

log = structlog.get_logger(__name__)

LOOK_ALONE_S = 2.0  # how often the log is looked at where the bots tell of the end
PAUSE_S = 0.3
VOID_S = 5.0  # how long a match that is void is asked to end
LEAVE_S = 2.0  # how long a process may take to end after its match
CLOCK_PLAYED = "the clock has played for a seat"
FORFEIT = "forfeit"  # the cause of the end of a match in which an entrant has faulted
ABORTED = "aborted"  # of one that is played again


@dataclass(frozen=True, slots=True)
class Void:
    """The attempt came to nothing; nobody is blamed."""

    flight: Flight
    why: str


@dataclass(frozen=True, slots=True)
class Done:
    """The game has a result. `details`: by seat, the last output of processes that faulted."""

    flight: Flight
    result: Result
    details: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Terms:
    """What all games of a tournament have in common. `seed` is the tournament's; never logged."""

    tournament: str
    spec: Spec
    choice: Choice
    config: Config
    seed: bytes = field(repr=False)


class GameRun:
    """Made for one flight whose `match` is set. `run` may be cancelled."""

    def __init__(self, parts: Parts, terms: Terms, flight: Flight, tokens: dict[int, str]) -> None:
        self._parts = parts
        self._terms = terms
        self.flight = flight
        self._tokens = tokens  # of built-in entrants
        self._processes: dict[int, Process] = {}
        self._told: dict[int, Mapping[str, Any]] = {}
        self._all_told = asyncio.Event()
        self._seats = [terms.spec.entrants[entrant] for entrant in flight.game.entrants]
        self._alone = all(one.bot for one in self._seats)
        self._thinking = any(one.bot.partition(":")[0] in THINKING for one in self._seats)
        most_s = (START_MS + terms.spec.turn_ms) / 1000 + SLACK_S
        self._standstill = Standstill(most_s, parts.elapsed_s)
        built_in = [seat for seat, one in enumerate(self._seats) if one.bot]
        self._watched = Watch(parts, flight, built_in, self._standstill)
        self._board_seed = board_seed(terms.tournament, terms.seed, flight.game.board)

    def told(self, said: Mapping[str, Any]) -> None:
        """A built-in bot has seen the match end."""
        self._told[int(said["seat"])] = said
        if len(self._told) == len(self._seats):
            self._all_told.set()

    async def run(self) -> Done | Void:
        """Play it. Raises nothing but cancellation."""
        try:
            while True:
                try:
                    return await self._played()
                except (StoreUnavailable, LogUnavailable):
                    self._watched.cut()
                    await asyncio.sleep(PAUSE_S)
        finally:
            self._parts.players.drop(self.flight.match)
            self._watched.stop()
            await self._end_processes(0.0)

    # ---- the match and its seats ----

    async def _played(self) -> Done | Void:
        await self._open()
        for seat, entrant in enumerate(self._seats):
            if entrant.bot:
                await self._seat_built_in(seat, entrant)
        for seat, entrant in enumerate(self._seats):
            if entrant.command and seat not in self._processes:
                await self._start(seat, entrant)
        return await (self._watch_alone() if self._alone else self._watch())

    async def _open(self) -> None:
        flight, terms = self.flight, self._terms
        await self._parts.opening.start(
            flight.match,
            terms.choice,
            tuple(self._member(seat, entrant) for seat, entrant in enumerate(self._seats)),
            board=Board(board_name(terms.tournament, flight.game.board), self._board_seed),
            tags={"tournament": terms.tournament, "game": flight.game.id},
        )

    def _member(self, seat: int, entrant: Entrant) -> Member:
        if entrant.account:
            return Member(entrant.account, entrant.name, BOT)
        if entrant.bot:
            account = entrant_account(self._terms.tournament, self.flight.game.entrants[seat])
        else:
            account = seat_account(self.flight.match, seat)
        return Member(account, entrant.name, BOT)

    async def _seat_built_in(self, seat: int, entrant: Entrant) -> None:
        number = self.flight.game.entrants[seat]
        if number not in self._tokens:
            account = entrant_account(self._terms.tournament, number)
            self._tokens[number] = await self._parts.token(account, entrant.name[:24], one_seat=False)
        order = {
            "token": self._tokens[number],
            "bot": entrant.bot,
            "dice": dice_seed(self._board_seed, self.flight.game.id, seat),
            "alone": self._alone,
        }
        self._parts.players.play(self.flight.match, seat, order, thinking=self._thinking)

    async def _start(self, seat: int, entrant: Entrant) -> None:
        account = seat_account(self.flight.match, seat)
        token = await self._parts.token(account, entrant.name[:24], one_seat=True)
        process = await self._parts.commands.start(entrant, Seat(self.flight.match, seat, token))
        self._processes[seat] = process
        self._watched.seated(seat, process)

    # ---- until it ends ----

    async def _watch_alone(self) -> Done | Void:
        """Built-in bots only: they tell of the end; the log is looked at in case that nobody can."""
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_ALONE_S):
                    await self._all_told.wait()
            if (ended := self._as_told() or await self._ended_in_log()) is not None:
                return ended
            if self._all_told.is_set():  # of an end that the store has lost
                await asyncio.sleep(LOOK_ALONE_S)

    def _as_told(self) -> Done | Void | None:
        """The end as the bots saw it; None if the log must be read. With a time-out it is not what the seed gives."""
        said = list(self._told.values())
        if not self._all_told.is_set() or said[0]["cause"] != "rules":
            return None
        if any(one["late"] for one in said):
            return Void(self.flight, CLOCK_PLAYED)
        if not all(one["whole"] for one in said):
            return None
        moves = sum(int(one["moves"]) for one in said)
        return self._done(tuple(said[0]["scores"]), tuple(said[0]["places"]), moves)

    async def _ended_in_log(self) -> Done | Void | None:
        tail = await self._parts.log.tail(self.flight.match)
        if tail is not None and "\n= end " in tail.body:
            return await self._from_record()
        if tail is None and await self._parts.matches.agreement(self.flight.match) is None:
            return await self._from_record()
        return await self._void(STANDSTILL) if self._standstill.over(tail.seq if tail else 0) else None

    async def _watch(self) -> Done | Void:
        """Processes and accounts play: who does not is found out."""
        verdict = await self._watched.verdict()
        if verdict is None:
            return await self._from_record()
        if verdict.cause not in ("", "rules", FORFEIT):
            return self._outside(verdict.cause)
        if verdict.why:
            return await self._void(verdict.why)
        if not verdict.blames:
            await self._end_processes(LEAVE_S)
            return await self._from_record()
        await self._stop(FORFEIT)
        return await self._forfeited(verdict.blames)

    async def _void(self, why: str) -> Void:
        """Nobody's fault."""
        await self._stop(ABORTED, VOID_S)
        return Void(self.flight, why)

    async def _stop(self, cause: str, patience_s: float = math.inf) -> None:
        """End the match outside the rules, as far as it has not ended. A table in quarantine does not hear of it."""
        until = self._parts.elapsed_s() + patience_s
        while True:
            with contextlib.suppress(TableProblem):
                await self._parts.router.call(lpb.Call(match_id=self.flight.match, stop=lpb.Stop(cause=cause)))
            tail = await self._parts.log.tail(self.flight.match)
            if tail is None or "\n= end " in tail.body or self._parts.elapsed_s() >= until:
                return
            await asyncio.sleep(PAUSE_S)

    # ---- results ----

    async def _from_record(self) -> Done | Void:
        """What log or archive say of a match that has ended."""
        record = await recorded(self._parts, self.flight.match, self._board_seed)
        return Void(self.flight, record) if isinstance(record, str) else self._as_recorded(record)

    def _as_recorded(self, record: Record) -> Done | Void:
        """By the rules, and nobody's clock has run out; else nobody knows any more why."""
        outcome = record.head.outcome
        if outcome.cause != "rules":
            return self._outside(outcome.cause)
        if any(late_seats(entry.body) for entry in record.entries):
            return Void(self.flight, CLOCK_PLAYED)
        return self._done(outcome.scores, outcome.places or (), outcome.moves)

    def _outside(self, cause: str) -> Void:
        """It ended outside the rules before this runner saw why: nobody is blamed by what cannot be seen."""
        return Void(self.flight, f"the match ended: {cause}")

    def _done(self, scores: tuple[int, ...], placed: tuple[int, ...], moves: int) -> Done:
        faults = ("",) * len(scores)
        placed = placed or places(self._terms.config, scores)
        game, match = self.flight.game, self.flight.match
        return Done(self.flight, Result(game, match, scores, placed, faults, moves, self._parts.now_ms()))

    async def _forfeited(self, blames: Mapping[int, Blame]) -> Done:
        """The entrants of these seats have faulted, with all their seats."""
        await self._end_processes(LEAVE_S)
        game, config = self.flight.game, self._terms.config
        by_entrant = {game.entrants[seat]: blame for seat, blame in blames.items()}
        scores = forfeited(config, game.entrants, by_entrant)
        faults = tuple(str(by_entrant.get(entrant, "")) for entrant in game.entrants)
        moves = len(await self._parts.log.read(self.flight.match))
        result = Result(game, self.flight.match, scores, places(config, scores), faults, moves, self._parts.now_ms())
        details = {str(seat): self._processes[seat].output for seat in blames if seat in self._processes}
        for seat, blame in blames.items():
            log.info("forfeit", match=self.flight.match, seat=seat, blame=str(blame))
        return Done(self.flight, result, details)

    async def _end_processes(self, patience_s: float) -> None:
        await asyncio.gather(*(process.end(patience_s) for process in self._processes.values()))
