"""`kangtou demo`: the main job before your eyes. A server, four bots in the queue, matches, a replay, a proof."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.live import Live
from rich.table import Table

from kangtou_engine.registry import REGISTRY

from ..api import ApiError, connect
from .common import of
from .exits import FAILED, NOT_FOUND, OK

BOTS = (("greedy", "Lao Wang"), ("random", "Xiao Li"), ("greedy", "Da Liu"), ("random", "Er Ma"))


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("demo")(demo)


def demo(
    context: typer.Context,
    matches: Annotated[int, typer.Option("--matches", min=1, max=1000, help="matches that each bot plays")] = 16,
    tables: Annotated[int, typer.Option("--tables", min=1, max=64, help="tables at once")] = 4,
    game: Annotated[str, typer.Option("--game", help="which game")] = "hongshi",
) -> int:
    """Bring everything up, let four bots play over gRPC, replay and verify a match; leaves nothing behind.

    \b
    Examples:
      kangtou demo
      kangtou demo --game duizhu --matches 4
    """
    common = of(context)
    if game not in REGISTRY.names():
        raise common.fail(NOT_FOUND, "no_game", game=game, games=", ".join(REGISTRY.names()))
    console = Console(no_color=not common.colour, highlight=False)
    return asyncio.run(_Demo(console, game, matches, tables, common.lang).run())


@dataclass(slots=True)
class Bot:
    """A bot's process and what it has told of itself."""

    policy: str
    name: str
    process: asyncio.subprocess.Process
    matches: int = 0
    moves: int = 0
    score: int = 0
    waits_ms: list[float] = field(default_factory=list)


class _Demo:
    def __init__(self, console: Console, game: str, matches: int, tables: int, lang: str) -> None:
        self.console = console
        self.game = game
        self.matches = matches
        self.tables = tables
        self.lang = lang
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = int(probe.getsockname()[1])
        self.environment = dict(os.environ)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    async def run(self) -> int:
        started = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="kangtou-demo-") as folder:
            self.environment["XDG_CONFIG_HOME"] = str(Path(folder) / "config")
            self.console.print(f"[bold]1.[/] A server: embedded Redis, local Ray, gateway on {self.address}")
            (Path(folder) / "data").mkdir()
            async with self._server(Path(folder) / "data"):
                self.console.print(f"   ready after {time.monotonic() - started:.1f} s")
                bots, seconds = await self._bots()
                hosted = await self._hosted()
                good = await self._archive(bots)
        moves = sum(bot.moves for bot in bots)
        waits = sorted(wait for bot in bots for wait in bot.waits_ms)
        done = sum(bot.matches for bot in bots) // len(bots)
        self.console.print("\n[bold]Summary[/]")
        self.console.print(f"  {done} matches, {moves} moves in {seconds:.1f} s: {moves / seconds:,.0f} moves/s")
        if waits:
            p50, p99 = waits[len(waits) // 2], waits[min(len(waits) - 1, len(waits) * 99 // 100)]
            self.console.print(f"  a move is answered (durable) after p50 {p50:.1f} ms, p99 {p99:.1f} ms")
        self.console.print("  tables hosted: " + ", ".join(f"{name} {count}" for name, count in sorted(hosted.items())))
        self.console.print(f"  in all {time.monotonic() - started:.0f} s; nothing is left running")
        complete = done == self.matches and all(bot.process.returncode == 0 for bot in bots)
        return OK if good and complete else FAILED

    @asynccontextmanager
    async def _server(self, data: Path) -> AsyncIterator[None]:
        settings = {"DATA": str(data), "PORT": str(self.port), "GATEWAYS": "1", "ACTORS": "2", "HOUSE_BOTS": "0"}
        environment = {**self.environment, **{f"KANGTOU_{name}": value for name, value in settings.items()}}
        with (data / "up.log").open("wb") as errors:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "kangtou_services", "up"),
                env=environment,
                stdout=asyncio.subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )
        try:
            assert process.stdout is not None
            async with asyncio.timeout(120):
                line = await process.stdout.readline()
            if not line.startswith(b"ready"):
                self.console.print((data / "up.log").read_text(errors="replace")[-2000:])
                raise SystemExit(FAILED)
            yield
        finally:
            if process.returncode is None:
                process.send_signal(signal.SIGTERM)
            await process.wait()

    # ---- the bots ----

    async def _bots(self) -> tuple[list[Bot], float]:
        self.console.print(
            f"[bold]2.[/] Four bots queue for {self.game} in a rated pool and play {self.matches} matches,"
            f" {self.tables} tables at once"
        )
        started = time.monotonic()
        bots = [Bot(policy, name, await self._bot(policy, name)) for policy, name in BOTS]
        try:
            with Live(self._progress(bots, started), console=self.console, refresh_per_second=4) as live:
                readers = [asyncio.ensure_future(self._read(bot)) for bot in bots]
                while not all(reader.done() for reader in readers):
                    await asyncio.wait(readers, timeout=0.25)
                    live.update(self._progress(bots, started))
                await asyncio.gather(*readers)
        finally:
            for bot in bots:
                if bot.process.returncode is None:
                    bot.process.terminate()
                await bot.process.wait()
        return bots, time.monotonic() - started

    async def _bot(self, policy: str, name: str) -> asyncio.subprocess.Process:
        words = ["bot", "run", "--bot", policy, "--game", self.game, "--matches", str(self.matches)]
        words += ["--concurrency", str(self.tables), "--pool", "demo", "--rated", "--option", "rounds=3"]
        return await self._command(*words, "--name", name, "--json", "--server", self.address)

    async def _command(self, *words: str) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "kangtou_clients", *words),
            env=self.environment,
            stdout=asyncio.subprocess.PIPE,
        )

    async def _read(self, bot: Bot) -> None:
        assert bot.process.stdout is not None
        async for line in bot.process.stdout:
            told: dict[str, Any] = json.loads(line)
            bot.matches, bot.moves, bot.score = told["matches"], told["moves"], told["score"]
            bot.waits_ms = told.get("waits_ms") or bot.waits_ms

    def _progress(self, bots: list[Bot], started: float) -> Table:
        table = Table(box=None, padding=(0, 2))
        for title in ("bot", "plays", "matches", "moves", "moves/s", "score"):
            table.add_column(title, justify="left" if title in ("bot", "plays") else "right")
        spent = max(time.monotonic() - started, 0.1)
        for bot in bots:
            share = f"{bot.matches}/{self.matches}"
            table.add_row(bot.name, bot.policy, share, str(bot.moves), f"{bot.moves / spent:.0f}", f"{bot.score:+}")
        return table

    # ---- what is left of the matches ----

    async def _hosted(self) -> dict[str, int]:
        async with connect(self.address) as client:
            try:
                status = await client.status()
            except ApiError:
                return {}
        return {actor.actor_id: actor.hosted for actor in status.actors}

    async def _archive(self, bots: list[Bot]) -> bool:
        self.console.print("[bold]3.[/] The archive")
        await self._output("register", "Demo", "--server", self.address)
        listed = await self._output("archive", "list", "--json", "--server", self.address)
        records = [json.loads(line) for line in listed.splitlines()]
        for record in records[:5]:
            self.console.print(f"   {record['match']}  {record['game']}  scores {record['scores']}")
        self.console.print(f"   … {len(records)} matches in all")
        if not records:
            return False
        match = records[0]["match"]
        self.console.print(f"[bold]4.[/] {match} again: the first tricks from seat 0, then open")
        for view in (("--seat", "0"), ("--open",)):
            lines = await self._output("replay", match, *view, "--from", "1:1", "--to", "1:3", "--server", self.address)
            shown = lines.splitlines()
            for line in shown[:40]:
                self.console.print(f"   {line}", markup=False, soft_wrap=True)
        self.console.print(f"[bold]5.[/] {match} verified: seed, commitments, deals, hashes, every event")
        process = await self._command("verify", match, "--server", self.address)
        said, _ = await process.communicate()
        for line in said.decode().splitlines():
            self.console.print(f"   {line}", markup=False, soft_wrap=True)
        return process.returncode == 0 and len(records) >= min(self.matches, 20)

    async def _output(self, *words: str) -> str:
        process = await self._command(*words)
        said, _ = await process.communicate()
        return said.decode()
