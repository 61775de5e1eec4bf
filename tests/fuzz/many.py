"""Inputs on all cores, and the report of them."""

from __future__ import annotations

import sys
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from multiprocessing import get_context
from typing import Any

from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TimeElapsedColumn, TimeRemainingColumn

from .run import TARGETS, Total, run_part

_queue: Any = None


def _keep(queue: Any) -> None:
    global _queue
    _queue = queue


def _part(seed: int, first: int, count: int, only: str) -> Total:
    return run_part(seed, first, count, _queue.put, only)


def run_many(seed: int, first: int, count: int, workers: int, only: str = "", *, quiet: bool = False) -> Total:
    """Inputs on several processes, each with a server of its own, with a progress bar."""
    total, context = Total(), get_context("spawn")
    queue = context.SimpleQueue()
    columns = (*Progress.get_default_columns()[:2], MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    shares = [count // workers + (number < count % workers) for number in range(workers)]
    with (
        ProcessPoolExecutor(workers, context, _keep, (queue,)) as pool,
        Progress(*columns, console=Console(stderr=True), disable=quiet or not sys.stderr.isatty()) as progress,
    ):
        bar = progress.add_task("inputs", total=count)
        starts = [first + sum(shares[:number]) for number in range(workers)]
        waiting = {
            pool.submit(_part, seed, start, size, only) for start, size in zip(starts, shares, strict=True) if size
        }
        while waiting:
            done, waiting = wait(waiting, timeout=0.5, return_when=FIRST_COMPLETED)
            while not queue.empty():
                progress.advance(bar, queue.get())
            for one in done:
                total.join(one.result())
    return total


def show(total: Total, wall_s: float) -> str:
    """The report."""
    lines = [f"{total.inputs:,} inputs in {wall_s:.0f} s, {total.inputs / wall_s:.0f} inputs/s"]
    for target in TARGETS:
        name = f"{target.name} "
        kinds = [
            (kind.removeprefix(name), count) for kind, count in total.outcomes.most_common() if kind.startswith(name)
        ]
        said = ", ".join(f"{kind} {count:,}" for kind, count in kinds[:18])
        lines.append(f"  {target.name}: {len(kinds)} kinds of outcomes: {said}{' …' if len(kinds) > 18 else ''}")
    lines += [
        f"  meanwhile two tables played {total.witness_moves:,} moves, {total.witness_matches:,} matches to their ends "
        f"by the rules, {total.witness_bad} otherwise",
        f"  left behind: {len(total.tasks_left)} tasks; {total.grown_mb:+.1f} MB over the second half, "
        f"of {total.size_mb:.0f}",
    ]
    lines += [f"  slow: {took:.1f} s, {where}" for took, where in total.slowest]
    lines += [f"  TASK LEFT {task}" for task in total.tasks_left[:10]]
    lines += [f"  FAULT {where}: {what}" for where, what in total.findings[:40]]
    lines.append(f"faults: {total.found}")
    return "\n".join(lines)
