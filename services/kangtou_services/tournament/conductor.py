"""One tournament, from its log to its final table. The only writer of that log, as long as its lease holds.

    look        what has ended meanwhile → events; what may start now → events
    write       all of them in one append
    start       the games that the log now says have started

What is not in the log has not happened: a runner that was killed anywhere leaves games of which the next one knows, and
finishes them or plays them again.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Any

import structlog

from ..identity import StoreUnavailable
from ..opening import Choice, resolved
from .events import Event, Flight, State, closed, ended, fold, replayed, scheduled, started
from .game_run import Done, GameRun, Terms, Void
from .ids import match_id
from .model import Game, Spec, result_from
from .parts import Parts
from .schedule import Schedule
from .sets import board_options, config_of

log = structlog.get_logger(__name__)

LOOK_S = 0.5  # how often wishes are read, however many games end meanwhile
PAUSE_S = 0.3
ATTEMPTS_MOST = 50  # of one game; then the tournament is closed, for want of infrastructure


class Conductor:
    """Made for one tournament that is not closed. `fence`: of this runner's lease."""

    def __init__(self, tournament: str, parts: Parts, fence: int) -> None:
        self.tournament = tournament
        self._parts = parts
        self._fence = fence
        self._runs: dict[str, tuple[GameRun, asyncio.Task[Done | Void]]] = {}
        self._by_match: dict[str, GameRun] = {}
        self._arrived: list[Done | Void] = []
        self._news = asyncio.Event()
        self._tokens: dict[int, str] = {}

    def told(self, said: Mapping[str, Any]) -> None:
        """A built-in bot has seen a match end."""
        if (run := self._by_match.get(str(said["match"]))) is not None:
            run.told(said)

    async def run(self) -> None:
        """Until it is closed. Raises Overtaken; a store that cannot be reached is waited for."""
        try:
            await self._run()
        finally:
            tasks = [task for _, task in self._runs.values()]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _run(self) -> None:
        state, terms = await self._load()
        if not state.open:  # closed, and killed before it was retired
            await self._retire()
            return
        schedule = Schedule(terms.spec)
        for result in state.results:
            schedule.add(result)
        if any(entrant.command for entrant in terms.spec.entrants):
            await self._parts.commands.probe()
        wish, asked_at = await self._wish(""), self._parts.elapsed_s()
        await self._write(state, self._lost_processes(state, terms.spec))
        for flight in state.flights.values():
            if flight.match:
                self._launch(flight, terms)
        log.info("tournament_taken", tournament=self.tournament, done=len(state.results), open=len(state.flights))
        while True:
            self._news.clear()
            events, release = self._look(state, schedule)
            hold: list[str] = []
            too_often = any(flight.attempt >= ATTEMPTS_MOST for flight in state.flights.values())
            if wish == "cancel" or too_often:
                await self._close(state, terms, "cancelled" if wish == "cancel" else "infrastructure", events)
                return
            if wish != "pause":
                more, held = await self._give_out(state, schedule, events)
                events, hold = events + more, held
            await self._write(state, events, hold, release)
            for flight in list(state.flights.values()):
                if flight.match and flight.game.id not in self._runs:
                    self._launch(flight, terms)
            if schedule.over and not state.flights:
                await self._close(state, terms, "complete", [])
                return
            if not self._arrived:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(LOOK_S):
                        await self._news.wait()
            if self._parts.elapsed_s() >= asked_at + LOOK_S:
                wish, asked_at = await self._wish(wish), self._parts.elapsed_s()

    async def _load(self) -> tuple[State, Terms]:
        while True:
            try:
                state = fold(self.tournament, await self._parts.store.read(self.tournament))
                seed = await self._parts.store.seed(self.tournament)
            except StoreUnavailable:
                await asyncio.sleep(PAUSE_S)
                continue
            assert state.spec is not None
            assert seed is not None
            return state, Terms(self.tournament, state.spec, choice_of(state.spec), config_of(state.spec), seed)

    async def _wish(self, last: str) -> str:
        try:
            return await self._parts.store.wished(self.tournament)
        except StoreUnavailable:
            return last

    def _lost_processes(self, state: State, spec: Spec) -> list[Event]:
        """Processes of a runner before this one are gone: their games are played again."""
        now = self._parts.now_ms()
        return [
            replayed(flight.game, flight.attempt, "the runner was lost", now)
            for flight in state.flights.values()
            if flight.match and any(spec.entrants[entrant].command for entrant in flight.game.entrants)
        ]

    # ---- what is to be written ----

    def _look(self, state: State, schedule: Schedule) -> tuple[list[Event], list[str]]:
        """Events of what has ended; matches of sets that are complete now."""
        arrived, self._arrived = self._arrived, []
        events: list[Event] = []
        release: list[str] = []
        counted: dict[str, int] = {}
        now = self._parts.now_ms()
        for one in arrived:
            game = one.flight.game
            self._runs.pop(game.id)
            self._by_match.pop(one.flight.match, None)
            if isinstance(one, Void):
                self._parts.meter.games["replayed"] += 1
                log.info("game_replayed", match=one.flight.match, why=one.why)
                events.append(replayed(game, one.flight.attempt, one.why, now))
                continue
            self._parts.meter.games["ended"] += 1
            events.append(ended(one.result, one.details, now))
            schedule.add(one.result)
            counted[game.set_id] = counted.get(game.set_id, state.counted.get(game.set_id, 0)) + 1
            if counted[game.set_id] == game.of:
                release += state.matches.get(game.set_id, [])
        return events, release

    async def _give_out(self, state: State, schedule: Schedule, before: list[Event]) -> tuple[list[Event], list[str]]:
        """Events of the games that start now: new ones, and those that are played again."""
        over = {result_from(event.body["result"]).game.id for event in before if event.kind == "ended"}
        again = {event.body["game"]: event.body["attempt"] + 1 for event in before if event.kind == "replayed"}
        flying = [flight for flight in state.flights.values() if flight.game.id not in over]
        fresh: list[Game] = schedule.next([flight.game for flight in flying])
        waiting = [
            (flight.game, again.get(flight.game.id, flight.attempt))
            for flight in flying
            if not flight.match or flight.game.id in again
        ]
        starting = [*waiting, *((game, 0) for game in fresh)]
        if not starting:
            return [], []
        now, world = self._parts.now_ms(), await self._parts.world.look()
        isolated = self._parts.commands.isolated
        events = [scheduled(fresh, now)] if fresh else []
        held: list[str] = []
        for game, attempt in starting:
            commands = any(state.spec.entrants[entrant].command for entrant in game.entrants) if state.spec else False
            match = match_id(self.tournament, game.id, attempt)
            events.append(started(game, attempt, match, world, isolated or not commands, now))
            held.append(match)
        return events, held

    async def _write(
        self, state: State, events: list[Event], hold: list[str] | None = None, release: list[str] | None = None
    ) -> None:
        """Append, for as long as it takes; then the state has it. Raises Overtaken."""
        if not events:
            return
        texts = [event.to_text() for event in events]
        while True:
            try:
                await self._parts.store.append(
                    self.tournament, self._fence, state.length, texts, hold or (), release or ()
                )
                break
            except StoreUnavailable:
                await asyncio.sleep(PAUSE_S)
        for event in events:
            state.fold(event)

    def _launch(self, flight: Flight, terms: Terms) -> None:
        frozen = Flight(flight.game, flight.attempt, flight.match, flight.world, flight.started_ms)
        run = GameRun(self._parts, terms, frozen, self._tokens)
        task = asyncio.create_task(run.run(), name="game")
        self._runs[flight.game.id] = (run, task)
        self._parts.meter.running += 1
        self._by_match[flight.match] = run
        task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[Done | Void]) -> None:
        self._parts.meter.running -= 1
        if task.cancelled():
            return
        if (error := task.exception()) is not None:
            log.error("game_failed", tournament=self.tournament, error=type(error).__name__, text=str(error)[:200])
            game = next(name for name, (_, one) in self._runs.items() if one is task)
            flight = self._runs[game][0].flight
            self._arrived.append(Void(flight, f"the runner failed: {type(error).__name__}"))
        else:
            self._arrived.append(task.result())
        self._news.set()

    async def _close(self, state: State, terms: Terms, cause: str, events: list[Event]) -> None:
        """The seed is opened; what was withheld is open too."""
        for _, task in self._runs.values():
            task.cancel()
        everything = [match for matches in state.matches.values() for match in matches]
        await self._write(state, [*events, closed(cause, terms.seed, self._parts.now_ms())], [], everything)
        await self._retire()
        log.info("tournament_closed", tournament=self.tournament, cause=cause, games=len(state.results))

    async def _retire(self) -> None:
        while True:
            try:
                await self._parts.store.retire(self.tournament)
                return
            except StoreUnavailable:
                await asyncio.sleep(PAUSE_S)


def choice_of(spec: Spec) -> Choice:
    """What all matches of a tournament are played by. Raises BadOptions."""
    options, config = board_options(spec.game, spec.options), config_of(spec)
    return Choice(
        config.game, config.version, config.seats, options, resolved(config.options), spec.turn_ms, 0, rated=False
    )
