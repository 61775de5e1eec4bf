"""Others' answers while one client is hostile, and while none is: interleaved pairs on one real server.

    python -m bench.hostile [--only load|flood|never-reads|streams] [--pairs 7] [--seconds 20] [--tables 200]
                            [--watchers 2000] [--think 3] [--drops 100000] [--minutes 10]

`up` with its embedded Redis, Ray actors and a gateway bears active tables of all games whose players think like people,
each watched by a part of the watchers: every player and watcher is an account with a stream, 200 streams share a
connection. The hostile client (bench/_hostile.py) is a process of its own with the lowest priority, since it would be
another machine. `load` has no hostile client: `--minutes` of the load alone, for the memory.

Shown: p99 of a move from when it was meant to be sent, its ratio in pairs (wanted: median at most 1.25); what is left
of the hostile client afterwards (nothing: tasks, descriptors, streams, subscriptions); growth of resident memory over
the second half of the run (wanted, if that is 4 minutes or more: below 1 % in ten minutes). Exit code 1 if something is
not as wanted. Redis is shown, and not judged: it keeps finished tables for a day.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self

import uvloop

from bench._hostile import KINDS
from bench._leftovers import COUNTED, Memory, held, left_over, metrics, total, troubles
from bench.platform import spread
from kangtou_clients.load.figures import Figures, percentile
from kangtou_clients.load.generator import Load
from kangtou_clients.load.plan import Plan
from kangtou_services.gateway.limits import LOOK_S, STALL_S
from tests.faults.server import Server, running

RATIO_MOST = 1.25
GROWTH_MOST = 1.0  # per cent in ten minutes
CUT_MOST_S = STALL_S + LOOK_S + 35  # a seat's stream that is not read; 35 s in which its window fills
OURS = ("gateway", "pool", "up", "ray::TableActor")  # whose memory is bounded here
DATA = ("valkey-server", "redis-server")  # shown: it grows by what is kept of finished tables for a day
MOVING = 8  # tables at most between two matches, each with its players and watchers
SETTINGS = {"gateways": 1, "log_level": "warning", "tournaments": False, "registrations": 10**6}
JUDGED_MIN = 4.0  # a slope over less is shown, and says little
KEEP_MS = 60_000  # live logs of finished matches: so Redis is in its steady state within minutes, not after an hour


class Client:
    """A hostile client, which waits until it is let go."""

    def __init__(self, kind: str, address: str) -> None:
        self.kind = kind
        self._line = ["nice", "-n", "19", sys.executable, "-m", "bench._hostile", kind, address]

    async def __aenter__(self) -> Self:
        self._child = await asyncio.create_subprocess_exec(
            *self._line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, limit=2**20
        )
        await self._said()
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._child.stdin is not None
        self._child.stdin.close()
        await self._child.wait()

    async def _said(self) -> dict[str, Any]:
        assert self._child.stdout is not None
        line = await self._child.stdout.readline()
        if not line:
            raise RuntimeError(f"the hostile client has ended: {self.kind}")
        counts: dict[str, Any] = json.loads(line)
        return counts

    async def tell(self, words: str) -> dict[str, Any]:
        """One line; what it has counted so far."""
        assert self._child.stdin is not None
        self._child.stdin.write(words.encode() + b"\n")
        return await self._said()


class Run:
    """A server under load."""

    def __init__(self, server: Server, load: Load, memory: Memory, args: argparse.Namespace) -> None:
        self.server = server
        self.load = load
        self.memory = memory
        self.args = args
        self.bad: list[str] = []
        self.trouble: Counter[str] = Counter()  # of the others: refusals and broken streams

    async def measured(self, seconds: float) -> float:
        """p99 of a move in ms."""
        figures = await self.load.measure(seconds, lambda _: None)
        self.note(figures)
        return p99(figures)

    def note(self, figures: Figures) -> None:
        """What others were refused, and the streams that they lost."""
        self.trouble += Counter(figures.refused)
        self.trouble["streams lost"] += figures.lost

    async def matches(self) -> str:
        """All that is in play, separated by commas."""
        return ",".join(sorted(await asyncio.to_thread(_live, self.server)))

    def judge(self, good: bool, text: str) -> None:
        """Print a line; remember it if it is not as wanted."""
        print(text if good else f"NOT AS WANTED: {text}", flush=True)
        if not good:
            self.bad.append(text)

    async def kind(self, kind: str) -> None:
        """Pairs with and without one kind of client, and what is left of it."""
        before, began, self.trouble = await held(self.server), time.monotonic(), Counter()
        alive = await asyncio.to_thread(_processes, self.server)
        counted = await asyncio.to_thread(metrics, self.server)
        ratios = []
        async with Client(kind, self.server.address) as client:
            counts: dict[str, Any] = {}
            for _ in range(self.args.pairs):
                without = await self.measured(self.args.seconds)
                with_it, counts = await self.with_it(client)
                ratios.append(with_it / without)
                print(f"  {kind}: p99 without {without:.1f} ms, with {with_it:.1f} ms", flush=True)
            if kind == "never-reads":
                await self.cut(client)
        print(f"{kind}: the client counted {', '.join(f'{name} {many:,}' for name, many in counts.items())}")
        await self.ended(kind, before, counted, alive)
        good = statistics.median(ratios) <= RATIO_MOST
        self.judge(good, f"{kind}: p99 with / without: {spread(ratios)} over {len(ratios)} pairs")
        self.growth(kind, began)

    async def with_it(self, client: Client) -> tuple[float, dict[str, Any]]:
        """p99 while it is hostile; what it has counted."""
        if client.kind != "streams":
            await client.tell(f"go {await self.matches()}")
            p99_ms = await self.measured(self.args.seconds)
            return p99_ms, await client.tell("halt")
        self.load.shared.figures = Figures(self.load.loop.time())
        counts = await client.tell(f"go {-(-self.args.drops // self.args.pairs)}")
        self.note(self.load.figures)
        return p99(self.load.figures), counts

    async def cut(self, client: Client) -> None:
        """How long a stream is borne that is not read: it has a seat, and more to read than its window holds."""
        name, began = "kangtou_streams_cut_total", time.monotonic()
        before = total(await asyncio.to_thread(metrics, self.server), name)
        await client.tell(f"go {await self.matches()}")
        took = 0.0
        while took <= CUT_MOST_S and total(await asyncio.to_thread(metrics, self.server), name) == before:
            await asyncio.sleep(0.5)
            took = time.monotonic() - began
        await client.tell("halt")
        good = took <= CUT_MOST_S
        self.judge(good, f"never-reads: a stream was ended after {took:.0f} s (at most {CUT_MOST_S:.0f} s)")

    async def ended(self, kind: str, before: Any, counted: Any, alive: set[str]) -> None:
        """What is left of it."""
        moving = MOVING * (4 + self.args.watchers / self.args.tables)
        after = await held(self.server)
        for _ in range(5):  # gRPC notices only after a while that connections have ended
            if not left_over(before, after, moving):
                break
            after = await held(self.server)
        more = left_over(before, after, moving)
        told = ", ".join(f"{name} {many:+.0f}" for name, many in more.items())
        self.judge(not more, f"{kind}: left over afterwards: {told or '0 tasks, descriptors, streams, subscriptions'}")
        restarted = alive ^ await asyncio.to_thread(_processes, self.server)
        faults = troubles(self.server.data)
        self.judge(
            not (restarted or faults or self.trouble.total()),
            f"{kind}: crashes {len(restarted)}, faults in logs {len(faults)} {faults[:1] or ''}, "
            f"others' refusals and lost streams {self.trouble.total()}: {dict(+self.trouble)}",
        )
        now = await asyncio.to_thread(metrics, self.server)
        for name in COUNTED:
            print(f"{kind}: {name} {total(now, name) - total(counted, name):,.0f}", flush=True)

    def growth(self, kind: str, began: float) -> None:
        """Of resident memory, over the second half of what was run since `began`."""
        half = (began + time.monotonic()) / 2
        worst = grown(self.memory, half)
        minutes = (time.monotonic() - half) / 60
        good = worst < GROWTH_MOST or minutes < JUDGED_MIN
        self.judge(good, f"{kind}: memory grows by at most {worst:.2f} % in ten minutes, over {minutes:.1f} min")

    async def alone(self) -> None:
        """The load without anybody hostile."""
        began = time.monotonic()
        figures = await self.load.measure(self.args.minutes * 60, lambda _: None)
        found = figures.result(self.load.loop.time(), len(self.load.tables))
        troubled = figures.troubles
        waits = found["wait_ms"]
        self.judge(
            not troubled,
            f"load: {found['tables']} tables, {self.args.watchers:,} watchers, {found['moves']:,} moves, "
            f"{found['moves_per_s']} moves/s, p50 {waits['p50']:.1f} ms, p99 {waits['p99']:.1f} ms, "
            f"refused or lost {troubled}",
        )
        self.growth("load", began)


def grown(memory: Memory, since: float) -> float:
    """Print how much each process grows; the most of those that are bounded, per cent in ten minutes."""
    slopes = {name: one for name, one in memory.slopes(since).items() if name.startswith((*OURS, *DATA))}
    for name, (mib, growth) in slopes.items():
        print(f"  {name}: {mib:.1f} MiB, {growth:+.2f} % in ten minutes", flush=True)
    return max(growth for name, (_, growth) in slopes.items() if name.startswith(OURS))


def p99(figures: Figures) -> float:
    """In ms. Raises RuntimeError where nothing was measured."""
    if len(figures.waits) < 100:
        raise RuntimeError(f"{len(figures.waits)} moves: the figures would mean nothing")
    return percentile(sorted(figures.waits), 0.99) * 1000


def _processes(server: Server) -> set[str]:
    return {*server.actors(), *server.gateways()}


def _live(server: Server) -> set[str]:
    with server.redis() as client:
        return {str(name).split("}")[0].removeprefix("{m:") for name in client.scan_iter("{m:*}:owner", count=1000)}


async def everything(args: argparse.Namespace) -> int:
    """Start, bear, stop; the exit code."""
    plan = Plan(
        tables=args.tables,
        think_s=args.think,
        watchers=args.watchers // args.tables,
        connections=-(-(args.tables * 4 + args.watchers) // 175),
    )
    with (
        tempfile.TemporaryDirectory(prefix="kt-bench-") as folder,
        running(Path(folder) / "data", actors=args.actors, keep_log_ms=KEEP_MS, **SETTINGS) as server,
    ):
        memory = Memory(server)
        watching = asyncio.create_task(memory.watch())
        try:
            async with Load(server.address, plan) as load:
                run = Run(server, load, memory, args)
                await settle(load, args)
                for kind in [args.only] if args.only else ["load", *KINDS]:
                    await (run.alone() if kind == "load" else run.kind(kind))
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
    return 1 if run.bad else 0


async def settle(load: Load, args: argparse.Namespace) -> None:
    """Players, tables, and a while in which caches fill and the first matches end."""
    began = time.monotonic()
    await load.prepare(args.tables * 4 + args.watchers)
    await load.grow(args.tables, args.ramp, lambda _: None)
    figures = await load.measure(args.warm, lambda _: None)
    found = figures.result(load.loop.time(), len(load.tables))
    print(
        f"{found['tables']} tables, {args.watchers:,} watchers, {found['moves_per_s']} moves/s, "
        f"{found['delivered_per_s']} updates/s to watchers; p99 {found['wait_ms']['p99']:.1f} ms, generator late "
        f"{found['behind_ms']['p99']:.1f} ms; ready after {time.monotonic() - began:.0f} s",
        flush=True,
    )


def options(words: Iterable[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=["load", *KINDS])
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=20.0, help="of each half of a pair")
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--watchers", type=int, default=2_000)
    parser.add_argument("--think", type=float, default=3.0, help="median, seconds")
    parser.add_argument("--ramp", type=float, default=30.0, help="seconds in which the tables arrive")
    parser.add_argument("--warm", type=float, default=60.0, help="seconds after that before anything is measured")
    parser.add_argument("--drops", type=int, default=100_000, help="streams that are opened and dropped in all")
    parser.add_argument("--minutes", type=float, default=10.0, help="of `load`")
    parser.add_argument("--actors", type=int, default=2)
    return parser.parse_args(None if words is None else list(words))


def main() -> int:
    """Measure and print."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return uvloop.run(everything(options()))


if __name__ == "__main__":
    sys.exit(main())
