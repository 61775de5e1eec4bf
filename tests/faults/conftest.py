"""What the tests here leave to chance follows from one seed, which a failed test prints.

FAULTS_SEED gives it (`make faults ARGS='--seed 7'`). It decides victims, moments and what a network does; where the
matches stand then is up to the machine.
"""

from __future__ import annotations

import os
import random
import secrets

import pytest


@pytest.fixture(autouse=True)
def fault_seed() -> int:
    """The seed of this test; `random` begins with it."""
    seed = int(os.environ.get("FAULTS_SEED") or secrets.randbelow(2**32))
    random.seed(seed)
    print(f"seed {seed}: FAULTS_SEED={seed} does the same again")
    return seed
