"""Scores, the end of the match, the next dealer. EB-9, EB-10."""

from __future__ import annotations

from typing import Any

import pytest

from kangtou_engine.match.events import MatchOver, Scored
from tests.engine.erbaiwu.positions import of_kind, play, position

SETTLED = [
    # rule       options                                   hands                          scores            抠
    ("EB-9.1", {}, ["", "SA S2 H3 C4", "C7 BJ", "ST SJ SQ SK"], [0, 10, 45, 46], False),
    ("EB-9.2", {}, ["H3", "C4", "S8 H9"], [3, 4, 17], False),
    ("EB-9.3", {}, ["H5", "C3", "S8"], [5, 6, 16], False),
    ("EB-9.3", {}, ["SA H4", "C6", "S8"], [5, 6, 8], False),
    ("EB-9.3", {"five": 1}, ["H5", "C6", "S8"], [5, 6, 8], False),
    ("EB-9.3", {"five": 10}, ["H5", "C6", "S8"], [5, 60, 80], False),
    ("EB-9.4", {}, ["S7", "C3", ""], [-15, 3, 0], False),
    ("EB-9.4", {}, ["S7 H7 C7", "C3", "BJ"], [-45, 3, 30], False),
    ("EB-9.4", {"daiqi": 0}, ["S7 H7", "C3", ""], [0, 3, 0], False),
    ("EB-9.4", {"daiqi": -4}, ["S7 H7", "C3", "S2"], [-8, 3, 2], False),
    ("EB-9.7", {}, ["H4", "C4", "S8"], [16, 0, 0], True),
    ("EB-9.7", {}, ["H4", "", "S8"], [12, 0, 0], True),
    ("EB-9.7", {}, ["H4", "C5", "S8"], [4, 5, 8], False),
    ("EB-9.7", {}, ["", "", ""], [0, 0, 0], False),
    ("EB-9.7", {}, ["H5", "C2", "S8"], [5 + 4 + 16, 0, 0], True),
    ("EB-9.7", {}, ["H5", "C3", "S8"], [5, 6, 16], False),
    ("EB-13.8", {"kou_compare": "hand"}, ["H5", "C3", "S8"], [5 + 6 + 16, 0, 0], True),
    ("EB-13.8", {"kou_compare": "hand"}, ["H5", "C6", "S8"], [5, 12, 16], False),
    ("EB-13.7", {"kou": False}, ["H4", "C4", "S8"], [4, 4, 8], False),
    ("EB-13.4", {"settle_at": 14}, ["H5 S9", "SK", "SQ HQ"], [14 + 13 + 24, 0, 0], True),
    ("EB-13.4", {"settle_at": 0}, ["", "C4", "S8"], [0, 4, 8], False),
]


@pytest.mark.parametrize(("rule", "options", "hands", "scores", "kou"), SETTLED)
def test_settled(rule: str, options: dict[str, object], hands: list[str], scores: list[int], kou: bool) -> None:
    """Seat 0 settles."""
    start = {"phase": "turn", "to_act": 0, "dealer": 1, "hands": hands, "runs": {"D": "D7"}}
    state = position(start, options)
    events, after = play(state, "0 settle")
    result = of_kind(events, Scored)[0].result
    assert (list(result["round_scores"]), result["kou"], result["settled"]) == (scores, kou, 0), rule
    assert sorted(result) == ["dealer", "extras", "kou", "round", "round_scores", "settled"]
    assert after.sheet.next_dealer == 0  # EB-10.4
    assert after.sheet.scores == tuple(scores)


TOTALS = [
    # rule        options                              before        extras    totals       over
    ("EB-9.9", {}, [240, 0, 0], [0, 0, 0], [200, 13, 0], False),
    ("EB-9.9", {}, [220, 0, 0], [20, 0, 0], [200, 13, 0], False),
    ("EB-9.9", {"exact": 0}, [240, 0, 0], [0, 0, 0], [250, 13, 0], False),
    ("EB-9.9", {"exact": -1000}, [240, 237, 0], [0, 0, 0], [-750, -750, 0], False),
    ("EB-9.5", {}, [0, 0, 0], [60, 0, 30], [70, 13, 30], False),
    ("EB-10.1", {}, [241, 0, 0], [0, 0, 0], [251, 13, 0], True),
    ("EB-10.1", {}, [250, 0, 0], [0, 0, 0], [260, 13, 0], True),
    ("EB-13.1", {"limit": 9}, [0, 0, 0], [0, 0, 0], [10, 13, 0], True),
    ("EB-13.1", {"limit": 13}, [0, 0, 0], [0, 0, 0], [10, -37, 0], False),
    ("EB-13.1", {"limit": 0, "rounds": 9}, [990, 237, 0], [0, 0, 0], [1000, 250, 0], False),
    ("EB-10.3", {"rounds": 3}, [0, 0, 0], [0, 0, 0], [10, 13, 0], True),
    ("EB-10.3", {"rounds": 4}, [0, 0, 0], [0, 0, 0], [10, 13, 0], False),
]


@pytest.mark.parametrize(("rule", "options", "before", "extras", "totals", "over"), TOTALS)
def test_totals(
    rule: str, options: dict[str, object], before: list[int], extras: list[int], totals: list[int], over: bool
) -> None:
    """Seat 2 settles with nothing in round 3; seats 0 and 1 hold 10 and 13."""
    start: dict[str, Any] = {
        "phase": "turn",
        "to_act": 2,
        "round": 3,
        "hands": ["ST", "SK", ""],
        "runs": {"D": "D7"},
        "scores": before,
        "extras": extras,
    }
    events, after = play(position(start, options), "2 settle")
    assert list(after.sheet.scores) == totals, rule
    assert bool(of_kind(events, MatchOver)) is over


@pytest.mark.parametrize(
    ("verb", "hand"), [("discard SK", "SK"), ("keep", "D7 BJ")], ids=["EB-8.4 discard", "EB-8.4 keep"]
)
def test_the_stock_runs_out(verb: str, hand: str) -> None:
    """EB-8.4, EB-10.4: nobody settled, the same dealer deals again."""
    start = {"phase": "discard", "to_act": 1, "dealer": 2, "hands": ["S2", hand, "H5", "S9 H9"], "stock": ""}
    events, after = play(position(start), f"1 {verb}")
    result = of_kind(events, Scored)[0].result
    assert result["settled"] is None
    assert not result["kou"]
    assert after.sheet.next_dealer == 2
    assert result["round_scores"] == (2, 0 if hand == "SK" else 45, 5, 18)


def test_a_dump_may_draw_the_last_card() -> None:
    """EB-6.6 f, EB-8.4."""
    start = {"phase": "turn", "hands": ["D8", "S2"], "runs": {"D": "D7 BJ=D8"}, "stock": "SK"}
    events, after = play(position(start), "0 dump D8")
    assert of_kind(events, Scored)[0].result["round_scores"] == (13, 2)
    assert after.phase == "between"


ROWS = [
    # rule            start                              script                      extras of the dealer
    ("EB-9.6 a", {"first_discards": "S9 H9 C9"}, ["1 discard D9"], 30),
    ("EB-9.6 a", {"first_discards": "S9 H9"}, ["1 discard D9"], 0),
    ("EB-9.6 a", {"first_discards": "S9 H9 C9"}, ["1 discard SK"], 0),
    ("EB-9.6", {}, ["1 discard D9"], 0),
    ("EB-9.6 f", {"first_discards": "S9 H9 C9", "stock": ""}, ["1 discard D9"], 30),
]


@pytest.mark.parametrize(("rule", "start", "script", "extras"), ROWS)
def test_following(rule: str, start: dict[str, Any], script: list[str], extras: int) -> None:
    """The dealer, seat 0, pays for three cards that follow its first discard."""
    base = {"phase": "discard", "to_act": 1, "hands": ["S2", "D9 SK", "C3"], "stock": "SA HA CA DA"}
    _, after = play(position({**base, **start}), *script)
    assert after.game.extras[0] == extras, rule


def test_a_keep_breaks_no_row_and_a_dump_does() -> None:
    """EB-9.6 b, c."""
    base = {"dealer": 0, "first_discards": "S9 H9 C9", "runs": {"D": "D7 BJ=D8"}, "stock": "SA HA CA DA"}
    kept = position({**base, "phase": "discard", "to_act": 1, "hands": ["", "S7", "D9"]})
    _, after = play(kept, "1 keep", "2 draw", "2 discard D9")
    assert after.game.extras == (30, 0, 0)
    dumped = position({**base, "phase": "turn", "to_act": 1, "hands": ["", "D8", "D9"]})
    _, after = play(dumped, "1 dump D8", "2 draw", "2 discard D9")
    assert after.game.extras == (0, 0, 0)


def test_a_first_turn_that_ends_with_keep_starts_no_row() -> None:
    """EB-9.6 e."""
    state = position({"hands": ["D7", "S9", "H9 C9 D9"], "stock": "SA HA CA DA S2 H2 C2 D2"})
    events, state = play(state, "0 keep")
    for seat, card in ((1, "S9"), (2, "H9")):
        _, state = play(state, f"{seat} draw", f"{seat} discard {card}", "- timeout")
    assert state.game.closed.row == ()
    assert events
