"""A long run of all games while table actors and gateways are killed: nothing is lost, and memory stays flat.

    python -m bench.soak [--minutes 30] [--every 45] [--think 0.5] [--gateways 2] [--actors 3] [--seed N]

Bots of the client library play match after match, a table for each game and variant of the fault tests. At random
moments, `--every` seconds apart in the mean, an actor or a gateway gets SIGKILL. One of each is spared: it takes over
the others' tables and clients again and again, and its memory can be compared over the whole run, as can that of
`up` and of the pool. Redis is shown, and not judged: it keeps finished tables for a day.

Shown: acknowledged moves, lost or doubled ones, matches whose record is missing or does not verify, turns that the
clock played (0: nobody lost his turn by a kill); growth of resident memory over the second half (wanted: below 1 % in
ten minutes); what the spared ones hold more than at the beginning when everything has ended. Exit code 1 if something
is not as wanted.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import fields
from pathlib import Path

import structlog
import uvloop

from bench._leftovers import SLACK, Memory, held, left_over, troubles
from bench.hostile import GROWTH_MOST, JUDGED_MIN, KEEP_MS, grown
from tests.faults.load import Verdict, judge
from tests.faults.server import Server, running
from tests.faults.test_games import KINDS, Watched

THERE_S = 60.0
JUDGED_S = 300.0  # for records to be archived
SETTLE_S = 20.0  # after the last match
# A gateway and an actor that have worked keep connections to Redis, 32 at most in a pool. What is left of clients would
# be more: each kill of a gateway brings dozens of connections.
KEPT = {"process_open_fds": 72.0}


class Kills:
    """Random ones, of all but those that are spared. `count` by kind."""

    def __init__(self, server: Server, chance: random.Random) -> None:
        self._server = server
        self._chance = chance
        self.count: Counter[str] = Counter()
        self.actor, self.gateway = min(server.actors()), min(server.gateways())
        self.pids = {server.actors()[self.actor], server.gateways()[self.gateway]}

    @property
    def names(self) -> set[str]:
        """Of the spared processes, as their metrics have them: ids without what makes them unique."""
        return {one.rpartition("-")[0] for one in (self.actor, self.gateway)}

    def kill(self) -> None:
        """One, if there is one to be killed just now."""
        kind = self._chance.choice(("actor", "gateway"))
        living = self._server.actors() if kind == "actor" else self._server.gateways()
        if able := sorted(pid for name, pid in living.items() if name not in (self.actor, self.gateway)):
            os.kill(self._chance.choice(able), signal.SIGKILL)
            self.count[kind] += 1

    async def until(self, end: float, every_s: float) -> None:
        """At random moments until then (monotonic seconds)."""
        while (left := end - time.monotonic()) > 0:
            await asyncio.sleep(min(left, self._chance.expovariate(1 / every_s)))
            if time.monotonic() < end:
                await asyncio.to_thread(self.kill)


async def played(server: Server, kills: Kills, args: argparse.Namespace) -> tuple[Verdict, Memory, float]:
    """Play and kill; the verdict on all matches, the memory, and when the second half began."""
    memory = Memory(server)
    loads = [Watched(server, kind, think=args.think) for kind in KINDS.values()]
    watching = asyncio.create_task(memory.watch())
    began = time.monotonic()
    try:
        for load in loads:
            load.open.clear()  # nobody waits for a kill
        await asyncio.gather(*(load.start() for load in loads))
        await kills.until(began + args.minutes * 60, args.every)
        half = (began + time.monotonic()) / 2
        watching.cancel()
        for load in loads:
            load.think = 0.0
        await asyncio.gather(*(load.finish(600.0) for load in loads))
        verdict = Verdict()
        for load in loads:
            one, _ = await judge(load, JUDGED_S)
            for name in (field.name for field in fields(Verdict)):
                setattr(verdict, name, getattr(verdict, name) + getattr(one, name))
        return verdict, memory, half
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
        await asyncio.gather(*(load.close() for load in loads))


async def all_there(server: Server, actors: int, gateways: int) -> None:
    """Wait until each has been heard of. Raises TimeoutError."""
    async with asyncio.timeout(THERE_S):
        while len(server.actors()) < actors or len(server.gateways()) < gateways:  # noqa: ASYNC110 - processes have no event
            await asyncio.sleep(0.1)


async def everything(args: argparse.Namespace) -> int:
    """Start, play, judge; the exit code."""
    given = {"gateways": args.gateways, "actors": args.actors, "keep_log_ms": KEEP_MS, "give_up_deaths": 1_000}
    with (
        tempfile.TemporaryDirectory(prefix="kt-bench-") as folder,
        running(Path(folder) / "data", tournaments=False, log_level="warning", **given) as server,
    ):
        await all_there(server, args.actors, args.gateways)
        kills = Kills(server, random.Random(args.seed))
        before = await held(server)
        verdict, memory, half = await played(server, kills, args)
        await asyncio.sleep(SETTLE_S)
        after = await held(server)
        faults = troubles(server.data)
    good = [verdict.good and verdict.timeouts == 0]
    print(f"soak: {args.minutes:g} min, kill -9 of actors x{kills.count['actor']}, gateways x{kills.count['gateway']}")
    print(f"soak: {verdict}")
    worst = grown(memory, half)
    good.append(worst < GROWTH_MOST or args.minutes / 2 < JUDGED_MIN)
    print(f"soak: memory grows by at most {worst:.2f} % in ten minutes")
    spared = [{name: one for name, one in values.items() if name in kills.names} for values in (before, after)]
    more = left_over(spared[0], spared[1], kept={**SLACK, **KEPT, "kangtou_links": args.actors})
    good.append(not more and all(len(one) == 2 for one in spared))
    told = ", ".join(f"{name} {many:+.0f}" for name, many in more.items())
    print(f"soak: left over in {', '.join(sorted(kills.names))}: {told or '0 tasks, descriptors, streams'}")
    good.append(not faults)
    print(f"soak: faults in logs {len(faults)} {faults[:1] or ''}", flush=True)
    return 0 if all(good) else 1


def main() -> int:
    """Play, kill, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--every", type=float, default=45.0, help="seconds between two kills, in the mean")
    parser.add_argument("--think", type=float, default=0.5, help="seconds before an answer, in the mean")
    parser.add_argument("--gateways", type=int, default=2)
    parser.add_argument("--actors", type=int, default=3)
    parser.add_argument("--seed", type=int, default=None, help="the same kills again")
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    return uvloop.run(everything(parser.parse_args()))


if __name__ == "__main__":
    sys.exit(main())
