"""`python -m tests.accept PART` (`make accept PART=name`): run one part's acceptance lines in full.

Lines that passed on this commit are not run again; an interrupted run goes on where it was. `make faults` is the part
`trust`: `make faults ARGS=--short` takes minutes, `make faults ARGS='--only kills,net --seed 7'` some lines of it. The
seed decides what tests leave to chance (victims, moments, what the network does); not how fast the machine is, so that
a run with the same seed does the same to matches that need not stand where they stood.
"""

from __future__ import annotations

import argparse
import secrets
import sys
from pathlib import Path

from tests.accept.lines import PartError, part_names, read_part, short_form
from tests.accept.report import Report
from tests.accept.runner import run_part

ROOT = Path(__file__).resolve().parents[2]


def parse(arguments: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.accept", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", nargs="?", help="which part; its lines are in tests/accept/PART.toml")
    parser.add_argument("--again", action="store_true", help="run lines that passed on this commit again, too")
    parser.add_argument("--line", action="append", default=[], metavar="ID", help="only this line (may be repeated)")
    parser.add_argument("--only", default="", metavar="ID,…", help="only these lines")
    parser.add_argument("--short", action="store_true", help="the short form: lines that have one, with small counts")
    parser.add_argument("--seed", type=int, help="what tests leave to chance; without it by chance, and printed")
    parser.add_argument("--json", action="store_true", help="the results as JSON on stdout, all else on stderr")
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
        only = [*options.line, *(name for name in options.only.split(",") if name)]
        lines = read_part(options.folder / f"{options.part}.toml", only=only)
    except PartError as error:
        print(error, file=sys.stderr)
        return 2
    lines = short_form(lines) if options.short else lines
    if not lines:
        print(f"none of these lines of {options.part} has a short form", file=sys.stderr)
        return 2
    seed = secrets.randbelow(2**32) if options.seed is None else options.seed
    report = Report.load(options.root, options.part, short=options.short, seed=seed)
    print(f"{options.part} on {report.commit}: {len(lines)} lines, seed {seed}", file=sys.stderr)
    return run_part(lines, report, again=options.again, as_json=options.json)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
