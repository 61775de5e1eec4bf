"""`kangtou bot check`: whether a bot keeps to the protocol."""

from __future__ import annotations

import asyncio
import shlex
import shutil
import signal
from typing import Annotated

import typer
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from kangtou_engine.registry import REGISTRY

from ..api import ApiError
from ..bots.check.trial import bench, with_drop
from ..bots.check.verdicts import BAD, DROP_AFTER, MANY_TABLES, Trials, Verdict, as_json, verdicts
from ..practice import PracticeError
from ..screen import Screen
from .bot_check_account import by_account, checked_account
from .common import Common, of
from .exits import FAILED, GAVE_UP, NOT_FOUND, OK, USAGE, CommandError

MARKS = {"ok": "✓", "bad": "✗", "note": "·"}


def check(
    context: typer.Context,
    command: Annotated[
        str, typer.Argument(metavar="CMD|ACCOUNT", help="the bot's command line, in quotes; or its account's id")
    ],
    game: Annotated[
        list[str] | None, typer.Option("--game", help="only this game (again for more); default: all")
    ] = None,
    rounds: Annotated[int, typer.Option("--rounds", min=1, max=1000, help="of each match")] = 2,
    turn_ms: Annotated[int, typer.Option("--turn-ms", min=100, max=600_000, help="the clock of the matches")] = 10_000,
    most_ms: Annotated[
        int, typer.Option("--most-ms", min=1, max=600_000, help="the slowest answer that will do")
    ] = 1_000,
    listen: Annotated[
        str, typer.Option("--listen", metavar="HOST:PORT", help="ACCOUNT: where the bot is to connect; port 0: any")
    ] = "127.0.0.1:0",
    wait_s: Annotated[
        int, typer.Option("--wait-s", min=1, max=86_400, help="ACCOUNT: how long the bot is waited for")
    ] = 120,
) -> int:
    """Check a bot: protocol, legality, time, reconnection, several tables, how it ends.

    CMD: starts a server of its own and the bot once for each trial, with KANGTOU_SERVER, KANGTOU_TOKEN, KANGTOU_MATCH
    and KANGTOU_SEAT in its environment, as a tournament does (docs/bots.md).

    ACCOUNT: a bot that runs by itself and waits to be told of its games, at a server with a runner to which you are
    signed in. Have it connect to the address that is shown; short tournaments against greedy are played there.

    Exit code 1 if something is wrong.

    \b
    Examples:
      kangtou bot check "python examples/bots/greedy_bot.py"
      kangtou bot check "node examples/bots/node/bot.js" --game hongshi --rounds 5
      kangtou bot check ./my_bot --most-ms 200 --json
      kangtou --server play.example:7480 bot check k3m9x2q7abcdefgh --listen 0.0.0.0:7999
    """
    common = of(context)
    account = by_account(command)
    words = () if account else _words(command)
    games = tuple(game or REGISTRY.names())
    for name in games:
        if name not in REGISTRY.names():
            raise common.fail(NOT_FOUND, "no_game", game=name, games=", ".join(REGISTRY.names()))
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if account:
        trials = checked_account(common, command, games, rounds, turn_ms, listen, wait_s)
        return _told(common, trials, most_ms)
    try:
        trials = asyncio.run(_trials(common, words, games, rounds, turn_ms))
    except (PracticeError, ApiError) as error:
        raise CommandError(GAVE_UP, str(error)) from error
    return _told(common, trials, most_ms)


def _told(common: Common, trials: Trials, most_ms: int) -> int:
    found = verdicts(trials, most_ms)
    if common.json:
        common.put_json(as_json(trials, found))
    else:
        _show(common, found)
    return FAILED if any(one.grade == BAD for one in found) else OK


def _words(command: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise CommandError(USAGE, f"CMD cannot be read: {error}") from error
    if not words:
        raise CommandError(USAGE, "CMD is empty")
    if shutil.which(words[0]) is None:
        raise CommandError(NOT_FOUND, f"there is no program {words[0]!r}")
    return words


async def _trials(
    common: Common, command: tuple[str, ...], games: tuple[str, ...], rounds: int, turn_ms: int
) -> Trials:
    """All trials, one after the other: the bot's times shall be its own."""
    trials, options = Trials(), {"rounds": rounds, "between": False}
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    bar = Progress(*columns, console=Screen(stderr=True, no_color=not common.colour), disable=common.json)
    async with bench(command, turn_ms) as table:
        with bar:
            task = bar.add_task("", total=None)
            for name in games:
                bar.update(task, description=f"{name}: {rounds} rounds")
                trials.games[name] = await table.play(name, options)
            if not any(run.seen.matches for run in trials.games.values()):
                return trials  # it never came: nothing else can be seen
            short = {"rounds": 1, "between": False}
            bar.update(task, description="the server drops its streams")
            trials.dropped = await with_drop(lambda: table.play(games[0], short, drop=DROP_AFTER))
            bar.update(task, description=f"{MANY_TABLES} tables")
            trials.several = await table.play(games[0], short, tables=MANY_TABLES)
            bar.update(task, description="a token that is not valid")
            trials.away = await table.turned_away()
    return trials


def _show(common: Common, found: list[Verdict]) -> None:
    table = Table(box=None, pad_edge=False)
    for title in ("", "check" if common.lang == "en" else "检查", "found" if common.lang == "en" else "结果"):
        table.add_column(title, overflow="fold")
    for one in found:
        advice = one.advice[0 if common.lang == "en" else 1]
        table.add_row(MARKS[one.grade], one.name, one.found + (f"\n→ {advice}" if advice else ""))
    Screen(no_color=not common.colour, width=110).print(table)
