"""The rule books: in a checkout under docs/rules, in a wheel beside this module."""

from __future__ import annotations

import re
from pathlib import Path

COMMON = "common"
_HERE = Path(__file__).resolve().parent
_HEADING = re.compile(r"#{1,3} ")
_RULE = re.compile(r"([A-Z]{2})-([0-9]+)(?:\.([0-9]+))?")


class BooksMissing(Exception):
    """Neither a checkout nor a wheel with the books."""


def folder() -> Path:
    """Where the books are. Raises BooksMissing."""
    for place in (_HERE.parents[1] / "docs/rules", _HERE / "rules"):
        if (place / "README.md").is_file():
            return place
    raise BooksMissing


def names() -> list[str]:
    """The books, `common` (rules CM-…) among them."""
    return sorted(COMMON if path.stem == "README" else path.stem for path in folder().glob("*.md"))


def book(name: str) -> str | None:
    """A book's text, None if there is none of that name."""
    if name not in names():
        return None
    return (folder() / ("README.md" if name == COMMON else f"{name}.md")).read_text()


def book_of(rule: str) -> str | None:
    """The name of the book that a rule such as `HS-4.3` stands in."""
    found = _RULE.fullmatch(rule)
    if found is None:
        return None
    return next((name for name in names() if re.search(rf"^## {found[1]}-1\b", book(name) or "", re.MULTILINE)), None)


def rule(text: str, number: str) -> str | None:
    """One rule of a book (`HS-4.3`) or a whole section (`HS-4`) as it stands there; None if there is none.

    A rule goes on to the next rule or heading; one that is a row of a table is given with the table's head.
    """
    found = _RULE.fullmatch(number)
    if found is None:
        return None
    lines = text.split("\n")
    if found[3] is None:
        return _section(lines, number)
    for place, line in enumerate(lines):
        if line.startswith("|") and re.search(rf"\*\*{re.escape(number)}\*\*", line):
            return _row(lines, place)
        if re.match(rf"\*\*{re.escape(number)}(?![0-9])", line):
            return _paragraphs(lines, place)
    return None


def _section(lines: list[str], number: str) -> str | None:
    start = next((place for place, line in enumerate(lines) if re.match(rf"## {number}\b", line)), None)
    if start is None:
        return None
    end = next((place for place in range(start + 1, len(lines)) if lines[place].startswith("## ")), len(lines))
    return "\n".join(lines[start:end]).strip()


def _paragraphs(lines: list[str], start: int) -> str:
    end = start + 1
    while end < len(lines) and not re.match(r"\*\*[A-Z]{2}-[0-9]+\.[0-9]+", lines[end]) and not _heading(lines[end]):
        end += 1
    return "\n".join(lines[start:end]).strip()


def _heading(line: str) -> bool:
    return _HEADING.match(line) is not None


def _row(lines: list[str], place: int) -> str:
    head = place
    while lines[head - 1].startswith("|"):
        head -= 1
    return "\n".join([*lines[head : head + 2], lines[place]])
