"""The highest steady load of this machine with p99 within 100 ms: a server, and `kangtou load --search` beside it.

    python -m bench.steady [--first 100] [--think 3] [--seconds 10] [--gateways 1] [--actors 2]

Server and generator share the machine, so on a small one the figure is low; what counts is that waits are measured from
when an answer was meant to be sent, at thinking times of people.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.faults.server import IMPORTS, running


def main() -> int:
    """Start, search, stop."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=100, help="tables to begin with")
    parser.add_argument("--think", type=float, default=3.0)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--gateways", type=int, default=1)
    parser.add_argument("--actors", type=int, default=2)
    args = parser.parse_args()
    given = {
        "gateways": args.gateways,
        "actors": args.actors,
        "log_level": "warning",
        "tournaments": False,
        "registrations": 10**6,
    }
    with tempfile.TemporaryDirectory(prefix="kt-bench-") as folder, running(Path(folder) / "data", **given) as server:
        words = ["load", "--search", "--server", server.address, "--tables", args.first, "--think", args.think]
        words += ["--seconds", args.seconds, "--ramp", 5, "--rounds", 8, "--connections", 32]
        line = [sys.executable, "-m", "kangtou_clients", "--lang", "en", *map(str, words)]
        return subprocess.run(line, env={**os.environ, "PYTHONPATH": IMPORTS}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
