"""What metrics cost: this checkout's server against that of another checkout, in turn.

    python -m bench.observe_cost --base FOLDER [--pairs 12] [--seconds 2] [--tables 16]

FOLDER is a checkout from before what is to be measured (`git worktree add FOLDER COMMIT`). Both servers run all the
time, so that both have the same neighbours; the figures are processor time of all server processes a move.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import uvloop

from bench.platform import Bench, platform, spread
from kangtou_services import logs
from kangtou_services.observe.log import LogMeter
from kangtou_services.observe.tally import Tally
from tests.faults.server import ROOT, Server


def server_of(checkout: Path, data: Path, stack: ExitStack) -> Server:
    """A server that runs a checkout's code."""
    server = Server(data, gateways=1, actors=2, tournaments="false", log_level="warning")
    folders = (".", "engine", "services", "clients", "proto")
    server.environment["PYTHONPATH"] = os.pathsep.join(str(checkout.absolute() / name) for name in folders)
    stack.callback(server.stop)
    server.start()
    return server


def counting_us() -> float:
    """Microseconds of a move's counting by itself: eight times taken, six tallies, four counters, a batch of one."""
    tallies, log, counted = [Tally() for _ in range(6)], LogMeter(), {"moves": 0}
    rounds = 20_000
    began = time.process_time()
    for _ in range(rounds):
        at = time.perf_counter()
        for tally in tallies:
            tally.add(time.perf_counter() - at)
        for _ in range(4):
            counted["moves"] += 1
        log.wrote(at, 1)
    return (time.process_time() - began) / rounds * 1e6


async def measure(args: Any) -> None:
    """Both in turn; which goes first changes from pair to pair."""
    with tempfile.TemporaryDirectory(prefix="kt-bench-") as folder, ExitStack() as stack:
        base = Bench(server_of(args.base, Path(folder) / "a", stack))
        ours = Bench(server_of(ROOT, Path(folder) / "b", stack))
        ratios, rates, cpus = [], [], []
        for bench in (base, ours):
            await platform(bench, args.tables, 1.0)
        for pair in range(args.pairs):
            found = {}
            for bench in (base, ours) if pair % 2 else (ours, base):
                found[bench] = (await platform(bench, args.tables, args.seconds))[0]
            ratios.append(found[ours].cpu / found[base].cpu)
            rates.append(found[ours].rate / found[base].rate)
            cpus.append(found[base].cpu)
            print(f"  before {found[base]}   |   now {found[ours]}", flush=True)
        print(f"CPU a move, now to before: {spread(ratios)}; moves a second: {spread(rates)}")
        us, whole = counting_us(), statistics.median(cpus)
        print(f"counting by itself: {us:.1f} us a move, {us / whole * 100:.2f} % of {whole:.0f} us")
        for bench in (base, ours):
            await bench.client.aclose()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--pairs", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--tables", type=int, default=16)
    logs.configure("warning", "bench")
    uvloop.run(measure(parser.parse_args()))


if __name__ == "__main__":
    main()
