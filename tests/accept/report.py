"""What acceptance found: kept after every line in .accept/PART-COMMIT.json, so that an interrupted run goes on there.

The same folder gets PART-COMMIT.txt, the table to show, and logs/, each line's whole output. A short form has files of
its own, PART-COMMIT-short.
"""

from __future__ import annotations

import io
import json
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tests.accept.lines import Line


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """How one line ended."""

    id: str
    title: str
    command: str
    passed: bool
    reason: str = ""
    count: str = ""
    figure: str = ""
    seconds: float = 0.0
    settings: str = ""
    seed: int = 0


def commit_of(root: Path) -> str:
    """The commit under test; `-dirty` if the tree differs from it."""

    def git(*arguments: str) -> str:
        return subprocess.run(["git", *arguments], cwd=root, text=True, capture_output=True, check=True).stdout.strip()

    return git("rev-parse", "--short=12", "HEAD") + ("-dirty" if git("status", "--porcelain") else "")


@dataclass(slots=True, kw_only=True)
class Report:
    """Verdicts of one part on one commit."""

    root: Path
    part: str
    commit: str
    short: bool = False
    seed: int = 0
    verdicts: dict[str, Verdict] = field(default_factory=dict)

    @classmethod
    def load(cls, root: Path, part: str, *, short: bool = False, seed: int = 0) -> Report:
        """What is known of this commit already. A tree with changes has no memory: it may have changed since."""
        report = cls(root=root, part=part, commit=commit_of(root), short=short, seed=seed)
        if report.file.exists() and not report.commit.endswith("-dirty"):
            saved = json.loads(report.file.read_text())
            report.verdicts = {entry["id"]: Verdict(**entry) for entry in saved["lines"]}
        return report

    @property
    def file(self) -> Path:
        """The state and result file."""
        return self.root / ".accept" / f"{self._name}.json"

    @property
    def _name(self) -> str:
        return f"{self.part}-{self.commit}{'-short' if self.short else ''}"

    def log(self, line: Line) -> Path:
        """Where a line's output goes."""
        safe = "".join(letter if letter.isalnum() else "-" for letter in line.id)
        path = self.root / ".accept" / "logs" / f"{self._name}-{safe}.log"
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def passed(self, line: Line) -> bool:
        """Whether this very line (same command) passed on this commit before."""
        known = self.verdicts.get(line.id)
        return known is not None and known.passed and known.command == line.command

    def record(self, verdict: Verdict, lines: Sequence[Line]) -> None:
        """Keep a verdict and write both files, whole or not at all."""
        self.verdicts[verdict.id] = verdict
        self._write(self.file, self.json(lines))
        console = Console(width=160, record=True, file=io.StringIO())
        console.print(self.table(lines))
        self._write(self.file.with_suffix(".txt"), console.export_text())

    def json(self, lines: Sequence[Line]) -> str:
        """All verdicts of this commit, those of the lines first."""
        rows = [asdict(self.verdicts[line.id]) for line in lines if line.id in self.verdicts]
        rest = [asdict(known) for known in self.verdicts.values() if known.id not in {line.id for line in lines}]
        return json.dumps(
            {"part": self.part, "commit": self.commit, "short": self.short, "lines": rows + rest}, indent=2
        )

    def _write(self, path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_suffix(path.suffix + ".new")
        new.write_text(text + "\n")
        new.replace(path)

    def table(self, lines: Sequence[Line]) -> Table:
        """Line, command, count, figure, verdict; instead of commands the settings, where lines tell them."""
        settings = any(line.settings for line in lines)
        title = f"{self.part} on {self.commit}{', short form' if self.short else ''}, seed {self.seed}"
        table = Table(title=title, title_justify="left", show_lines=True)
        for name in ("line", "settings" if settings else "command", "count", "figure", "verdict"):
            table.add_column(name, overflow="fold")
        for line in lines:
            known = self.verdicts.get(line.id)
            verdict = "not run"
            if known is not None:
                verdict = f"{'PASS' if known.passed else 'FAIL'} {known.seconds:.0f} s"
                verdict += f"\n{known.reason}" if known.reason else ""
            table.add_row(
                *map(
                    escape,
                    (
                        f"{line.id}: {line.title}" if settings else f"{line.id} {line.title}",
                        line.settings or "–" if settings else line.command,
                        known.count if known else "",
                        known.figure if known else "",
                        verdict,
                    ),
                )
            )
        return table
