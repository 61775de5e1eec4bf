"""The figures are in the benchmark; here is what must never be lost. EB-12.1."""

from __future__ import annotations

import pytest

from bench.engine_erbaiwu import WORST_HANDS, milliseconds, worst_position
from tests.engine.erbaiwu.positions import ERBAIWU


@pytest.mark.parametrize("hand", WORST_HANDS)
def test_worst_list(hand: str) -> None:
    """Both jokers in hand: a list of about a hundred, far within 3 ms."""
    state = worst_position(ERBAIWU, hand)
    legal = ERBAIWU.legal(state, 0)
    assert isinstance(legal, tuple)
    assert len(legal) < 200
    assert min(milliseconds(lambda: ERBAIWU.legal(state, 0), 20) for _ in range(5)) <= 3
