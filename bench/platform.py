"""The platform under load: gateways, Ray table actors and Redis with fsync always, against a bare grpc.aio server.

    python -m bench.platform [--seconds 3] [--pairs 11] [--only pairs|tables|actors|streams|open]

Four bots a table, 红十, no pauses. Shown: moves a second, answer times, processor time of all server processes a move;
ratios are medians of interleaved pairs with their spread. The machine is noisy: quote ratios and processor time.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import uvloop

from bench._load import Stream, Tally, channel_to, run
from kangtou_engine.shuffle import SEED_BYTES, seed_commitment
from kangtou_services.accounts.accounts import Accounts, AccountSettings
from kangtou_services.accounts.redis import RedisAccountStore
from kangtou_services.agreement import BOT, Agreement, Member, new_id
from kangtou_services.identity import Issued
from kangtou_services.log.redis import RedisMatchStore
from kangtou_services.marks import RedisMarks
from kangtou_services.redis_client import connect
from tests.faults.server import Server, running
from tests.servers import free_port

OPTIONS = {"rounds": 1000, "between": False}


@dataclass(frozen=True, slots=True)
class Figures:
    """Of one run: moves a second, milliseconds, microseconds of server processor time per move."""

    rate: float
    p50: float
    p99: float
    cpu: float

    def __str__(self) -> str:
        waits = f"p50 {self.p50:6.2f} ms   p99 {self.p99:6.2f} ms"
        return f"{self.rate:7,.0f} moves/s   {waits}   {self.cpu:5.0f} us CPU a move"


class Bench:
    """Accounts and matches on a server, made directly in its store."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.client = connect(f"unix://{server.data / 'redis' / 'redis.sock'}")
        self.store = RedisMatchStore(self.client)
        self.tokens: list[tuple[str, str]] = []

    async def accounts(self, count: int) -> None:
        """Make sure of that many bots."""
        identity = Accounts(
            RedisAccountStore(self.client), RedisMarks(self.client), AccountSettings(registrations=10**6)
        )
        while len(self.tokens) < count:
            issued = await identity.register(f"bot{len(self.tokens)}", BOT, new_id(), "bench")
            assert isinstance(issued, Issued)
            self.tokens.append((issued.account.account_id, issued.token))

    async def match(self, accounts: list[str]) -> str:
        """A match of these accounts, seat by seat."""
        seed, match = os.urandom(SEED_BYTES), new_id()
        members = tuple(Member(account, f"bot {seat}", BOT) for seat, account in enumerate(accounts))
        made = Agreement(
            match, "hongshi", 1, 4, OPTIONS, members, seed_commitment(match, seed), time.time_ns() // 1_000_000
        )
        assert await self.store.create(match, made.to_json(), seed)
        return match

    async def streams(self, tables: int, tally: Tally, *, shared: bool, think: float = 0.0) -> list[Stream]:
        """Bots at that many new tables: a stream a seat, or (`shared`) one stream for all seats of all tables."""
        await self.accounts(4)
        channels = [channel_to(self.server.address) for _ in range(4)]
        await asyncio.gather(*(channel.channel_ready() for channel in channels))
        made: list[Stream] = []
        one = Stream(channels[0], self.tokens[0][1], tally, think) if shared else None
        if not shared:
            await self.accounts(4 * tables)
        for table in range(tables):
            bots = [self.tokens[0]] * 4 if shared else self.tokens[4 * table : 4 * table + 4]
            match = await self.match([account for account, _ in bots])
            for seat, (_, token) in enumerate(bots):
                stream = one or Stream(channels[(4 * table + seat) % 4], token, tally, think)
                stream.attach(match, seat)
                if one is None:
                    made.append(stream)
        return [one] if one else made

    def cpu(self) -> float:
        """Processor seconds that all processes of the server have used."""
        total = 0.0
        for process in self.server.processes():
            times = process.cpu_times()
            total += times.user + times.system
        return total


@asynccontextmanager
async def playing(streams: list[Stream]) -> AsyncIterator[None]:
    """Streams for a while."""
    try:
        yield
    finally:
        for stream in streams:
            stream.playing = False
        await asyncio.sleep(0.2)
        await asyncio.gather(*(stream.close() for stream in streams))


async def platform(bench: Bench, tables: int, seconds: float, *, shared: bool = False) -> tuple[Figures, Tally]:
    """One run on the platform."""
    tally = Tally()
    async with playing(await bench.streams(tables, tally, shared=shared)) as _:
        streams_moves = tally.moves
        await asyncio.sleep(0.3)
        spent, streams_moves = bench.cpu(), tally.moves
        rate = await run([], tally, seconds)
        spent, moves = bench.cpu() - spent, tally.moves - streams_moves
    if tally.refused or not moves:
        raise RuntimeError(f"{tally.refused} refusals ({tally.why}), {moves} moves: the figures would mean nothing")
    return Figures(rate, tally.percentile(0.5), tally.percentile(0.99), spent / moves * 1e6), tally


async def bare(port: int, process: psutil.Process, tables: int, seconds: float) -> Figures:
    """One run on the bare server."""
    tally = Tally()
    channels = [channel_to(f"127.0.0.1:{port}") for _ in range(4)]
    streams = [Stream(channels[place % 4], "none", tally) for place in range(4 * tables)]
    for place, stream in enumerate(streams):
        stream.attach(f"{new_id()[:1]}{place // 4}-{id(streams)}"[1:], place % 4)
    async with playing(streams):
        await asyncio.sleep(0.3)
        times, before = process.cpu_times(), tally.moves
        rate = await run(streams, tally, seconds)
        after, moves = process.cpu_times(), tally.moves - before
    spent = after.user + after.system - times.user - times.system
    return Figures(rate, tally.percentile(0.5), tally.percentile(0.99), spent / max(moves, 1) * 1e6)


def spread(values: list[float]) -> str:
    """Median, the middle half, and the extremes."""
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    middle = f"middle half {low:.2f} to {high:.2f}"
    return f"{statistics.median(values):.2f} ({middle}; all {min(values):.2f} to {max(values):.2f})"


async def pairs(bench: Bench, args: Any) -> None:
    """Platform and bare server in turn at 16 tables."""
    _, tally = await platform(bench, 16, 1.0)
    sizes = (tally.entry_bytes // max(tally.entries, 1), tally.prompt_bytes // max(tally.prompts, 1))
    port = free_port()
    command = [sys.executable, "-m", "bench._bare", str(port), *map(str, sizes)]
    child = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    assert child.stdout is not None
    await child.stdout.readline()
    ratios, ours, theirs = [], [], []
    try:
        for _ in range(args.pairs):
            ours.append((await platform(bench, 16, args.seconds))[0])
            theirs.append(await bare(port, psutil.Process(child.pid), 16, args.seconds))
            ratios.append(ours[-1].rate / theirs[-1].rate)
            print(f"  16 tables  {ours[-1]}   |   bare {theirs[-1]}", flush=True)
    finally:
        child.kill()
        await child.wait()
    print(
        f"16 tables: {spread([one.rate for one in ours])} moves/s, p99 {spread([one.p99 for one in ours])} ms, "
        f"{spread([one.cpu for one in ours])} us CPU a move"
    )
    print(f"bare: {spread([one.rate for one in theirs])} moves/s; ratio {spread(ratios)}", flush=True)


async def tables(bench: Bench, args: Any) -> None:
    """1, 4, 16 and 64 tables."""
    for count in (1, 4, 16, 64):
        runs = [(await platform(bench, count, args.seconds))[0] for _ in range(3)]
        print(f"{count:3} tables  {sorted(runs, key=lambda one: one.rate)[1]}", flush=True)


async def streams(bench: Bench, args: Any) -> None:
    """A stream a seat against one stream for all seats, in turn."""
    ratios = []
    for _ in range(args.pairs):
        each, _ = await platform(bench, 16, args.seconds)
        one, _ = await platform(bench, 16, args.seconds, shared=True)
        ratios.append(one.cpu / each.cpu)
        print(f"  a stream a seat {each}   |   one stream {one}", flush=True)
    print(f"server CPU a move, one stream to a stream a seat: {spread(ratios)}", flush=True)


async def opened(bench: Bench, args: Any) -> None:
    """1,000 open tables, then 200 of them with four bots that think a second."""
    pool = [psutil.Process(pid) for pid in bench.server.actors().values()]
    before = sum(process.memory_info().rss for process in pool)
    await bench.accounts(4)
    started = time.monotonic()
    tally = Tally()
    matches = [await bench.match([account for account, _ in bench.tokens[:4]]) for _ in range(1000)]
    channel = channel_to(bench.server.address)
    stream = Stream(channel, bench.tokens[0][1], tally)
    stream.playing = False
    for match in matches:
        stream.attach(match, 0)
    while tally.entries + tally.prompts < 250 or sum(await _hosted(bench)) < 1000:
        await asyncio.sleep(0.1)
        if time.monotonic() - started > 60:
            raise RuntimeError("1,000 tables were not open after a minute")
    took = time.monotonic() - started
    more = (sum(process.memory_info().rss for process in pool) - before) / 2**20
    print(f"1,000 tables opened in {took:.1f} s, {more:.0f} MiB more in {len(pool)} actors", flush=True)
    await stream.close()
    tally = Tally()
    async with playing(await bench.streams(200, tally, shared=False, think=1.0)) as _:
        await run([], tally, max(args.seconds, 8))
    print(
        f"200 tables, four bots each, 1 s of thought: p50 {tally.percentile(0.5):.2f} ms, "
        f"p99 {tally.percentile(0.99):.2f} ms over {len(tally.waits)} moves",
        flush=True,
    )


async def _hosted(bench: Bench) -> list[int]:
    import json

    keys = [key async for key in bench.client.scan_iter("kt:actor:*")]
    return [json.loads(text)["tables"] for text in await bench.client.mget(keys) if text]


async def measure(args: Any, actors: int, what: list[Any]) -> None:
    """A server with that many actors, and what is to be measured on it."""
    with (
        tempfile.TemporaryDirectory(prefix="kt-bench-") as folder,
        running(Path(folder) / "data", gateways=1, actors=actors, log_level="warning") as server,
    ):
        bench = Bench(server)
        try:
            for one in what:
                await one(bench, args)
        finally:
            await bench.client.aclose()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--pairs", type=int, default=11)
    parser.add_argument("--only", choices=("pairs", "tables", "actors", "streams", "open"))
    args = parser.parse_args()
    wanted = {"pairs": pairs, "tables": tables, "streams": streams, "open": opened}
    chosen = [one for name, one in wanted.items() if args.only in (None, name)]
    uvloop.run(everything(args, chosen))


async def everything(args: Any, chosen: list[Any]) -> None:
    """In one event loop: gRPC does not like a second one in the same process."""
    if chosen:
        await measure(args, 2, chosen)
    for actors in (1, 2, 4) if args.only in (None, "actors") else ():
        print(f"{actors} actors:", flush=True)
        await measure(args, actors, [tables])


if __name__ == "__main__":
    main()
