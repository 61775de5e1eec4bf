"""Check that every pin of requirements.lock has a wheel for each supported Python on Linux x86_64.

Asks pip to resolve the lock, wheels only and hashes required, without installing anything.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "requirements.lock"
PYTHONS = ("3.11", "3.12", "3.13")
PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64", "manylinux1_x86_64")


def pins(python: str) -> list[str]:
    """The lock's lines for one Python: pip evaluates markers for the running interpreter, so it is done here."""
    environment = {
        "python_version": python,
        "python_full_version": f"{python}.9",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
        "sys_platform": "linux",
        "platform_system": "Linux",
        "platform_machine": "x86_64",
        "os_name": "posix",
    }
    found = []
    for block in LOCK.read_text().replace("\\\n", " ").splitlines():
        if not block or block.startswith("#"):
            continue
        text, *hashes = block.split(" --hash=")
        requirement = Requirement(text.strip())
        if requirement.marker is None or requirement.marker.evaluate(environment):
            requirement.marker = None
            found.append(" --hash=".join([str(requirement), *(item.strip() for item in hashes)]))
    return found


def check(python: str) -> bool:
    """Whether pip finds a wheel for every pin."""
    command = [
        *(sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed", "--no-deps"),
        *("--disable-pip-version-check", "--only-binary=:all:", "--require-hashes", "--target", "unused"),
        *("--implementation", "cp", "--python-version", python),
        *(f"--platform={platform}" for platform in PLATFORMS),
        *("-r", "/dev/stdin"),
    ]
    wanted = pins(python)
    done = subprocess.run(command, input="\n".join(wanted), text=True, cwd=ROOT, check=False)
    print(
        f"Python {python}: {len(wanted)} pins, {'all have wheels' if done.returncode == 0 else 'NOT all have wheels'}"
    )
    return done.returncode == 0


def main() -> int:
    """0 if every Python is served."""
    served = [check(python) for python in PYTHONS]
    return 0 if all(served) else 1


if __name__ == "__main__":
    sys.exit(main())
