"""Other tables while a tournament has bad bots, and while it has good ones in their place: interleaved pairs.

    python -m bench.bad_bots [--seconds 6] [--pairs 7] [--kinds illegal huge …]

Four tables of the platform's load play throughout; their p99 and moves a second are compared. Wanted: median ratio of
p99 at most 1.25, of moves at least 0.9.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

import uvloop

from bench.platform import Bench, playing, spread
from kangtou_clients.api import connect
from kangtou_clients.api.tournaments import Tournaments
from tests.faults.server import running
from tests.tournament.zoo import BAD

from ._load import Tally, run

TABLES = 4
ZOO = [sys.executable, "-m", "tests.tournament.zoo"]


def spec_of(kind: str) -> dict[str, Any]:
    """A ladder goes on until it is cancelled: three good ones, and one that is bad or as good as they."""
    entrants: list[dict[str, Any]] = [{"name": f"good {number}", "bot": "greedy"} for number in range(3)]
    entrants.append({"name": kind, "command": [*ZOO, kind]})
    return {
        "name": kind,
        "game": "hongshi",
        "format": "ladder",
        "concurrency": 2,
        "turn_ms": 1_500,
        "entrants": entrants,
    }


async def measured(bench: Bench, api: Tournaments, kind: str, seconds: float) -> tuple[float, float]:
    """p99 in ms and moves a second of other tables during such a tournament."""
    tournament = await api.submit(spec_of(kind))
    assert isinstance(tournament, str), tournament
    async for progress in api.watch(tournament):
        if progress.running:
            break
    tally = Tally()
    async with playing(await bench.streams(TABLES, tally, shared=False, think=0.01)) as _:
        rate = await run([], tally, seconds)
    await api.cancel(tournament)
    async for _progress in api.watch(tournament):
        continue
    return tally.percentile(0.99), rate


async def everything(args: Any) -> None:
    """Measure and print."""
    with (
        tempfile.TemporaryDirectory(prefix="kt-bench-") as folder,
        running(Path(folder) / "data", gateways=1, actors=2, log_level="warning") as server,
    ):
        bench = Bench(server)
        waits: list[float] = []
        moves: list[float] = []
        async with connect(server.address) as client:
            await client.accounts.register("bench", "bot")
            api = Tournaments(client)
            for pair in range(args.pairs):
                kind = args.kinds[pair % len(args.kinds)]
                bad = await measured(bench, api, kind, args.seconds)
                good = await measured(bench, api, "good", args.seconds)
                waits.append(bad[0] / good[0])
                moves.append(bad[1] / good[1])
                print(
                    f"  {kind}: p99 {bad[0]:.1f} ms, {bad[1]:,.0f} moves/s   |   "
                    f"good: p99 {good[0]:.1f} ms, {good[1]:,.0f} moves/s",
                    flush=True,
                )
        await bench.client.aclose()
    print(f"p99 with a bad bot / with a good one: {spread(waits)}")
    print(f"moves with a bad bot / with a good one: {spread(moves)}")
    print(f"median ratios: p99 {statistics.median(waits):.2f}, moves/s {statistics.median(moves):.2f}", flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--pairs", type=int, default=2 * len(BAD))
    parser.add_argument("--kinds", nargs="+", choices=BAD, default=list(BAD))
    uvloop.run(everything(parser.parse_args()))


if __name__ == "__main__":
    main()
