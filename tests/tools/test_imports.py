"""The engine's imports, from the positive side: the import contracts forbid a list, this allows one."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ENGINE = sorted((ROOT / "engine/kangtou_engine").rglob("*.py"))
# Clock, chance, IO and concurrency of the standard library: they come in as arguments or not at all.
OUTSIDE = {
    *("asyncio", "concurrent", "datetime", "multiprocessing", "queue", "random", "sched", "secrets", "select"),
    *("shelve", "signal", "socket", "sqlite3", "subprocess", "tempfile", "threading", "time", "urllib", "uuid"),
}


def imported(file: Path) -> Iterator[str]:
    """Top-level names of all modules that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(file.read_text())):
        match node:
            case ast.Import(names=names):
                yield from (name.name.partition(".")[0] for name in names)
            case ast.ImportFrom(module=str(module), level=0):  # a relative import stays inside
                yield module.partition(".")[0]
            case _:
                pass


@pytest.mark.parametrize("file", ENGINE, ids=lambda file: str(file.relative_to(ROOT / "engine")))
def test_engine_file_imports_only_what_it_may(file: Path) -> None:
    """Standard library and the engine itself; no clock, chance or IO."""
    assert set(imported(file)) <= {*sys.stdlib_module_names, "kangtou_engine"} - OUTSIDE


def test_no_module_outside_the_actors_imports_ray() -> None:
    """Starting Ray costs seconds and memory: clients, bots and most of the server never do."""
    users = [
        str(file.relative_to(ROOT))
        for folder in ("services", "clients")
        for file in (ROOT / folder).rglob("*.py")
        if "ray" in imported(file)
    ]
    assert set(users) <= {"services/kangtou_services/actors.py"}
