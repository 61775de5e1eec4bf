"""What the tests here leave to chance follows from one seed, which a failed test prints.

FAULTS_SEED gives it (`make faults ARGS='--seed 7'`). It decides victims, moments and what a network does; where the
matches stand then is up to the machine.
"""

from __future__ import annotations

import os
import random
import secrets
from collections.abc import Callable

import pytest

from .disk import can_mount


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what fills a disk of its own where no disk can be mounted; the acceptance line then has no count."""
    filling = [item for item in items if item.get_closest_marker("mount")]
    if filling and not can_mount():
        config.hook.pytest_deselected(items=filling)
        items[:] = [item for item in items if item not in filling]


@pytest.fixture(autouse=True)
def fault_seed() -> int:
    """The seed of this test; `random` begins with it."""
    seed = int(os.environ.get("FAULTS_SEED") or secrets.randbelow(2**32))
    random.seed(seed)
    print(f"seed {seed}: FAULTS_SEED={seed} does the same again")
    return seed


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Callable[[str], None]:
    """A line for whoever runs it."""

    def spoken(text: str) -> None:
        with capsys.disabled():
            print(f"\n{text}", end="")

    return spoken
