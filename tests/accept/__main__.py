"""`python -m tests.accept PART` (`make accept PART=name`): run one part's acceptance lines in full."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.accept.lines import PartError, part_names, read_part
from tests.accept.report import Report
from tests.accept.runner import run_part

ROOT = Path(__file__).resolve().parents[2]


def parse(arguments: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.accept", description=__doc__)
    parser.add_argument("part", nargs="?", help="which part; its lines are in tests/accept/PART.toml")
    parser.add_argument("--again", action="store_true", help="run lines that passed on this commit again, too")
    parser.add_argument("--line", action="append", default=[], metavar="ID", help="only this line (may be repeated)")
    parser.add_argument("--folder", type=Path, default=Path(__file__).parent, help=argparse.SUPPRESS)
    parser.add_argument("--root", type=Path, default=ROOT, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    """0 if every line holds, 1 if one does not, 2 if there is no such part or line, 130 if interrupted."""
    options = parse(arguments)
    names = part_names(options.folder)
    if options.part not in names:
        problem = f"there is no part {options.part!r}" if options.part else "which part? make accept PART=name"
        print(f"{problem}; parts: {', '.join(names) or 'none yet'}", file=sys.stderr)
        return 2
    try:
        lines = read_part(options.folder / f"{options.part}.toml", only=options.line)
    except PartError as error:
        print(error, file=sys.stderr)
        return 2
    report = Report.load(options.root, options.part)
    return run_part(lines, report, again=options.again)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
