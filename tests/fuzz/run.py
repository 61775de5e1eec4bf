"""Many inputs into one server, one after the other; what came of them, and whether anything was left behind."""

from __future__ import annotations

import asyncio
import gc
import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from time import perf_counter
from typing import Any

import psutil

from .calls import Calls
from .frames import Frames
from .link import Link
from .place import Place, place
from .port import Port
from .readers import Readers
from .watch import Watch, watching
from .witness import witnesses

TARGETS = (Calls, Frames, Link, Readers, Port)
SHARES = (0.50, 0.06, 0.08, 0.34, 0.004)  # of turns; streams and links take several inputs in one
TELL = 500  # inputs
TABLES_EVERY = 500
SLOW_S = 2.0


@dataclass
class Total:
    """What came of inputs. `grown`: MB that the process grew by over the second half, and inputs in it."""

    inputs: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    found: int = 0
    findings: list[tuple[str, str]] = field(default_factory=list)
    tasks_left: list[str] = field(default_factory=list)
    grown_mb: float = 0.0
    size_mb: float = 0.0
    witness_moves: int = 0
    witness_matches: int = 0
    witness_bad: int = 0
    slowest: list[tuple[float, str]] = field(default_factory=list)

    def join(self, other: Total) -> None:
        """Those of another process too."""
        for name in ("inputs", "found", "tasks_left", "witness_moves", "witness_matches", "witness_bad"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.outcomes += other.outcomes
        self.findings += other.findings
        self.grown_mb = max(self.grown_mb, other.grown_mb)
        self.size_mb = max(self.size_mb, other.size_mb)
        self.slowest = sorted((*self.slowest, *other.slowest), reverse=True)[:5]


def run_part(seed: int, first: int, count: int, tell: Callable[[int], None], only: str = "") -> Total:
    """Inputs FIRST … of a seed, in this process. `only`: of one target."""
    return asyncio.run(_run(seed, first, count, tell, only))


async def _run(seed: int, first: int, count: int, tell: Callable[[int], None], only: str) -> Total:
    loop = asyncio.get_running_loop()
    total = Total()
    with watching(loop) as watch:
        async with place() as server:
            before = asyncio.all_tasks()
            async with witnesses(server) as witness:
                targets: list[Any] = [kind(server, watch) for kind in TARGETS]
                await _feed(seed, first, count, tell, only, server, watch, targets, total)
                for target in targets:
                    await target.close()
                total.witness_moves, total.witness_matches = witness.tally.moves, len(witness.causes) // 4
                total.witness_bad = sum(cause != "rules" for cause in witness.causes) + witness.tally.warnings
            total.tasks_left = await _left(before)
            for slot in server.hosting.host.slots.values():
                if slot.faulted:
                    watch.bad(f"a table of {slot.table.agreement.game} was stopped by a fault", "?")
    total.outcomes, total.found, total.findings = watch.outcomes, watch.found, watch.findings
    return total


async def _feed(
    seed: int,
    first: int,
    count: int,
    tell: Callable[[int], None],
    only: str,
    server: Place,
    watch: Watch,
    targets: list[Any],
    total: Total,
) -> None:
    process, half, tables, told = psutil.Process(), 0.0, 0, 0
    while total.inputs < count:
        number = first + total.inputs
        rng = Random(f"{seed}:{number}")
        target = rng.choices(targets, SHARES)[0]
        if only:
            target = next(one for one in targets if one.name == only)
        watch.now = f"{target.name} --seed {seed} --first {number}"
        began = perf_counter()
        size = await target.feed(rng) or 1
        took = perf_counter() - began
        if took > SLOW_S:
            total.slowest = sorted((*total.slowest, (took, watch.now)), reverse=True)[:5]
        total.inputs += size
        await asyncio.sleep(0)
        if total.inputs - tables >= TABLES_EVERY:
            tables = total.inputs
            await server.renew()
            await server.tables()
        if total.inputs - told >= TELL or total.inputs >= count:
            tell(total.inputs - told)
            told = total.inputs
        if not half and total.inputs * 2 >= count:
            half = _mb(process)
    total.size_mb = _mb(process)
    total.grown_mb = total.size_mb - half


def _mb(process: psutil.Process) -> float:
    gc.collect()
    return float(process.memory_info().rss) / 2**20


async def _left(before: set[asyncio.Task[Any]]) -> list[str]:
    """Tasks that were not there before, once those that are ending have ended."""
    more: set[asyncio.Task[Any]] = set()
    for _ in range(1_200):
        more = asyncio.all_tasks() - before
        if not more:
            return []
        await asyncio.sleep(0.05)
    return sorted(f"{task.get_name()} {task.get_coro()!r}"[:120] for task in more)


CORES = os.cpu_count() or 1
