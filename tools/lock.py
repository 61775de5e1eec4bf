"""Resolve pyproject.toml into requirements.lock: every pin with hashes, no index address.

Keeps the pins that still fit; `--upgrade` takes the newest of everything, `--upgrade-package NAME` of one.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "requirements.lock"
HEADER = """\
# Every package of Kangtou and its extras for Python 3.11 to 3.13, with hashes. Written by `make lock`; do not edit.
"""


def command(output: Path) -> list[str]:
    """The resolver's command line. Only wheels count: nobody should need a compiler."""
    return [
        *(sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--universal", "--python-version", "3.11"),
        *("--all-extras", "--only-binary", ":all:", "--generate-hashes", "--no-header", "--no-annotate"),
        *("--no-emit-index-url", "--no-emit-find-links", "--output-file", str(output), "pyproject.toml"),
        *sys.argv[1:],
    ]


def main() -> int:
    """Write the lock beside the old one first, so that a failed resolution leaves the old one alone."""
    new = LOCK.with_suffix(".lock.new")
    try:
        if LOCK.exists():
            new.write_text(LOCK.read_text())  # uv keeps the pins that it finds in its output file
        done = subprocess.run(command(new), cwd=ROOT, check=False)
        if done.returncode:
            return done.returncode
        LOCK.write_text(HEADER + new.read_text().removeprefix(HEADER))
    finally:
        new.unlink(missing_ok=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
