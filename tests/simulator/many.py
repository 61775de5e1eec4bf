"""Many seeds, on several processes, and the report of them."""

from __future__ import annotations

import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from multiprocessing import get_context
from time import process_time

from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TimeElapsedColumn, TimeRemainingColumn

from . import planted
from .named import named
from .run import Outcome, run_seed

CHUNK = 20


@dataclass
class Total:
    """What came of some seeds. `cpu_s` of the processes that ran them."""

    seeds: int = 0
    steps: int = 0
    virtual_s: float = 0.0
    entries: int = 0
    answered: int = 0
    cpu_s: float = 0.0
    counts: Counter[str] = field(default_factory=Counter)
    games: Counter[str] = field(default_factory=Counter)
    violations: dict[int, list[str]] = field(default_factory=dict)

    def add(self, found: Outcome) -> None:
        """One seed more."""
        self.seeds += 1
        self.steps += found.steps
        self.virtual_s += found.virtual_s
        self.entries += found.entries
        self.answered += found.answered
        self.counts += found.counts
        self.games[found.plan.game] += 1
        if found.violations:
            self.violations[found.seed] = found.violations

    def join(self, other: Total) -> None:
        """Those of another process too."""
        for name in ("seeds", "steps", "virtual_s", "entries", "answered", "cpu_s"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.counts += other.counts
        self.games += other.games
        self.violations |= other.violations


def run_seeds(first: int, count: int, bug: str = "") -> Total:
    """Some seeds, here, one after the other."""
    begun, total = process_time(), Total()
    with planted.planted(bug):
        for seed in range(first, first + count):
            total.add(run_seed(seed))
    total.cpu_s = process_time() - begun
    return total


def run_many(first: int, count: int, workers: int, bug: str = "", *, quiet: bool = False) -> Total:
    """Some seeds on several processes, with a progress bar."""
    total = Total()
    columns = (*Progress.get_default_columns()[:2], MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with (
        ProcessPoolExecutor(workers, get_context("spawn")) as pool,
        Progress(*columns, console=Console(stderr=True), disable=quiet or not sys.stderr.isatty()) as progress,
    ):
        bar = progress.add_task("seeds", total=count)
        waiting = [
            pool.submit(run_seeds, start, min(CHUNK, first + count - start), bug)
            for start in range(first, first + count, CHUNK)
        ]
        try:
            for done in as_completed(waiting):
                part = done.result()
                total.join(part)
                for seed, what in part.violations.items():
                    progress.console.print(f"--seed {seed}: {what[0]}", markup=False, highlight=False)
                progress.advance(bar, part.seeds)
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return total


def show(total: Total, wall_s: float) -> str:
    """The report."""
    injected = ", ".join(f"{kind} {count:,}" for kind, count in sorted(total.counts.items()))
    games = ", ".join(f"{game} {count:,}" for game, count in sorted(total.games.items()))
    under = ", ".join(f"{what} {count:,}" for what, count in named(total.counts).items())
    lines = [
        f"{total.seeds:,} seeds ({games}) in {wall_s:.0f} s, {total.seeds / wall_s:.1f} seeds/s, "
        f"{1000 * total.cpu_s / max(1, total.seeds):.1f} ms of CPU each",
        f"{total.steps:,} steps, {total.virtual_s / 3600:.1f} h of virtual time, {total.entries:,} entries, "
        f"{total.answered:,} answers",
        f"under: {under}",
        f"faults and oddities: {injected}",
        f"violations: {len(total.violations)} seeds",
    ]
    for seed, found in sorted(total.violations.items())[:20]:
        lines += [f"  --seed {seed}: {found[0]}" + (f" (and {len(found) - 1} more)" if len(found) > 1 else "")]
    return "\n".join(lines)
