"""Appends a second to the log on an embedded server, fsync always: with group commit, and one command at a time.

    python -m bench.log_append [--seconds 1.0] [--pairs 7]

Each match has one unanswered append at a time, as a table has. Both ways are run in turn on the same server; shown are
medians and ranges, and processor time per append of this process and of the server.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import psutil
from redis.asyncio import Redis

from kangtou_services.embedded import EmbeddedServer, EmbeddedSettings
from kangtou_services.log.base import Entry
from kangtou_services.log.redis import RedisLog
from kangtou_services.log.stream import xadd
from kangtou_services.redis_client import connect

MATCHES = (1, 16, 64)
BODY = "1796023768005 2 play HT DT id=4f3de63b33ec49ad prompt=17\n" + "2 played HT DT left=8\n" * 5

Append = Callable[[str, Entry], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Run:
    """Of one way: appends a second, microseconds of processor time per append here and in the server."""

    rate: float
    client_us: float
    server_us: float


def one_by_one(client: Redis) -> Append:
    """What redis-py does with an append alone."""

    async def append(match: str, entry: Entry) -> None:
        await client.execute_command(*xadd(match, entry))  # type: ignore[no-untyped-call]

    return append


async def measure(append: Append, log: RedisLog, server: psutil.Process, matches: int, seconds: float) -> Run:
    """Let every match append for a time."""
    names = [uuid4().hex for _ in range(matches)]
    for name in names:
        await log.claim(name, "bench", None, Entry(1, 1, "marker", "0" * 64))
    until = time.monotonic() + seconds

    async def play(name: str) -> int:
        seq = 1
        while time.monotonic() < until:
            seq += 1
            await append(name, Entry(1, seq, BODY, "0" * 64, (7, 3)))
        return seq - 1

    server_cpu, client_cpu, began = sum(server.cpu_times()[:2]), time.process_time(), time.monotonic()
    done = sum(await asyncio.gather(*map(play, names)))
    spent = time.monotonic() - began
    return Run(
        done / spent,
        (time.process_time() - client_cpu) / done * 1e6,
        (sum(server.cpu_times()[:2]) - server_cpu) / done * 1e6,
    )


def spread(values: list[float]) -> str:
    """Median and range."""
    return f"{statistics.median(values):9,.0f} ({min(values):,.0f}-{max(values):,.0f})"


async def run(seconds: float, pairs: int) -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory(prefix="kt-bench-") as folder:
        server = EmbeddedServer(EmbeddedSettings(Path(folder)))
        server.start()
        client = connect(server.url, most=max(MATCHES))
        log = RedisLog(client)
        process = psutil.Process(server.pid)
        print(f"{'matches':>7}  {'way':<12} {'appends/s':>24}  {'client us':>9} {'server us':>9}  ratio of pairs")
        for matches in MATCHES:
            both: list[tuple[Run, Run]] = []
            for number in range(pairs):
                ways: list[Append] = [log.append, one_by_one(client)]
                order = (0, 1) if number % 2 == 0 else (1, 0)
                done = {way: await measure(ways[way], log, process, matches, seconds) for way in order}
                both.append((done[0], done[1]))
            ratios = [group.rate / single.rate for group, single in both]
            for name, runs in (("group commit", [a for a, _ in both]), ("one by one", [b for _, b in both])):
                client_us = statistics.median(one.client_us for one in runs)
                server_us = statistics.median(one.server_us for one in runs)
                ratio = f"{statistics.median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f})"
                print(
                    f"{matches:>7}  {name:<12} {spread([one.rate for one in runs]):>24}  "
                    f"{client_us:>9.0f} {server_us:>9.0f}  {ratio if name == 'group commit' else ''}"
                )
        await log.close()
        await client.aclose()
        server.stop()


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description="appends a second to the log, with and without group commit")
    parser.add_argument("--seconds", type=float, default=1.0, help="length of a run")
    parser.add_argument("--pairs", type=int, default=7, help="runs of each way")
    given = parser.parse_args()
    asyncio.run(run(given.seconds, given.pairs))


if __name__ == "__main__":
    main()
