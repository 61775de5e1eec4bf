"""`kangtou load`: many players at once on a server, and how fast it answers them."""

from __future__ import annotations

import ipaddress
import resource
import signal
from random import Random
from typing import Annotated, Any

import typer
import uvloop

from kangtou_engine.registry import REGISTRY

from ..api import ApiError, CallFailed, Unavailable
from ..load.generator import Load
from ..load.plan import SEATS, Plan
from ..load.search import Level
from ..load.search import search as search_levels
from .bar import Advance, bar
from .common import DEFAULT_SERVER, Common, of
from .config import Config
from .exits import FAILED, INTERRUPTED, NOT_FOUND, OK, REFUSED, UNREACHABLE, USAGE

SETTLE_S = 2.0  # after the ramp: openings are no steady load


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("load")(load)


def load(
    context: typer.Context,
    tables: Annotated[
        int, typer.Option("--tables", min=1, max=100_000, help="tables at once; --search: to begin")
    ] = 20,
    games: Annotated[list[str] | None, typer.Option("--game", help="only this game; may be repeated")] = None,
    think: Annotated[float, typer.Option("--think", min=0, max=60, help="median thinking time, seconds")] = 3.0,
    spread: Annotated[float, typer.Option("--spread", min=0, max=3, help="of the thinking times' logarithm")] = 0.7,
    ramp: Annotated[float, typer.Option("--ramp", min=0, max=3600, help="seconds in which the tables arrive")] = 10.0,
    seconds: Annotated[float, typer.Option("--seconds", min=0.5, max=86_400, help="measured after that")] = 30.0,
    watchers: Annotated[int, typer.Option("--watchers", min=0, max=100, help="spectators at each table")] = 0,
    rounds: Annotated[int, typer.Option("--rounds", min=1, max=1000, help="of a match")] = 1,
    connections: Annotated[int, typer.Option("--connections", min=1, max=10_000, help="that players share")] = 16,
    search: Annotated[bool, typer.Option("--search", help="find the highest load that is answered in time")] = False,
    p99: Annotated[float, typer.Option("--p99", min=1, max=60_000, help="what in time means, ms")] = 100.0,
    seed: Annotated[int | None, typer.Option("--seed", help="repeat the same arrivals, thoughts and choices")] = None,
    yes_remote: Annotated[
        bool, typer.Option("--yes-remote", help="the server is not on this machine, and its operator agrees")
    ] = False,
) -> int:
    """Put a server under load: tables of bots arrive by chance (Poisson) and think like people (log-normal).

    A wait counts from the moment at which an answer was MEANT to be sent, also if the server's earlier answers came too
    late for that; so a slow server cannot hide behind a generator that waits for it. `behind` is how late this program
    itself was: where it is not small, run several of it. Players are accounts of bots that are made for the run and
    stay; matches in play when it is over are played out at once.

    \b
    Examples:
      kangtou load                               20 tables of all games for 30 s
      kangtou load --game hongshi --think 1 --tables 200 --watchers 2
      kangtou load --search                      highest moves/s with p99 within 100 ms
      kangtou load --json | tail -1              the figures, for programs
    """
    common = of(context)
    server = common.server or Config().server or DEFAULT_SERVER
    if not yes_remote and not _is_here(server):
        raise common.fail(USAGE, "load_remote", server=server)
    for game in games or ():
        if game not in REGISTRY.names():
            raise common.fail(NOT_FOUND, "no_game", game=game, games=", ".join(REGISTRY.names()))
    plan = Plan(
        games=tuple(games or REGISTRY.names()),
        tables=tables,
        ramp_s=ramp,
        seconds=seconds,
        think_s=think,
        spread=spread,
        watchers=watchers,
        rounds=rounds,
        connections=connections,
    )
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with bar(common) as advance:
        run = _Run(common, server, plan, Random(seed), advance)
        try:
            return uvloop.run(run.search(p99) if search else run.once())
        except Unavailable as error:
            raise common.fail(UNREACHABLE, "unreachable", server=server) from error
        except ApiError as error:
            raise common.fail(REFUSED, "server_says", text=error) from error


def _is_here(server: str) -> bool:
    """Whether an address is this machine's loopback."""
    host = server.removeprefix("tls://").rpartition(":")[0].strip("[]")
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "" and server.startswith("unix:")


class _Run:
    """A load at the command line."""

    def __init__(self, common: Common, server: str, plan: Plan, chance: Random, advance: Advance) -> None:
        self.common = common
        self.server = server
        self.plan = plan
        self.chance = chance
        self.advance = advance

    async def once(self) -> int:
        """One measurement."""
        async with self._load() as load:
            level = await self._level(load, self.plan.tables)
            stopped = load.stopping.is_set()
            if level is not None:
                self._show(level)
            if not stopped:
                await self._wind_down(load)
        return INTERRUPTED if stopped else OK if level is not None and not level.problem(float("inf")) else FAILED

    async def search(self, p99_ms: float) -> int:
        """The highest load."""
        async with self._load() as load:

            async def measure(tables: int) -> Level | None:
                try:
                    level = await self._level(load, tables)
                except CallFailed as error:  # it takes no more players or tables: what was found before stands
                    self.common.note("server_says", text=error.text or error.status)
                    return None
                return None if load.stopping.is_set() else level

            best = await search_levels(self.plan.tables, p99_ms, measure, self._tried)
            stopped = load.stopping.is_set()
            if not stopped:
                await self._wind_down(load)
        if best is None:
            raise self.common.fail(FAILED, "load_none", tables=self.plan.tables, p99=p99_ms)
        self._show(best, p99_ms)
        return INTERRUPTED if stopped else OK

    def _load(self) -> Load:
        load = Load(self.server, self.plan, self.chance)
        for number in (signal.SIGINT, signal.SIGTERM):
            load.loop.add_signal_handler(number, load.stopping.set)
        return load

    async def _level(self, load: Load, tables: int) -> Level | None:
        """So many tables, measured; None if it was stopped before anything was."""
        players = tables * (SEATS + self.plan.watchers)
        what = self.common.say("load_players")
        await load.prepare(players, lambda done: self.advance(what, done, players))
        await load.grow(tables, self.plan.ramp_s, self._tick("load_ramp", tables))
        await load.measure(SETTLE_S, lambda _: None)
        if load.stopping.is_set():
            return None
        figures = await load.measure(self.plan.seconds, self._tick("load_measure", 0))
        return Level(tables, figures.result(load.loop.time(), len(load.tables)))

    async def _wind_down(self, load: Load) -> None:
        self.advance(self.common.say("load_end"), 0, 0)
        if left := await load.wind_down():
            self.common.note("load_left", left=left)

    def _tick(self, what: str, tables: int) -> Any:
        """Progress: a bar for people, a line a second for programs."""

        def tick(load: Load) -> None:
            now = load.figures.result(load.loop.time(), len(load.tables))
            if tables:
                self.advance(self.common.say(what), load.wanted, tables)
            else:
                self.advance(self.common.say(what), int(now["seconds"]), int(self.plan.seconds))
            if self.common.json:
                self.common.put_json({"step": what.removeprefix("load_"), **now})

        return tick

    def _tried(self, level: Level, problem: str) -> None:
        """A level of a search."""
        if self.common.json:
            self.common.put_json({"step": "level", "level": level.tables, "problem": problem, **level.result})
            return
        verdict = self.common.say(f"load_{problem or 'fine'}")
        self.common.put(self.common.say("load_level", **self._words(level), verdict=verdict))

    def _show(self, level: Level, p99_ms: float = 0.0) -> None:
        """The figures."""
        if self.common.json:
            self.common.put_json({"step": "result", "level": level.tables, "p99_limit_ms": p99_ms, **level.result})
            return
        found, words = level.result, self._words(level)
        self.common.put(self.common.say("load_highest" if p99_ms else "load_moves", **words, limit=f"{p99_ms:g}"))
        for name in ("wait", "open", "behind"):
            self.common.put(self.common.say(f"load_{name}", **found[f"{name}_ms"]))
        self.common.put(self.common.say("load_counts", **{**found, "games": _listed(found["games"])}))
        if found["refused"] or found["streams_lost"]:
            self.common.put(
                self.common.say("load_trouble", refused=_listed(found["refused"]) or 0, lost=found["streams_lost"])
            )

    def _words(self, level: Level) -> dict[str, object]:
        found = level.result
        return {
            "tables": level.tables,
            "players": level.tables * SEATS,
            "rate": found["moves_per_s"],
            "due": found["due_per_s"],
            "p50": found["wait_ms"]["p50"],
            "p99": found["wait_ms"]["p99"],
            "seconds": found["seconds"],
        }


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())
