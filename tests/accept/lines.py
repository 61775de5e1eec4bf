"""Acceptance lines as data: tests/accept/PART.toml.

    [[line]]
    id = "2"
    title = "every public case of the book passes"
    command = "kangtou cases tests/cases/hongshi.yaml"   # bash, in the repository's root, .venv/bin first in PATH
    count = '(\\d+) passed'                               # how much was looked at; optional
    figure = 'p99 (?P<p99>[\\d.]+ ms)'                    # what was measured; groups may have names; optional
    timeout = 3600                                       # seconds; optional
    settings = "replicas=1"                              # under which it holds; optional
    short = "kangtou cases tests/cases/hongshi.yaml"     # the command with small counts, for `--short`; optional

A line holds if its command exits 0 and every pattern that it declares is found in the output. A pattern is looked for
from the end: where it occurs several times, the last occurrence counts.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

SHORT_S = 600.0


class PartError(Exception):
    """A part's file cannot be used; the text says where and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One acceptance line."""

    id: str
    title: str
    command: str
    figure: re.Pattern[str] | None = None
    count: re.Pattern[str] | None = None
    timeout: float | None = None
    settings: str = ""
    short: str = ""


def part_names(folder: Path) -> list[str]:
    """The parts that have lines."""
    return sorted(path.stem for path in folder.glob("*.toml"))


def read_part(path: Path, only: Sequence[str] = ()) -> list[Line]:
    """All lines of a part, or those named; raises PartError."""
    try:
        table = tomllib.loads(path.read_text())
    except tomllib.TOMLDecodeError as error:
        raise PartError(f"{path.name}: {error}") from error
    lines = [_line(path, number, entry) for number, entry in enumerate(table.get("line", []), 1)]
    ids = [line.id for line in lines]
    if not lines:
        raise PartError(f"{path.name}: no [[line]]")
    if doubled := sorted({name for name in ids if ids.count(name) > 1}):
        raise PartError(f"{path.name}: several lines with id {', '.join(doubled)}")
    if unknown := [name for name in only if name not in ids]:
        raise PartError(f"{path.name}: no line {', '.join(unknown)}; lines: {', '.join(ids)}")
    return [line for line in lines if not only or line.id in only]


def short_form(lines: Sequence[Line]) -> list[Line]:
    """Those lines that have a short command, with that one; they have ten minutes each."""
    return [replace(line, command=line.short, timeout=SHORT_S) for line in lines if line.short]


def _line(path: Path, number: int, entry: dict[str, object]) -> Line:
    where = f"{path.name}, line {entry.get('id', f'no. {number}')}"
    known = {"id", "title", "command", "figure", "count", "timeout", "settings", "short"}
    if missing := sorted({"id", "title", "command"} - set(entry)):
        raise PartError(f"{where}: lacks {', '.join(missing)}")
    if unknown := sorted(set(entry) - known):
        raise PartError(f"{where}: unknown {', '.join(unknown)}")
    timeout = entry.get("timeout")
    if timeout is not None and not isinstance(timeout, int | float):
        raise PartError(f"{where}: timeout is a number of seconds")
    return Line(
        id=str(entry["id"]),
        title=str(entry["title"]),
        command=str(entry["command"]),
        figure=_pattern(where, "figure", entry),
        count=_pattern(where, "count", entry),
        timeout=timeout,
        settings=str(entry.get("settings", "")),
        short=str(entry.get("short", "")),
    )


def _pattern(where: str, name: str, entry: dict[str, object]) -> re.Pattern[str] | None:
    if name not in entry:
        return None
    try:
        pattern = re.compile(str(entry[name]), re.MULTILINE)
    except re.error as error:
        raise PartError(f"{where}: {name}: {error}") from error
    if not pattern.groups:
        raise PartError(f"{where}: {name} needs a group")
    return pattern


def found(pattern: re.Pattern[str], output: str) -> str | None:
    """What the last occurrence of a pattern says: `name value, …`, or its groups alone; None if there is none."""
    last = None
    for last in pattern.finditer(output):  # noqa: B007 - only the last one counts
        pass
    if last is None:
        return None
    if last.groupdict():
        return ", ".join(f"{name} {value}" for name, value in last.groupdict().items() if value is not None)
    return ", ".join(group for group in last.groups() if group is not None)
