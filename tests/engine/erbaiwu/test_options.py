"""House options and numbers of seats. EB-13, CM-11."""

from __future__ import annotations

import pytest

from kangtou_engine.errors import BadOptions
from tests.engine.erbaiwu.positions import CHANCE, ERBAIWU

BAD = [
    # rule      seats  options
    ("EB-13.1", 4, {"limit": 0}),
    ("EB-13.1", 4, {"limit": 0, "rounds": 0}),
    ("EB-13.1", 4, {"limit": 10001}),
    ("EB-13.1", 4, {"limit": -1}),
    ("EB-13.1", 4, {"limit": "250"}),
    ("EB-13.2", 4, {"exact": 1}),
    ("EB-13.3", 4, {"rounds": 1001}),
    ("EB-13.4", 4, {"settle_at": 15}),
    ("EB-13.5", 4, {"daiqi": -16}),
    ("EB-13.6", 4, {"five": 0}),
    ("EB-13.7", 4, {"kou": 1}),
    ("EB-13.8", 4, {"kou_compare": "none"}),
    ("EB-13.9", 4, {"follow": -1}),
    ("EB-13.10", 4, {"dead_black": 1001}),
    ("EB-13.11", 4, {"first_dealer": 4}),
    ("EB-13.11", 2, {"first_dealer": 2}),
    ("EB-13.11", 6, {"first_dealer": 6}),
    ("EB-13.11", 4, {"first_dealer": "0"}),
    ("EB-13.11", 4, {"first_dealer": True}),
    ("EB-13.12", 4, {"open_discards": "yes"}),
    ("CM-11.1", 4, {"top": "jokers"}),
    ("CM-11.1", 1, {}),
    ("CM-11.1", 7, {}),
    ("CM-11.1", True, {}),
]


@pytest.mark.parametrize(("rule", "seats", "options"), BAD)
def test_refused(rule: str, seats: int, options: dict[str, object]) -> None:
    """There is no such table."""
    with pytest.raises(BadOptions) as caught:
        ERBAIWU.config(options, seats)
    assert caught.value.rule == rule


@pytest.mark.parametrize("seats", [2, 3, 4, 5, 6])
def test_deal(seats: int) -> None:
    """EB-2.5: six cards each, seven for the dealer, and the stock of the table in the book."""
    for dealer in range(seats):
        config = ERBAIWU.config({"first_dealer": dealer, "cut": False}, seats)
        _, state = ERBAIWU.begin(config, CHANCE)
        assert state.sheet.lot == ()  # EB-2.2
        assert [len(hand) for hand in state.game.hands] == [7 if seat == dealer else 6 for seat in range(seats)]
        assert len(state.game.closed.stock) == {2: 41, 3: 35, 4: 29, 5: 23, 6: 17}[seats]
        assert state.sheet.dealer == dealer


def test_default_seats() -> None:
    """EB-1.1."""
    assert ERBAIWU.config().seats == 4
