"""Turns, tricks, going out. HS-6, HS-7, HS-14."""

from __future__ import annotations

from typing import Any

import pytest

from kangtou_engine.games.hongshi.state import top_of
from tests.engine.hongshi.table import HONGSHI, legal, play, refusal, setup

HANDS = ["S7 H7 C8 HT DT", "S8 H8 BJ RJ", "ST CT SJ D8", "SK S2 D9"]

REFUSED = [
    # rule and code, what is to beat, line (seat 0 to act)
    ("HS-6.3 leader_passes", None, "0 pass"),
    ("HS-6.3 no_cards", None, "0 play"),
    ("HS-6.3 no_cards", None, "0 play as=ten"),
    ("CM-10.1 card_twice", None, "0 play S7 S7"),
    ("CM-10.1 not_a_card", None, "0 play 7"),
    ("CM-10.1 not_a_card", None, "0 play BJ=S7"),
    ("CM-10.1 unknown_key", None, "0 play S7 is=ten"),
    ("HS-14.2 not_in_hand", None, "0 play SK"),
    ("HS-14.2 not_in_hand", None, "0 play S7 S8"),
    ("HS-14.2 not_in_hand", None, "0 play HT ST"),
    ("HS-5.1 no_combination", None, "0 play S7 C8"),
    ("HS-5.1 no_combination", None, "0 play S7 H7 C8"),
    ("HS-5.5 one_meaning", None, "0 play S7 as=ten"),
    ("HS-5.5 one_meaning", None, "0 play S7 as=red"),
    ("HS-5.5 bad_meaning", None, "0 play HT as=two"),
    ("CM-10.1 key_twice", None, "0 play HT as=ten as=red"),
    ("HS-5.7 does_not_beat", "3 play SK", "0 play S7"),
    ("HS-5.7 does_not_beat", "3 play SK", "0 play HT as=ten"),
    ("HS-5.7 does_not_beat", "3 play S2", "0 play S7 H7"),
    ("HS-5.7 does_not_beat", "2 play HT", "0 play DT"),
    ("CM-10.1 takes_nothing", "3 play SK", "0 pass S7"),
    ("HS-2.2 unknown_verb", "3 play SK", "0 reveal HT"),
    ("CM-10.2 not_your_turn", "3 play SK", "1 play BJ"),
    ("CM-10.2 not_your_turn", "3 play SK", "1 pass"),
    ("legal", "3 play SK", "0 pass"),
    ("legal", "3 play SK", "0 play HT"),
    ("legal", "3 play SK", "0 play DT HT as=red"),
    ("legal", "3 play S9 C9", "0 play DT HT as=ten"),
]


@pytest.mark.parametrize(("said", "to_beat", "line"), REFUSED)
def test_hs_14_2_refused(said: str, to_beat: str | None, line: str) -> None:
    """Rule and code, in the order of HS-14.2."""
    hands = HANDS if to_beat != "2 play HT" else ["S7 DT", *HANDS[1:]]
    more: dict[str, Any] = {"to_beat": to_beat} if to_beat else {}
    assert refusal(setup(phase="play", to_act=0, hands=hands, **more), line) == said


def test_hs_6_2_opening_card() -> None:
    """It binds the first play only, also after an answer of others."""
    hands = ["H6 D6 S7 HT", "S8 DT", "S9 CT", "SK C9"]
    state = setup(phase="play", opening=True, hands=hands)
    assert legal(state, 0) == ["play H6", "play H6 D6"]
    assert refusal(state, "0 play S7") == "HS-6.2 opening_card"
    assert refusal(state, "0 play D6") == "HS-6.2 opening_card"
    state = play(state, "0 play H6", "1 pass", "2 pass", "3 pass")
    assert legal(state, 0) == ["play D6", "play S7", "play HT", "play HT as=ten"]


TRICKS = [
    # rule, start, lines, next to act, does the trick go on
    ("HS-6.6", {}, ["0 play S7", "1 pass", "2 pass", "3 pass"], 0, False),
    ("HS-6.6", {}, ["0 play S7", "1 play S8", "2 pass", "3 pass", "0 pass"], 1, False),
    ("HS-6.6 (passing does not lock)", {}, ["0 play S7", "1 pass", "2 play D8", "3 pass", "0 pass"], 1, True),
    ("HS-6.6 (no short cut)", {}, ["0 play HT DT", "1 play BJ RJ"], 2, True),
    ("HS-6.5", {"out": [1]}, ["0 play S7"], 2, True),
    ("HS-6.6", {"out": [1]}, ["0 play S7", "2 pass", "3 pass"], 0, False),
    ("HS-6.6", {"out": [1, 3]}, ["0 play S7", "2 pass"], 0, False),
]


@pytest.mark.parametrize(("rule", "start", "lines", "turn", "goes_on"), TRICKS)
def test_hs_6_turns(rule: str, start: dict[str, Any], lines: list[str], turn: int, goes_on: bool) -> None:
    """Whose turn it is, and whether there is a play to beat."""
    hands = ["" if seat in start.get("out", []) else hand for seat, hand in enumerate(HANDS)]
    state = play(setup(phase="play", to_act=0, hands=hands, **start), *lines)
    assert HONGSHI.to_act(state) == (turn,), rule
    assert (top_of(state.game) is not None) is goes_on, rule


OPEN = {"revealed": {0: "HT", 2: "DT"}, "up": [0, 2]}
CARTS = [
    # rule, seats out and sides, lines, who leads
    ("HS-7.2", {}, ["1 pass", "2 pass", "3 pass"], 1),
    ("HS-7.2", {"out": [1]}, ["2 pass", "3 pass"], 2),
    ("HS-7.2 (beaten)", {}, ["1 play RJ", "2 pass", "3 pass"], 1),
    ("HS-7.3", OPEN, ["1 pass", "2 pass", "3 pass"], 2),
    ("HS-7.3 (beaten)", OPEN, ["1 play RJ", "2 pass", "3 pass"], 1),
    ("HS-7.3 (not open)", {"revealed": {0: "HT"}, "up": [0, 2], "known_up": [2]}, ["1 pass", "2 pass", "3 pass"], 1),
    ("HS-7.3 (out)", {**OPEN, "out": [2]}, ["1 pass", "3 pass"], 1),
    ("HS-7.3 (lone)", {"revealed": {0: "HT DT"}, "up": [0]}, ["1 pass", "2 pass", "3 pass"], 1),
    ("HS-7.3 (down)", {"revealed": {1: "HT", 3: "DT"}, "up": [1, 3]}, ["1 pass", "2 pass", "3 pass"], 1),
]


@pytest.mark.parametrize(("rule", "start", "lines", "leader"), CARTS)
def test_hs_7_carts(rule: str, start: dict[str, Any], lines: list[str], leader: int) -> None:
    """Seat 0 goes out with S2; who leads then."""
    hands = ["S2", "S8 RJ", "SJ D8", "SK D9"]
    hands = ["" if seat in start.get("out", []) else hand for seat, hand in enumerate(hands)]
    state = play(setup(phase="play", to_act=0, hands=hands, **start), "0 play S2", *lines)
    assert state.game.out[-1] == 0
    assert HONGSHI.to_act(state) == (leader,), rule
    assert not state.game.trick
    assert "pass" not in legal(state, leader)


def test_hs_7_3_partner_is_asked_anew() -> None:
    """It passes last and then leads: two questions, though the same seat is asked."""
    state = setup(phase="play", to_act=3, hands=["S7", "S8", "DT SJ", "S2"], up=[2, 3], revealed={2: "DT", 3: "HT"})
    state = play(state, "3 play S2", "0 pass", "1 pass")
    asked = HONGSHI.asked(state)
    after = play(state, "2 pass")
    assert HONGSHI.to_act(state) == HONGSHI.to_act(after) == (2,)
    assert HONGSHI.asked(after) != asked


ENDS = [
    # rule, options, sides, out, line, order at the end (None: play goes on)
    ("HS-7.4", {}, [0, 2], [0, 1], "3 play SK", [0, 1, 3, 2]),
    ("HS-7.5", {}, [0, 3], [0], "3 play SK", None),
    ("HS-7.5", {}, [3], [0], "3 play SK", None),
    ("HS-15.7 (a)", {"play_out": False}, [3], [0], "3 play SK", [0, 3]),
    ("HS-15.7 (a)", {"play_out": False}, [3], [], "3 play SK", [3]),
    ("HS-15.7 (a)", {"play_out": False}, [2], [0], "3 play SK", None),
    ("HS-15.7 (a)", {"play_out": False}, [3], [0, 1], "3 play SK", [0, 1, 3, 2]),
    ("HS-15.7 (b)", {"play_out": False}, [0, 3], [0], "3 play SK", [0, 3]),
    ("HS-15.7 (b)", {"play_out": False}, [1, 2], [0], "3 play SK", [0, 3]),
    ("HS-15.7 (b)", {"play_out": False}, [0, 2], [0], "3 play SK", None),
]


@pytest.mark.parametrize(("rule", "options", "up", "out", "line", "order"), ENDS)
def test_hs_7_end_of_play(
    rule: str, options: dict[str, object], up: list[int], out: list[int], line: str, order: list[int] | None
) -> None:
    """When the round ends, and with which order."""
    hands = ["" if seat in out else hand for seat, hand in enumerate(["S7 C7", "S8 C8", "S9 C9", "SK"])]
    state = play(setup(options, phase="play", to_act=3, hands=hands, up=up, out=out), line)
    assert state.phase == ("play" if order is None else "between"), rule
    if order is not None:
        assert list(state.game.out) == order, rule


DEFAULTS = [
    ("S7 C8", "play S7"),
    ("C7 H7 D7", "play H7"),
    ("HT DJ CJ BJ", "play CJ"),
    ("HT DT BJ", "play HT"),
    ("CT HT", "play CT"),
    ("BJ RJ", "play BJ"),
    ("S2 BJ", "play S2"),
]


@pytest.mark.parametrize(("hand", "text"), DEFAULTS)
def test_hs_2_4_default_lead(hand: str, text: str) -> None:
    """The lowest single, first in suit order."""
    state = setup(phase="play", to_act=0, hands=[hand, "S9", "SQ", "SK"])
    assert str(HONGSHI.default(state, 0)) == text


@pytest.mark.parametrize(("hand", "text"), [("HT BJ", "play BJ"), ("DT RJ", "play RJ"), ("HT DT", "play HT")])
def test_hs_2_4_default_lead_with_tens_on_top(hand: str, text: str) -> None:
    """HS-15.3."""
    state = setup({"top": "tens"}, phase="play", to_act=0, hands=[hand, "S9", "SQ", "SK"])
    assert str(HONGSHI.default(state, 0)) == text


def test_hs_2_4_other_defaults() -> None:
    """The opening card alone; pass."""
    hands = ["H6 D6 HT", "S9 DT", "SQ", "SK"]
    state = setup(phase="play", opening=True, hands=hands)
    assert str(HONGSHI.default(state, 0)) == "play H6"
    assert str(HONGSHI.default(play(state, "0 play H6"), 1)) == "pass"
    state = setup({"keep345": True}, phase="play", opening=True, hands=["H3 D3 HT", "S9 DT", "SQ", "SK"])
    assert str(HONGSHI.default(state, 0)) == "play H3"
    assert legal(state, 0) == ["play H3", "play H3 D3"]
