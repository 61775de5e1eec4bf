"""The part of requirements.lock that runs: `python tools/runtime_lock.py [EXTRA …]`, beside pyproject.toml.

The lock has everything, test tools too; an image wants what runs. Requirements are followed from pyproject.toml by the
metadata of the packages installed here, with this Python's markers; the lines are the lock's, hashes and all.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROJECT, LOCK = Path("pyproject.toml"), Path("requirements.lock")


def roots(project: str, extras: Iterable[str]) -> list[str]:
    """What the project itself asks for. Raises KeyError for an extra that it does not have."""
    given = tomllib.loads(project)["project"]
    return [*given["dependencies"], *(need for extra in extras for need in given["optional-dependencies"][extra])]


def needed(texts: Iterable[str]) -> set[str]:
    """Canonical names of everything that these requirements need. Raises PackageNotFoundError."""
    seen: set[tuple[str, str]] = set()
    todo = [(text, "") for text in texts]
    while todo:
        text, extra = todo.pop()
        need = Requirement(text)
        if need.marker is not None and not need.marker.evaluate({"extra": extra}):
            continue
        name = canonicalize_name(need.name)
        for wanted in ("", *need.extras):
            if (name, wanted) not in seen:
                seen.add((name, wanted))
                todo += [(further, wanted) for further in distribution(name).requires or ()]
    return {name for name, _ in seen}


def lines_of(lock: str) -> dict[str, str]:
    """The lock's entries by canonical name: a pin with its marker and hashes, on several lines."""
    text = re.sub(r"^\s*#.*\n", "", lock, flags=re.MULTILINE)
    entries = re.findall(r"^[A-Za-z0-9].*(?:\n[ \t]+.*)*", text, flags=re.MULTILINE)
    found: dict[str, str] = {}
    for entry in entries:
        name = canonicalize_name(re.split(r"[\[=<>~! ;]", entry, maxsplit=1)[0])
        found[name] = f"{found[name]}\n{entry}" if name in found else entry  # a pin for each Python
    return found


def main(arguments: list[str]) -> int:
    """Print them."""
    pinned = lines_of(LOCK.read_text(encoding="utf-8"))
    wanted = sorted(needed(roots(PROJECT.read_text(encoding="utf-8"), arguments)))
    missing = [name for name in wanted if name not in pinned]
    if missing:
        print(f"not in {LOCK}: {', '.join(missing)}", file=sys.stderr)
        return 1
    print("\n".join(pinned[name] for name in wanted))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
