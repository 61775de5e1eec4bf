"""`python -m tests.simulator`: many seeds on all cores; what went wrong in them and what did not hold.

    python -m tests.simulator --seeds 10000
    python -m tests.simulator --seed 632 --trace
    python -m tests.simulator --seeds 500 --bug "answer twice"

The exit code is 1 if a promise was broken, with the seeds to repeat; a seed gives the same run again, on any machine.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from time import perf_counter

from . import planted
from .many import run_many, show
from .named import named
from .run import run_seed


def _one(seed: int, bug: str, *, trace: bool) -> int:
    with planted.planted(bug):
        found = run_seed(seed, trace=trace)
    sys.stdout.write("".join(f"{line}\n" for line in found.trace))
    sys.stdout.write(f"{found.plan}\n{dict(found.counts)}\nhash {found.digest:08x}, {found.steps} steps\n")
    sys.stdout.write("".join(f"VIOLATION {what}\n" for what in found.violations) or "everything holds\n")
    return 1 if found.violations else 0


def main(given: list[str] | None = None) -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.simulator", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=1_000, help="how many (default 1000)")
    parser.add_argument("--first", type=int, default=0, help="the first of them (default 0)")
    parser.add_argument("--seed", type=int, help="this one alone")
    parser.add_argument("--trace", action="store_true", help="with --seed: everything that happened, line by line")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes (default: cores)")
    parser.add_argument("--bug", choices=sorted(planted.BUGS), default="", help="with this fault in production code")
    parser.add_argument("--json", action="store_true", help="totals as JSON")
    args = parser.parse_args(given)
    if args.seeds < 1 or args.workers < 1:
        parser.error("--seeds and --workers are at least 1")
    if args.seed is not None:
        return _one(args.seed, args.bug, trace=args.trace)
    begun = perf_counter()
    try:
        total = run_many(args.first, args.seeds, args.workers, args.bug, quiet=args.json)
    except KeyboardInterrupt:
        return 130
    wall_s = perf_counter() - begun
    sys.stdout.write(
        (
            json.dumps(vars(total) | {"wall_s": wall_s, "under": named(total.counts)})
            if args.json
            else show(total, wall_s)
        )
        + "\n"
    )
    return 1 if total.violations else 0


if __name__ == "__main__":
    if "PYTHONHASHSEED" not in os.environ:  # sets of texts have an order by it: a seed is to be the same run anywhere
        os.execve(
            sys.executable,
            [sys.executable, "-m", "tests.simulator", *sys.argv[1:]],
            {**os.environ, "PYTHONHASHSEED": "0"},
        )
    sys.exit(main())
