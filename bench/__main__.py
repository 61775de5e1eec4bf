"""All benchmarks, or those that are named: `python -m bench [NAME …]`; `python -m bench --list`."""

from __future__ import annotations

import pkgutil
import subprocess
import sys

import bench


def names() -> list[str]:
    """The benchmarks that there are."""
    return sorted(one.name for one in pkgutil.iter_modules(bench.__path__) if one.name[0] != "_")


def main(wanted: list[str]) -> int:
    """Run each in a process of its own, one after the other; how many failed."""
    if "--list" in wanted:
        print("\n".join(names()))
        return 0
    unknown = sorted(set(wanted) - set(names()))
    if unknown:
        print(f"no such benchmark: {', '.join(unknown)}; there are: {', '.join(names())}", file=sys.stderr)
        return 2
    failed = 0
    for name in wanted or names():
        print(f"== {name}", flush=True)
        failed += subprocess.run([sys.executable, "-m", f"bench.{name}"], check=False).returncode != 0
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
