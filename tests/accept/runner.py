"""Run acceptance lines one after another, with a sign of life, and judge what they print."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import psutil
from rich.console import Console
from rich.markup import escape

from tests.accept.lines import Line, found
from tests.accept.report import Report, Verdict

WIDTH = 160  # of what goes to no terminal
SEED = "FAULTS_SEED"  # for commands that leave something to chance (tests/faults/conftest.py)
# Seconds between asking a command to stop and killing it; background jobs of a shell do not hear the first signal.
GRACE = 5.0


class Process:
    """A command in a process group of its own, so that whatever it starts ends with it."""

    def __init__(self, command: str, root: Path, log: Path, seed: int = 0) -> None:
        """Start it; stdout and stderr go to `log`."""
        path = os.pathsep.join([str(root / ".venv/bin"), os.environ.get("PATH", "")])
        with log.open("wb") as output:
            self._child = subprocess.Popen(
                ["bash", "-c", f"set -euo pipefail\n{command}"],
                cwd=root,
                env={**os.environ, "PATH": path, "PYTHONUNBUFFERED": "1", SEED: str(seed)},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def wait(self, seconds: float) -> int | None:
        """Its exit code, or None if it is still running after so long."""
        try:
            return self._child.wait(seconds)
        except subprocess.TimeoutExpired:
            return None

    def stop(self) -> None:
        """End the whole group: ask, wait, kill. Also after a normal end, for what was left running."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            if not self._members():
                return
            os.killpg(self._child.pid, number)
            end = time.monotonic() + GRACE
            while self._members() and time.monotonic() < end:
                self.wait(0.05)
                time.sleep(0.05)

    def _members(self) -> list[int]:
        """The group's living processes; those that only wait to be collected do not count."""
        members = []
        for process in psutil.process_iter(["pid", "status"]):
            try:
                if os.getpgid(process.pid) == self._child.pid and process.info["status"] != psutil.STATUS_ZOMBIE:
                    members.append(process.pid)
            except ProcessLookupError:
                continue
        return members


def run_part(lines: Sequence[Line], report: Report, *, again: bool = False, as_json: bool = False) -> int:
    """Run all lines that have not passed on this commit; 0 if all hold, 1 if one does not, 130 if interrupted.

    `as_json`: stdout gets the report as JSON, stderr everything else.
    """
    out = sys.stderr if as_json else sys.stdout
    console = Console(file=out, highlight=False, width=None if out.isatty() else WIDTH)
    try:
        for line in lines:
            if report.passed(line) and not again:
                console.print(f"[dim]{line.id} passed before on this commit[/dim]")
                continue
            verdict = run_line(line, report, console)
            report.record(verdict, lines)
    except KeyboardInterrupt:
        console.print("\ninterrupted; the same command goes on with the lines that are left")
        return 130
    console.print(report.table(lines))
    if as_json:
        print(report.json(lines))
    console.print(f"results: {report.file.relative_to(report.root)} and .txt")
    failed = [line.id for line in lines if not report.verdicts[line.id].passed]
    console.print(f"{len(lines) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


def run_line(line: Line, report: Report, console: Console) -> Verdict:
    """Run one line and judge it."""
    log = report.log(line)
    console.print(f"[bold]{escape(line.id)}[/bold] {escape(line.title)}\n  $ {escape(line.command)}")
    begun = time.monotonic()
    process = Process(line.command, report.root, log, report.seed)
    try:
        code = _watch(process, line, log, begun, console)
    finally:
        process.stop()
    seconds = time.monotonic() - begun
    verdict = replace(judge(line, code, log.read_text(errors="replace"), seconds), seed=report.seed)
    console.print(
        f"  {'PASS' if verdict.passed else '[red]FAIL[/red]'} after {seconds:.1f} s"
        + "".join(f"; {escape(text)}" for text in (verdict.count, verdict.figure, verdict.reason) if text)
    )
    if not verdict.passed:
        console.print(f"  [dim]{escape(tail(log, 15))}[/dim]\n  whole output: {log.relative_to(report.root)}")
    return verdict


def _watch(process: Process, line: Line, log: Path, begun: float, console: Console) -> int | None:
    """Wait for the end, or None when the time is up; show the elapsed time and the last line printed."""
    with console.status("") as status:
        while (code := process.wait(0.5)) is None:
            elapsed = time.monotonic() - begun
            if line.timeout is not None and elapsed > line.timeout:
                return None
            status.update(f"{elapsed:.0f} s  {escape(tail(log, 1)[-100:])}")
    return code


def judge(line: Line, code: int | None, output: str, seconds: float) -> Verdict:
    """A line holds if its command exited 0 and every declared pattern is in its output."""
    reasons = []
    if code is None:
        reasons.append(f"took longer than {line.timeout} s")
    elif code:
        reasons.append(f"exit code {code}")
    values = {}
    for name, pattern in (("count", line.count), ("figure", line.figure)):
        value = found(pattern, output) if pattern else ""
        if value is None:
            reasons.append(f"no {name} in the output")
        values[name] = value or ""
    return Verdict(
        id=line.id,
        title=line.title,
        command=line.command,
        passed=not reasons,
        reason=", ".join(reasons),
        count=values["count"],
        figure=values["figure"],
        seconds=round(seconds, 1),
        settings=line.settings,
    )


def tail(log: Path, count: int) -> str:
    """The last lines of a file, without reading all of it."""
    with log.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - 8192))
        text = file.read().decode(errors="replace")
    return "\n".join(text.splitlines()[-count:])
