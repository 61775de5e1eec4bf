"""What a table, a move, a spectator and a match cost: memory, processor time by process, bytes. For bench/capacity.py.

    python -m bench.costs [--tables 600] [--seconds 20] [--write]

A server as `up` starts it (embedded Redis, fsync always; one gateway, two table actors), under the load of
`kangtou load`: all games, a stream a player, log-normal thought. Processor time is read from the system, so it does not
depend on who else uses the machine. `--write` keeps the figures in bench/costs.json, from which the model computes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import psutil
import uvloop
import zstandard

from bench._load import Tally
from bench.platform import Bench, playing
from kangtou_clients.load.figures import Figures
from kangtou_clients.load.generator import Load
from kangtou_clients.load.plan import SEATS, Plan
from kangtou_services import logs
from kangtou_services.directory import Actor, RedisDirectory
from tests.faults.server import Server, running

KEPT = Path(__file__).with_name("costs.json")
SETTLE_S = 3.0
IDLE_S = 8.0
BUSIER = 4  # so much faster they think while the cost of a move is measured: processes are to be at work
WATCHERS = 4
LISTED = 400  # actors in the directory while its cost is measured
OPENING = 24  # tables being opened at once when the opening rate is measured


def role(process: psutil.Process) -> str:
    """What a process of the server is."""
    line = " ".join(process.cmdline())
    if "TableActor" in line:
        return "actor"
    if "valkey" in line or "redis-server" in line:
        return "redis"
    for name in ("gateway", "pool", "runner", "up"):
        if f"kangtou_services {name}" in line:
            return name
    return "ray"


def by_role(server: Server) -> tuple[Counter[str], Counter[str]]:
    """Processor seconds and resident bytes."""
    cpu, memory = Counter[str](), Counter[str]()
    for process in server.processes():
        try:
            name, times = role(process), process.cpu_times()
            cpu[name] += times.user + times.system  # type: ignore[assignment]
            memory[name] += process.memory_info().rss
        except psutil.NoSuchProcess:
            continue
    return cpu, memory


class Costs:
    """Measured one after the other on one server."""

    def __init__(self, server: Server, bench: Bench, plan: Plan, seconds: float, found: dict[str, Any]) -> None:
        self.server = server
        self.bench = bench
        self.plan = plan
        self.seconds = seconds
        self.found = found

    async def redis(self) -> Mapping[str, Any]:
        """Its INFO."""
        return dict(await self.bench.client.info())

    def note(self, what: str, **figures: Any) -> None:
        """Keep and print."""
        self.found[what] = {
            name: round(value, 3) if isinstance(value, float) else value for name, value in figures.items()
        }
        print(f"{what}: " + ", ".join(f"{name} {value}" for name, value in self.found[what].items()), flush=True)

    def spent(self, before: Counter[str], after: Counter[str], seconds: float, times: int) -> dict[str, float]:
        """Microseconds of each role for each of so many things, without what it needs when nothing happens."""
        idle = self.found.get("idle_cores", {})
        return {
            name: max(0.0, after[name] - before[name] - idle.get(name, 0.0) * seconds) / times * 1e6 for name in after
        }

    async def held(self) -> None:
        """On a fresh server: what it needs when idle, what tables hold, what moves cost. Matches are left standing."""
        await asyncio.sleep(SETTLE_S)
        cpu, idle = by_role(self.server)
        await asyncio.sleep(IDLE_S)
        after, _ = by_role(self.server)
        self.note("idle_mib", **{name: size / 2**20 for name, size in idle.items()})
        self.note("idle_cores", **{name: (after[name] - cpu[name]) / IDLE_S for name in after})
        async with Load(self.server.address, self.plan, Random(1)) as load:
            await self.tables(load)
            await self.moves(load, "move")
            load.shared.plan = replace(self.plan, think_s=self.plan.think_s / BUSIER)
            await self.moves(load, "busy_move")

    async def shown(self) -> None:
        """On another: what spectators cost, and what is left of a match."""
        alone = replace(self.plan, tables=self.plan.tables // 4, rounds=1, think_s=self.plan.think_s / BUSIER)
        seen = []
        for watchers in (0, WATCHERS):
            async with Load(self.server.address, replace(alone, watchers=watchers), Random(2)) as load:
                await load.prepare(alone.tables * (SEATS + watchers))
                await load.grow(alone.tables, 4.0, lambda _: None)
                figures = await self.moves(load, "watched_move" if watchers else "plain_move")
                seen.append(figures.delivered / max(len(figures.waits), 1))
                await load.wind_down()
        plain, watched = self.found["plain_move_us"], self.found["watched_move_us"]
        self.note(
            "watcher_us",
            deliveries_a_move=seen[1],
            **{name: max(watched[name] - plain[name], 0.0) / seen[1] for name in ("gateway", "actor")},
        )
        await self.archive()
        await self.bytes_of_a_move()
        await self.directory()

    async def tables(self, load: Load) -> None:
        """Opening, and what an open table with its four players holds."""
        tables = self.plan.tables
        await load.prepare(tables * SEATS)
        await asyncio.sleep(SETTLE_S)
        (cpu, memory), info = by_role(self.server), await self.redis()
        load.shared.figures = Figures(load.loop.time())
        began = load.loop.time()
        while load.wanted < tables or len(load.figures.opened) < tables:
            waiting = load.wanted - len(load.figures.opened)
            for _ in range(min(OPENING - waiting, tables - load.wanted)):
                load.wanted += 1
                load._arrive(load.loop.time())
            await asyncio.sleep(0.005)
            if load.loop.time() - began > 120:
                raise RuntimeError(f"{tables} tables were not open after two minutes: {load.figures.refused}")
        took = load.loop.time() - began
        (cpu_after, memory_after), info_after = by_role(self.server), await self.redis()
        played = len(load.figures.waits)
        self.note("opening", tables=tables, per_s=tables / took, moves_meanwhile=played)
        self.note("opening_us", **self.spent(cpu, cpu_after, took, tables))
        grown = {name: (memory_after[name] - memory[name]) / tables / 1024 for name in ("actor", "gateway")}
        grown["redis"] = (info_after["used_memory"] - info["used_memory"]) / tables / 1024
        self.note("table_kib", **grown, tables_per_gib=2**20 / sum(grown.values()))

    async def moves(self, load: Load, what: str) -> Figures:
        """A load that the server bears easily."""
        await load.measure(SETTLE_S, lambda _: None)
        (cpu, _), info = by_role(self.server), await self.redis()
        figures = await load.measure(self.seconds, lambda _: None)
        result = figures.result(load.loop.time(), len(load.tables))
        (cpu_after, _), info_after = by_role(self.server), await self.redis()
        moves = result["moves"]
        if result["refused"] or not moves:
            raise RuntimeError(f"{result['refused']}, {moves} moves: the figures would mean nothing")
        waits = result["wait_ms"]
        self.note(
            what,
            per_s=result["moves_per_s"],
            due_per_s=result["due_per_s"],
            per_table_and_s=result["due_per_s"] / load.plan.tables,
            p50_ms=waits["p50"],
            p99_ms=waits["p99"],
            generator_p99_ms=result["behind_ms"]["p99"],
            log_bytes=(info_after["aof_current_size"] - info["aof_current_size"]) / moves,
            tables_ended=result["matches_finished"],
        )
        self.note(f"{what}_us", **self.spent(cpu, cpu_after, result["seconds"], moves))
        return figures

    async def archive(self) -> None:
        """Bytes of a record, compressed, and moves, of matches of one round."""
        paths = sorted((self.server.data / "archive").rglob("*.ktr.zst"))
        texts = [zstandard.ZstdDecompressor().decompress(path.read_bytes(), 1 << 26).decode() for path in paths]
        moves = [int(found[1]) for text in texts if (found := re.search(r"^result .*moves=(\d+)", text, re.MULTILINE))]
        size = sum(path.stat().st_size for path in paths)
        self.note(
            "archive",
            records=len(paths),
            bytes_a_round=size / len(paths),
            text_bytes_a_round=sum(map(len, texts)) / len(paths),
            moves_a_round=sum(moves) / len(moves),
        )

    async def bytes_of_a_move(self) -> None:
        """What a player's stream carries: four deliveries and about one question a move."""
        tally = Tally()
        async with playing(await self.bench.streams(16, tally, shared=False)):
            await asyncio.sleep(3.0)
        down = tally.entry_bytes + tally.prompt_bytes
        self.note("stream", bytes_a_move=down / max(tally.moves, 1))

    async def directory(self) -> None:
        """What Redis spends on one actor's heartbeat being read, as every process reads all of them twice a second."""
        actors = RedisDirectory(self.bench.client)
        for number in range(LISTED):
            await actors.register(Actor(f"bench-{number}", "unix:/nowhere", "local", 0))
        (cpu, _), looks = by_role(self.server), 400
        for _ in range(looks):
            await actors.living()
        (after, _) = by_role(self.server)
        self.note("directory", read_us=(after["redis"] - cpu["redis"]) / looks / LISTED * 1e6)


async def measure(args: argparse.Namespace) -> dict[str, Any]:
    """On a server of its own."""
    plan = Plan(tables=args.tables, think_s=args.think, rounds=4, connections=32)
    given = {"gateways": 1, "actors": 2, "log_level": "warning", "tournaments": False, "registrations": 10**6}
    found: dict[str, Any] = {}
    for what in (Costs.held, Costs.shown):
        with (
            tempfile.TemporaryDirectory(prefix="kt-bench-") as folder,
            running(Path(folder) / "data", **given) as server,
        ):
            bench = Bench(server)
            try:
                await what(Costs(server, bench, plan, args.seconds, found))
            finally:
                await bench.client.aclose()
    found["plan"] = {"tables": plan.tables, "think_s": plan.think_s, "spread": plan.spread, "cores": os.cpu_count()}
    return found


def main() -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=600)
    parser.add_argument("--think", type=float, default=3.0, help="median thinking time, seconds")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    logs.configure("error", "bench")
    found = uvloop.run(measure(args))
    if args.write:
        KEPT.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
