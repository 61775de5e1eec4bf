"""`kangtou bot`: programs that play. `run` queues and plays, `serve` is the house, `check` tries somebody's bot."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from ..bots.house import NotOfTheHouse
from ..bots.house import serve as serve_house
from ..bots.player import Tally
from ..bots.policies import POLICIES, is_bot
from ..bots.runner import run_queue
from ..screen import Screen
from .bot_check import check
from .common import DEFAULT_SERVER, Common, of
from .config import folder
from .exits import FAILED, NOT_ALLOWED, OK, USAGE, CommandError
from .lobby import wanted_of
from .remote import Remote
from .remote import run as run_remote


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(help="Bots that play by themselves.", no_args_is_help=True, rich_markup_mode=None)
    group.command("run")(run)
    group.command("serve")(serve)
    group.command("check")(check)
    app.add_typer(group, name="bot")


def run(
    context: typer.Context,
    policy: Annotated[str, typer.Option("--bot", metavar="|".join(POLICIES), help="how it plays")] = "greedy",
    game: Annotated[str, typer.Option("--game", help="which game: see `kangtou games`")] = "hongshi",
    matches: Annotated[int, typer.Option("--matches", min=1, max=1_000_000, help="how many to play")] = 1,
    concurrency: Annotated[int, typer.Option("--concurrency", min=1, max=256, help="how many at once")] = 1,
    name: Annotated[str, typer.Option("--name", help="the name of the account that is made for it")] = "",
    option: Annotated[list[str] | None, typer.Option("--option", metavar="NAME=VALUE", help="a house option")] = None,
    pool: Annotated[str, typer.Option("--pool", help="a named pool, apart from the common one")] = "",
    rated: Annotated[bool, typer.Option("--rated", help="queue for rated matches")] = False,
    seed: Annotated[int | None, typer.Option("--seed", help="repeat the same choices")] = None,
) -> int:
    """Queue for matches and play them. The bot is an account of its own, made for this run.

    \b
    Examples:
      kangtou bot run --game hongshi --matches 10 --concurrency 4
      kangtou bot run --bot random --game wushik --option variant=jinzhou --pool house
      kangtou bot run --matches 100 --json | tail -1
    """
    common = of(context)
    if not is_bot(policy):
        raise CommandError(USAGE, f"--bot is one of {', '.join(POLICIES)}, not {policy!r}")
    wanted = wanted_of(common, game, option or [], 0, 0, 0)
    shown = name or f"{policy} {game}"[:24]

    async def work(remote: Remote) -> int:
        remote.given(await remote.client.accounts.register(shown, "bot"))
        told = _Told(common, matches)
        with told:
            result = await run_queue(
                remote.client,
                wanted,
                policy,
                matches=matches,
                concurrency=concurrency,
                rated=rated,
                pool=pool,
                seed=seed,
                progress=told.progress,
            )
        tally = remote.given(result)
        told.end(tally)
        return OK if tally.matches == matches and not tally.warnings else FAILED

    return run_remote(common, work, signed=False)


class _Told:
    """Progress: a bar for people, JSON lines for programs (the last one with the times of answers)."""

    def __init__(self, common: Common, matches: int) -> None:
        self._common = common
        self._began = time.monotonic()
        self._last = 0.0
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
        )
        console = Screen(stderr=True, no_color=not common.colour)
        self._bar = Progress(*columns, console=console, disable=common.json)
        self._task = self._bar.add_task("matches", total=matches)

    def __enter__(self) -> None:
        self._bar.start()

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def progress(self, tally: Tally) -> None:
        """After each match."""
        self._bar.update(self._task, completed=tally.matches, description=f"{tally.moves} moves")
        now = time.monotonic()
        if self._common.json and now - self._last > 0.2:
            self._last = now
            self._common.put_json({"matches": tally.matches, "moves": tally.moves, "score": tally.score})

    def end(self, tally: Tally) -> None:
        """At the end."""
        seconds = time.monotonic() - self._began
        if self._common.json:
            waits = sorted(tally.waits_ms)
            sample = [round(wait, 2) for wait in waits[:: max(1, len(waits) // 500)]]
            self._common.put_json(
                {
                    "matches": tally.matches,
                    "moves": tally.moves,
                    "score": tally.score,
                    "warnings": tally.warnings,
                    "seconds": round(seconds, 2),
                    "waits_ms": sample,
                }
            )
            return
        self._common.put(
            f"{tally.matches} matches, {tally.moves} moves, score {tally.score:+}, {tally.moves / seconds:.0f} moves/s,"
            f" p50 {tally.wait_ms(0.5):.1f} ms, p99 {tally.wait_ms(0.99):.1f} ms"
        )
        if tally.warnings:
            self._common.put(f"{tally.warnings} warnings: the shuffle does not fit what was committed to")


def serve(
    context: typer.Context,
    tables: Annotated[
        int, typer.Option("--tables", min=1, max=256, help="matches at once of each account in each game")
    ] = 4,
    policy: Annotated[str, typer.Option("--bot", metavar="|".join(POLICIES), help="how they play")] = "greedy",
    accounts: Annotated[
        int, typer.Option("--accounts", min=1, max=64, help="an account has one seat in a match; 5 fill a table of six")
    ] = 5,
    secret_file: Annotated[
        Path,
        typer.Option("--secret-file", help="where the server's house secret is, unless KANGTOU_HOUSE_SECRET is it"),
    ] = Path("kangtou-data/house.secret"),
    keep: Annotated[
        Path | None, typer.Option("--keep", help="folder for their accounts; default: beside the configuration")
    ] = None,
) -> int:
    """House bots: they take free seats, fill queues and stand in for players who are away, where the server asks them.

    `kangtou up` keeps one going; more may run, here or elsewhere, with the server's house secret. The accounts are kept
    across restarts. Runs until Ctrl-C, then hands its seats over.

    \b
    Examples:
      kangtou bot serve --secret-file /srv/kangtou/house.secret
      KANGTOU_HOUSE_SECRET=... kangtou --server cards.example:7480 bot serve --accounts 3 --tables 8
    """
    common = of(context)
    if not is_bot(policy):
        raise CommandError(USAGE, f"--bot is one of {', '.join(POLICIES)}, not {policy!r}")
    secret = os.environ.get("KANGTOU_HOUSE_SECRET", "")
    try:
        secret = secret or secret_file.read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        raise CommandError(USAGE, f"no house secret: KANGTOU_HOUSE_SECRET is not set, and no {secret_file}") from error

    def told(line: str) -> None:
        if common.json:
            common.put_json({"serving": line.split(" ")[-2]})
        else:
            common.put(line)

    async def work() -> None:
        server, folder_of = common.server or DEFAULT_SERVER, keep or folder() / "house"
        serving = asyncio.ensure_future(
            serve_house(
                server, secret=secret, keep=folder_of, accounts=accounts, tables=tables, policy=policy, told=told
            )
        )
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, serving.cancel)
        with contextlib.suppress(asyncio.CancelledError):
            await serving

    try:
        asyncio.run(work())
    except NotOfTheHouse as error:
        raise common.fail(NOT_ALLOWED, "server_says", text=error) from error
    except OSError as error:
        raise CommandError(USAGE, f"{keep or folder() / 'house'}: {error.strerror}") from error
    return OK
