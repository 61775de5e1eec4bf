"""Points, factors, penalties, the end of the match. HS-9 to HS-12."""

from __future__ import annotations

import pytest

from kangtou_engine.games.hongshi.score import basic_points
from tests.engine.hongshi.table import play, refusal, setup

# HS-9.4: places of the up side; points of each up seat: nobody open, open, four tens shown (None: cannot be)
FULL_TABLE = [
    ((1, 2), 2, 4, None),
    ((1, 3), 1, 2, None),
    ((1, 4), 0, 0, None),
    ((2, 3), 0, 0, None),
    ((2, 4), -2, -4, None),
    ((3, 4), -4, -8, None),
    ((1,), 9, 18, 36),
    ((2,), 0, 0, 0),
    ((3,), 0, 0, 0),
    ((4,), -18, -36, -36),
]


def order_of(places: tuple[int, ...]) -> tuple[list[int], list[int]]:
    """Up seats (from seat 1 on) and an order in which they have these places."""
    up = [1, 3][: len(places)]
    down = [seat for seat in (2, 0, 3, 1) if seat not in up]
    order = [up[places.index(place)] if place in places else down.pop() for place in range(1, 5)]
    return up, order


@pytest.mark.parametrize("shown", ["normal", "open", "four"])
@pytest.mark.parametrize(("places", "normal", "is_open", "four"), FULL_TABLE)
def test_hs_9_4(places: tuple[int, ...], normal: int, is_open: int, four: int | None, shown: str) -> None:
    """The full table, played: the third seat goes out with its last card."""
    points = {"normal": normal, "open": is_open, "four": four}[shown]
    if points is None:
        return
    up, order = order_of(places)
    hands = [""] * 4
    hands[order[2]], hands[order[3]] = "SK", "S7 C7"
    revealed = {
        "normal": {up[0]: "HT"},
        "open": {up[0]: "HT", up[1]: "DT"} if len(up) == 2 else {up[0]: "HT DT"},
        "four": {up[0]: "ST HT CT DT"},
    }[shown]
    state = setup(phase="play", to_act=order[2], out=order[:2], up=up, hands=hands, revealed=revealed)
    state = play(state, f"{order[2]} play SK")
    other = -points if len(up) == 2 else -points // 3
    assert state.sheet.scores == tuple(points if seat in up else other for seat in range(4))
    last = state.sheet.last_round
    assert last is not None
    assert list(last["order"]) == order
    assert (last["how"], list(last["up"]), last["open"]) == ("play", up, shown != "normal")
    assert set(last) == set("round dealer how order up open base factor points".split())
    assert tuple(worth * last["factor"] for worth in last["base"]) == last["points"]


@pytest.mark.parametrize("up", [(0, 2), (1, 2), (3,), (0,)])
def test_hs_9_5_zero_sum(up: tuple[int, ...]) -> None:
    """For every order."""
    for a in range(4):
        for b in range(4):
            for c in range(4):
                if len({a, b, c}) == 3:
                    order = (a, b, c, 6 - a - b - c)
                    assert sum(basic_points(order, up)) == 0


HANDS = ["H6 S7", "S8 HT", "S9 DT", "SK"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("- penalize", "HS-11.2 penalize_whom"),
        ("- penalize 2", "HS-11.2 penalize_whom"),
        ("- penalize seat=4", "HS-11.2 bad_seat"),
        ("- penalize seat=00", "HS-11.2 bad_seat"),
        ("- penalize seat=x", "HS-11.2 bad_seat"),
        ("- penalize seat=1 points=9", "CM-10.1 unknown_key"),
        ("- annul", "CM-10.1 unknown_verb"),
        ("0 penalize seat=1", "HS-2.2 unknown_verb"),
        ("- penalize seat=3", "legal"),
    ],
)
def test_hs_11_2_refused(line: str, said: str) -> None:
    """The table's verb, not a seat's."""
    assert refusal(setup(hands=HANDS), line) == said


@pytest.mark.parametrize("phase", ["reveal", "play", "between"])
@pytest.mark.parametrize("penalty", [0, 8, 1000])
def test_hs_11_2_penalty(phase: str, penalty: int) -> None:
    """At once, any number of times, and nothing else changes."""
    before = setup({"penalty": penalty}, phase=phase, hands=HANDS)
    after = play(before, "- penalize seat=2", "- penalize seat=2", "- penalize seat=0")
    assert after.sheet.scores == (-penalty, 0, -2 * penalty, 0)
    assert after.game.penalties == (1, 0, 2, 0)
    assert (after.phase, after.game.hands, after.game.turn) == (before.phase, before.game.hands, before.game.turn)


def test_hs_8_3_penalties_carry_over() -> None:
    """Only they do; they are not part of the round's points."""
    state = setup({"rounds": 2}, phase="play", to_act=3, out=[0, 1], up=[0, 2], hands=["", "", "S7", "SK"])
    state = play(state, "- penalize seat=3", "3 play SK", "- penalize seat=1", "- timeout")
    assert (state.phase, state.sheet.round, state.game.penalties) == ("cut", 2, (0, 1, 0, 1))
    assert state.sheet.scores == (0, -8, 0, -8)
    assert state.sheet.last_round is not None
    assert state.sheet.last_round["points"] == (0, 0, 0, 0)
    assert refusal(state, "- penalize seat=1") == "HS-11.2 no_penalty_now"
    assert state.game.sides.known == ()
    assert state.game.out == ()


def test_hs_12_1_hs_12_3_last_round() -> None:
    """The score of the last round ends the match; equal scores share the better place."""
    state = setup(
        {"rounds": 7},
        phase="play",
        round=7,
        to_act=3,
        out=[0, 2],
        up=[0, 2],
        hands=["", "S7 C7", "", "SK"],
        scores=[-2, 5, 0, 3],
    )
    state = play(state, "3 play SK")
    assert (state.phase, state.sheet.scores, state.sheet.places) == ("over", (0, 3, 2, 1), (4, 1, 2, 3))
    assert refusal(state, "- penalize seat=1") == "CM-7.1 match_over"
