"""`python -m tests.shuffles`: production shuffles of every pack on all cores, and whether they are uniform.

    python -m tests.shuffles --deals 1000000
    python -m tests.shuffles --deals 50000 --bias "naive swap"
    python -m tests.shuffles --master 00ff…   (hex: a run again)

The exit code is 1 if a test failed or a deal came twice. A run of a uniform shuffle fails with a probability of 1e-4.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import sys
from dataclasses import asdict
from time import perf_counter

from .many import LEVEL, run_many, show
from .planted import BIASES

LEAST_DEALS = 5_000  # with fewer, too few cards come to each place


def main(given: list[str] | None = None) -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.shuffles", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--deals", type=int, default=100_000, help="how many (default 100000, at least 5000)")
    parser.add_argument("--master", type=bytes.fromhex, help="the seed of the run, in hex (default: by chance)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes (default: cores)")
    parser.add_argument("--bias", choices=sorted(BIASES), default="", help="with this bias in production code")
    parser.add_argument("--json", action="store_true", help="the verdict as JSON")
    args = parser.parse_args(given)
    if args.deals < LEAST_DEALS or args.workers < 1:
        parser.error(f"--deals is at least {LEAST_DEALS}, --workers at least 1")
    master = args.master if args.master is not None else secrets.token_bytes(16)
    begun = perf_counter()
    try:
        verdict = run_many(master, args.deals, args.workers, args.bias, quiet=args.json)
    except KeyboardInterrupt:
        return 130
    wall_s = perf_counter() - begun
    if args.json:
        found = asdict(verdict) | {"level": LEVEL, "good": verdict.good, "master": master.hex(), "wall_s": wall_s}
        sys.stdout.write(json.dumps(found) + "\n")
    else:
        sys.stdout.write(f"{show(verdict, wall_s)}\nmaster seed {master.hex()}\n")
    return 0 if verdict.good else 1


if __name__ == "__main__":
    sys.exit(main())
