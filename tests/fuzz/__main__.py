"""`python -m tests.fuzz`: random and mutated input into a whole server, on all cores; what came of it.

    python -m tests.fuzz --inputs 1000000 --seed 7
    python -m tests.fuzz --inputs 20000 --only readers
    python -m tests.fuzz --seed 7 --first 81234 --inputs 1

Targets: calls (every RPC), stream (frames of play), link (gateway and table actor), readers (records, dumps, actions,
specs, options, settings), port (bytes of HTTP/2). Refusals and statuses are counted. A fault is INTERNAL or UNKNOWN, a
log line of an error, an exception that a reader does not promise, a command without its one answer, a task left, a
table stopped. The exit code is 1 if there was one.
A number makes the same input again; ids that the server
has drawn differ.
"""

from __future__ import annotations

import argparse
import json
import sys
from time import perf_counter

from .many import run_many, show
from .run import CORES, TARGETS


def main(given: list[str] | None = None) -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--inputs", type=int, default=20_000, help="how many (default 20,000)")
    parser.add_argument("--seed", type=int, default=1, help="of all chance (default 1)")
    parser.add_argument("--first", type=int, default=0, help="the number of the first (default 0)")
    parser.add_argument("--only", choices=[one.name for one in TARGETS], default="", help="this target alone")
    parser.add_argument("--workers", type=int, default=CORES, help="processes (default: cores)")
    parser.add_argument("--json", action="store_true", help="totals as JSON")
    args = parser.parse_args(given)
    if args.inputs < 1 or args.workers < 1 or args.first < 0:
        parser.error("--inputs and --workers are at least 1, --first at least 0")
    begun = perf_counter()
    try:
        total = run_many(args.seed, args.first, args.inputs, args.workers, args.only, quiet=args.json)
    except KeyboardInterrupt:
        return 130
    wall_s = perf_counter() - begun
    sys.stdout.write((json.dumps(vars(total) | {"wall_s": wall_s}) if args.json else show(total, wall_s)) + "\n")
    return 1 if total.found or total.tasks_left or total.witness_bad else 0


if __name__ == "__main__":
    sys.exit(main())
