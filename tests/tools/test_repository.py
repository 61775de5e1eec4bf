"""The repository itself: what is in it, and what must never be."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LOCK = (ROOT / "requirements.lock").read_text()
GRPC = ("grpcio", "grpcio-health-checking", "grpcio-reflection", "grpcio-tools")


def pinned(name: str) -> str:
    """A package's version in the lock."""
    found = re.search(rf"^{re.escape(name)}==(\S+)", LOCK, re.MULTILINE | re.IGNORECASE)
    assert found, f"{name} is not in the lock: make lock"
    return found[1]


def named(requirements: list[str]) -> list[str]:
    """The packages that requirements name."""
    return [re.split(r"[\[<>=; ]", requirement, maxsplit=1)[0] for requirement in requirements]


def everything() -> list[str]:
    """All direct dependencies, extras included."""
    extras = PROJECT["optional-dependencies"].values()
    return named([*PROJECT["dependencies"], *(requirement for extra in extras for requirement in extra)])


@pytest.mark.parametrize("name", everything())
def test_every_dependency_is_pinned_and_explained(name: str) -> None:
    """In the lock, and with a reason in CONTRIBUTING.md."""
    assert pinned(name)
    assert re.search(rf"^\| .*`{re.escape(name)}`.* \|", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE), name


def test_every_pin_has_hashes_and_no_address() -> None:
    """pip refuses anything else, from wherever it takes the packages."""
    blocks = [block for block in LOCK.replace("\\\n", " ").splitlines() if block and not block.startswith("#")]
    assert all("==" in block and "--hash=sha256:" in block for block in blocks)
    assert "://" not in LOCK
    assert not re.search(r"^\s*-", LOCK.replace("    --hash", ""), re.MULTILINE)


def test_grpc_is_one_version_before_1_83() -> None:
    """Later ones do not cancel a call whose object was dropped; see CONTRIBUTING.md."""
    (version,) = {pinned(name) for name in GRPC}
    assert version.startswith("1.82.")


def test_licence_and_version() -> None:
    """MIT; the changelog knows the version's changes."""
    assert PROJECT["license"] == "MIT"
    assert (ROOT / "LICENSE").read_text().startswith("MIT License")
    assert "## [Unreleased]" in (ROOT / "CHANGELOG.md").read_text()


def test_no_file_names_a_machine_a_registry_or_a_key() -> None:
    """Paths of one machine, addresses of package registries, private keys."""
    words = ["/home/[a-z]", "/root/", "/Users/[A-Za-z]", "index-url *[=:]", "pypi\\.[o]rg", "PRIVATE [K]EY"]
    found = subprocess.run(
        ["git", "grep", "-nIE", "|".join(words), "--", ".", ":!tests/tools/test_repository.py"],
        cwd=ROOT,
        text=True,
        capture_output=True,
        check=False,
    )
    assert found.stdout == ""
