"""What tests/conftest.py promises: counts, and no skips under CI."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import NEVER_AGAIN, TESTS, may_run_again

ROOT = Path(__file__).resolve().parents[2]
SKIPPING = "import pytest\ndef test_it() -> None:\n    pytest.skip('no such thing here')\n"
SKIPPING_MODULE = "import pytest\npytest.skip('nothing here', allow_module_level=True)\n"
EXPECTED = "import pytest\n@pytest.mark.xfail\ndef test_it() -> None:\n    assert False\n"
COUNTING = "def test_it(counts) -> None:\n    print('counted', counts(ci=3, full=700))\n"


def run(tmp_path: Path, text: str, *arguments: str, ci: str) -> subprocess.CompletedProcess[str]:
    """Run pytest on one file under the repository's conftest."""
    (tmp_path / "test_one.py").write_text(text)
    (tmp_path / "conftest.py").write_text("from tests.conftest import *\n")
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), "-s", ".", *arguments],
        cwd=tmp_path,
        env={**os.environ, "CI": ci, "PYTHONPATH": str(ROOT)},
        text=True,
        capture_output=True,
        check=False,
    )


@pytest.mark.parametrize("text", [SKIPPING, SKIPPING_MODULE], ids=["test", "module"])
def test_ci_refuses_a_skip(tmp_path: Path, text: str) -> None:
    """Under CI a skip fails and says why; elsewhere it is a skip."""
    refused = run(tmp_path, text, ci="true")
    assert refused.returncode != 0
    assert "skipped, which CI does not accept: " in refused.stdout
    assert run(tmp_path, text, ci="").returncode in (0, 5)


def test_ci_accepts_an_expected_failure(tmp_path: Path) -> None:
    """An xfail is not a skip."""
    assert run(tmp_path, EXPECTED, ci="true").returncode == 0


@pytest.mark.parametrize(("arguments", "count"), [([], 3), (["--counts=full"], 700)])
def test_counts(tmp_path: Path, arguments: list[str], count: int) -> None:
    """The small number by default, the large one when asked for."""
    assert f"counted {count}" in run(tmp_path, COUNTING, *arguments, ci="").stdout


AGAIN = """
import pathlib, pytest

@pytest.mark.flaky(reruns=1)
def test_it() -> None:
    seen = pathlib.Path("seen")
    if not seen.exists():
        seen.touch()
        raise RuntimeError("once only")

@pytest.mark.flaky(reruns=1)
def test_wrong() -> None:
    raise RuntimeError("always")
"""


def test_a_second_run_is_told(tmp_path: Path) -> None:
    """With what was wrong the first time; what fails twice has failed."""
    done = run(tmp_path, AGAIN, ci="true")
    assert "1 failed, 1 passed, 2 rerun" in done.stdout
    assert "RERUN test_one.py::test_it (call)" in done.stdout
    assert "RuntimeError: once only" in done.stdout


def test_what_does_not_depend_on_the_machine_has_no_second_run() -> None:
    """Folders of both kinds are there."""
    folders = {path.name for path in TESTS.iterdir() if any(path.glob("test_*.py"))}
    assert folders > NEVER_AGAIN
    assert not may_run_again(TESTS / "engine" / "test_cards.py")
    assert not may_run_again(TESTS / "secrecy" / "test_wire.py")
    assert may_run_again(TESTS / "faults" / "test_kills.py")
