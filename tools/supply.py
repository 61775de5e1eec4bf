"""What Kangtou is built from: licences of all pins, and whether a weakness of one of them is known.

    python tools/supply.py             check, as `make check` does
    python tools/supply.py --write     renew docs/licences.md

Licences must be of the kinds below and as docs/licences.md lists them. Weaknesses are asked of the advisory service by
pip-audit; where that cannot be reached it is said, and only with KANGTOU_AUDIT=required is it a failure.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "requirements.lock"
LIST = ROOT / "docs" / "licences.md"
AUDIT_S = 90
FREE = re.compile(
    r"MIT|BSD|Apache|ISC|Python Software Foundation|PSF|MPL|Mozilla|Zlib|CC0|Unlicense|HPND", re.IGNORECASE
)
TOOLS = frozenset({"yamllint"})  # run as programs by the tests, part of nothing that is given away
HEAD = """# Licences of what Kangtou is built from

Written by `python tools/supply.py --write` from requirements.lock; `make check` compares.

| package | licence |
|---|---|
"""


def pinned(lock: str) -> list[str]:
    """Names in the lock that are for this Python and system. Raises ValueError for a pin without a hash."""
    found = []
    for block in lock.replace("\\\n", " ").splitlines():
        name = re.match(r"[A-Za-z0-9._-]+", block)
        if name is None:
            continue
        if "--hash=sha256:" not in block:
            raise ValueError(f"{name[0]} is pinned without a hash")
        found.append(name[0])
    return found


def licences(names: Sequence[str]) -> dict[str, str]:
    """By package, of those that are installed."""
    command = [sys.executable, "-m", "piplicenses", "--format=json", "--from=mixed", "--packages", *names]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return {one["Name"].lower(): one["License"] for one in json.loads(done.stdout)}


def not_free(found: Mapping[str, str]) -> list[str]:
    """Those whose licence is none of the kinds above."""
    return [f"{name}: {text}" for name, text in sorted(found.items()) if not FREE.search(text) and name not in TOOLS]


def rows(found: Mapping[str, str]) -> list[str]:
    """The lines of docs/licences.md."""
    return [f"| `{name}` | {text.replace('|', '/')} |\n" for name, text in sorted(found.items())]


def audit() -> tuple[list[str], int]:
    """Known weaknesses, and how many packages were looked up; 0: the service cannot be reached."""
    command = [sys.executable, "-m", "pip_audit", "-r", str(LOCK), "--no-deps", "--disable-pip", "--timeout", "10"]
    command += ["--progress-spinner", "off", "--format", "json"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=AUDIT_S)
    except subprocess.TimeoutExpired:
        return [], 0
    try:
        return weaknesses(json.loads(done.stdout))
    except ValueError:
        return [], 0


def weaknesses(answer: Mapping[str, Any]) -> tuple[list[str], int]:
    """What pip-audit has found: `name version: id, id`, and how many packages it could look up."""
    looked_up = [one for one in answer["dependencies"] if "skip_reason" not in one]
    bad = [
        f"{one['name']} {one['version']}: {', '.join(weak['id'] for weak in one['vulns'])}"
        for one in looked_up
        if one["vulns"]
    ]
    return bad, len(looked_up)


def main(arguments: Sequence[str]) -> int:
    """See the module."""
    names = pinned(LOCK.read_text())
    found = licences(names)
    if "--write" in arguments:
        LIST.write_text(HEAD + "".join(rows(found)))
        print(f"{LIST.relative_to(ROOT)}: {len(found)} packages")
        return 0
    wrong = [f"licence that is not allowed here: {one}" for one in not_free(found)]
    text = LIST.read_text() if LIST.exists() else ""
    if not all(row in text for row in rows(found)):  # other systems have some of the pins, and no others
        wrong.append("docs/licences.md is not up to date: python tools/supply.py --write")
    bad, looked_up = audit()
    wrong += [f"known weakness: {one}" for one in bad]
    if not looked_up:
        said = "NOT AUDITED: the advisory service cannot be reached from here"
        if os.environ.get("KANGTOU_AUDIT") == "required":
            wrong.append(said)
        else:
            print(said)
    for line in wrong:
        print(line)
    if not wrong:
        print(f"supply: {len(names)} pins with hashes, {len(found)} licences, {looked_up} looked up, none known weak")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
