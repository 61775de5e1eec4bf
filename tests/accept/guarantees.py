"""The last column of docs/guarantees.md, "latest figure", from what acceptance found.

    python -m tests.accept.guarantees

Each row there names its acceptance lines as `` `part id` ``. A line's figure is that of the newest commit on which it
passed in full, as far as results are in .accept/; what the page says of the others stays.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from tests.accept.report import Verdict

ROOT = Path(__file__).resolve().parents[2]
CELLS = 5  # promise, settings, shown by, acceptance line, latest figure
NONE = "–"


def rows(text: str) -> list[list[str]]:
    """The cells of each promise."""
    found = [cells(line) for line in text.splitlines() if line.startswith("| ")]
    return [row for row in found if row[0] != "promise"]


def cells(line: str) -> list[str]:
    """Of a row."""
    return [cell.strip() for cell in line.strip().strip("|").split(" | ")]


def named(cell: str) -> list[tuple[str, str]]:
    """Part and id of each acceptance line that a cell names."""
    return [(part, line) for part, line in re.findall(r"`(\S+) ([^`]+)`", cell)]


def latest(folder: Path, part: str, line: str) -> tuple[str, Verdict] | None:
    """The newest commit, of those with results there, on which the line passed in full; None: there is none."""
    files = [path for path in folder.glob(f"{part}-*.json") if re.fullmatch(rf"{part}-[0-9a-f]+", path.stem)]
    for path in sorted(files, key=lambda path: path.stat().st_mtime, reverse=True):
        saved = json.loads(path.read_text())
        for entry in saved["lines"]:
            if entry["id"] == line and entry["passed"]:
                return saved["commit"], Verdict(**entry)
    return None


def figure(folder: Path, row: list[str]) -> str:
    """What a row's last cell says of the lines that it names."""
    before = dict(said.split(": ", 1) for said in row[4].split("<br>") if ": " in said)
    found = {}
    for part, line in named(row[3]):
        known = latest(folder, part, line)
        if known is not None:
            commit, verdict = known
            what = "; ".join(text for text in (verdict.count, verdict.figure) if text) or "passed"
            found[line] = f"{what} ({commit[:7]})".replace("|", "/").replace("\n", " ")
        elif line in before:
            found[line] = before[line]
    return "<br>".join(f"{line}: {what}" for line, what in found.items()) or NONE


def written(text: str, folder: Path) -> str:
    """The page with the figures that are known."""
    lines = []
    for line in text.splitlines():
        row = cells(line) if line.startswith("| ") else []
        if len(row) == CELLS and named(row[3]):
            line = f"| {' | '.join([*row[:4], figure(folder, row)])} |"
        lines.append(line)
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write the page anew."""
    page = ROOT / "docs" / "guarantees.md"
    page.write_text(written(page.read_text(), ROOT / ".accept"))
    unknown = [row[0] for row in rows(page.read_text()) if row[4] == NONE]
    print(f"{page.relative_to(ROOT)}: {len(unknown)} promises without a figure yet")
    return 0


if __name__ == "__main__":
    sys.exit(main())
