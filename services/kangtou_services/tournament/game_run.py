"""One attempt at one game: the match is made, its seats are played, and it ends with a result or is to be played again.

Everything here may be cut off and done again: the match id follows from the game and the attempt.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import structlog

from kangtou.internal.v1 import link_pb2 as lpb
from kangtou_engine.boards import board_name, board_seed
from kangtou_engine.errors import BadText
from kangtou_engine.match.state import Config
from kangtou_engine.record import make_record

from ..agreement import BOT, Agreement, Member
from ..archive.archiver import terms_of
from ..gateway.routes import TableProblem
from ..identity import StoreUnavailable
from ..log.base import LogUnavailable
from ..opening import Board, Choice
from .commands import Process, Seat
from .events import Flight
from .evidence import SETTLE_S, Seen, blame_for_time
from .forfeits import forfeited, places
from .ids import dice_seed, entrant_account, seat_account
from .model import THINKING, Blame, Entrant, Result, Spec
from .parts import Parts

log = structlog.get_logger(__name__)

LOOK_S = 0.4  # how often the log of a match is read in which others than built-in bots play
LOOK_ALONE_S = 2.0  # the same where the bots tell of the end
PAUSE_S = 0.3
LEAVE_S = 2.0  # how long a process may take to end after its match
ABORTED = "aborted"  # the cause of the end of a match that is played again


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
        self._board_seed = board_seed(terms.tournament, terms.seed, flight.game.board)

    def told(self, said: Mapping[str, Any]) -> None:
        """A built-in bot has seen the match end."""
        self._told[int(said["seat"])] = said
        if len(self._told) == len(self._seats):
            self._all_told.set()

    async def run(self) -> Done | Void:
        """Play it. Raises nothing but cancellation."""
        while True:
            try:
                return await self._played()
            except (StoreUnavailable, LogUnavailable):
                await asyncio.sleep(PAUSE_S)
            finally:
                self._parts.players.drop(self.flight.match)
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
        self._processes[seat] = await self._parts.commands.start(entrant, Seat(self.flight.match, seat, token))

    # ---- until it ends ----

    async def _watch_alone(self) -> Done | Void:
        """Built-in bots only: they tell of the end; the log is looked at in case that nobody can."""
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_ALONE_S):
                    await self._all_told.wait()
                    said = self._told[0]
                    if said["cause"] == "rules":
                        moves = sum(int(one["moves"]) for one in self._told.values())
                        return self._done(tuple(said["scores"]), tuple(said["places"]), moves)
            if (ended := await self._ended_in_log()) is not None:
                return ended

    async def _ended_in_log(self) -> Done | Void | None:
        tail = await self._parts.log.tail(self.flight.match)
        if tail is not None and "\n= end " in tail.body:
            return await self._from_record()
        if tail is None and await self._parts.matches.agreement(self.flight.match) is None:
            return await self._from_archive()
        return None

    async def _watch(self) -> Done | Void:
        """Processes and accounts play: who does not is found out."""
        seen = Seen()
        while True:
            seen.read(await self._parts.log.read(self.flight.match, seen.seq + 1))
            if seen.cause:
                await self._end_processes(LEAVE_S)
                return await self._from_record()
            if not seen.seq and await self._parts.matches.agreement(self.flight.match) is None:
                return await self._from_archive()
            gone = [seat for seat, process in self._processes.items() if process.ended]
            if seen.late or gone:
                return await self._fault(seen, gone)
            await asyncio.sleep(LOOK_S)

    async def _fault(self, seen: Seen, gone: list[int]) -> Done | Void:
        """Somebody does not play. Whose fault it is, and the end of the match."""
        blames = dict.fromkeys(gone, Blame.CRASH)
        for seat in seen.late:
            if seat not in blames:
                blames[seat] = await blame_for_time(self._parts.router, self.flight.match, seat)
        await asyncio.sleep(SETTLE_S)  # what was lost is not listed any more then
        late = Seen()
        late.read(await self._parts.log.read(self.flight.match))
        if late.cause == "rules":  # it came to its end all the same; a process that ended early had finished
            return await self._from_record()
        why = await self._not_theirs(late, blames)
        await self._stop(ABORTED if why else "forfeit")
        if why:
            return Void(self.flight, why)
        return await self._forfeited(blames)

    async def _not_theirs(self, seen: Seen, blames: Mapping[int, Blame]) -> str:
        """Why it is the infrastructure's fault; "" if it is not."""
        if any(self._seats[seat].bot for seat in blames):
            return "a built-in bot was not played"
        if seen.epochs > 1:
            return "the table was taken over"
        if await self._parts.world.look() != self.flight.world:
            return "a gateway, an actor or the store was lost"
        return ""

    async def _stop(self, cause: str) -> None:
        """End the match outside the rules, as far as it has not ended."""
        while True:
            with contextlib.suppress(TableProblem):
                await self._parts.router.call(lpb.Call(match_id=self.flight.match, stop=lpb.Stop(cause=cause)))
            tail = await self._parts.log.tail(self.flight.match)
            if tail is None or "\n= end " in tail.body:
                return
            await asyncio.sleep(PAUSE_S)

    # ---- results ----

    async def _from_record(self) -> Done | Void:
        """What the log says of a match that has ended."""
        text = await self._parts.matches.agreement(self.flight.match)
        if text is None:
            return await self._from_archive()
        entries = await self._parts.log.read(self.flight.match)
        rows = [(entry.epoch, entry.seq, entry.chain, entry.body) for entry in entries]
        try:
            terms = terms_of(Agreement.from_json(text))
            record = await asyncio.to_thread(make_record, terms, rows, self._board_seed, version("kangtou"))
        except BadText as error:
            log.error("match_not_read", match=self.flight.match, error=str(error))
            return Void(self.flight, "the log of the match cannot be read")
        outcome = record.head.outcome
        if outcome.cause == "rules":
            return self._done(outcome.scores, outcome.places or (), outcome.moves)
        return await self._outside(outcome.cause)

    async def _from_archive(self) -> Done | Void:
        row = await asyncio.to_thread(self._parts.archiver.index.find, self.flight.match)
        if row is None:
            return Void(self.flight, "the match is neither live nor archived")
        if row.cause == "rules":
            return self._done(row.scores, row.places, row.moves)
        return await self._outside(row.cause)

    async def _outside(self, cause: str) -> Done | Void:
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
