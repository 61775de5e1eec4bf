"""The window before play; four tens. HS-4, HS-10."""

from __future__ import annotations

from typing import Any

import pytest

from kangtou_engine.actions import Action
from kangtou_engine.games.hongshi.state import is_open
from tests.engine.hongshi.table import HONGSHI, legal, play, refusal, setup

TWO = ["H6 HT ST", "S7 C7", "DT SA", "BJ RJ"]
LONE = ["H6 S8", "HT DT S7", "C7 C8", "D7 D8"]
FOUR = ["H6 S7", "S8 C8", "ST HT CT DT S9", "BJ RJ"]


REFUSED = [
    (TWO, {}, "0 reveal", "HS-4.3 reveal_what"),
    (TWO, {}, "0 reveal ST", "HS-4.3 no_red_ten"),
    (TWO, {}, "0 reveal HT ST", "HS-4.3 no_red_ten"),
    (TWO, {}, "0 reveal DT", "HS-4.3 not_in_hand"),
    (TWO, {}, "0 reveal HT DT", "HS-4.3 not_in_hand"),
    (TWO, {}, "0 reveal HT HT", "CM-10.1 card_twice"),
    (TWO, {}, "0 reveal 7", "CM-10.1 not_a_card"),
    (TWO, {}, "0 reveal HT as=ten", "CM-10.1 unknown_key"),
    (TWO, {}, "0 pass HT", "CM-10.1 takes_nothing"),
    (TWO, {}, "0 show HT", "CM-10.1 takes_nothing"),
    (TWO, {}, "0 show", "HS-10.1 no_four_tens"),
    (TWO, {}, "0 lightning", "HS-10.1 no_four_tens"),
    (TWO, {}, "0 play H6", "HS-2.2 unknown_verb"),
    (TWO, {}, "0 ready", "HS-2.2 unknown_verb"),
    (TWO, {"reveal": False}, "0 reveal HT", "HS-15.4 no_reveal"),
    (FOUR, {"lightning": False}, "2 show", "HS-15.5 no_lightning"),
    (FOUR, {"lightning": False}, "2 lightning", "HS-15.5 no_lightning"),
    (FOUR, {"reveal": False}, "2 reveal HT", "HS-15.4 no_reveal"),
]


@pytest.mark.parametrize(("hands", "options", "line", "said"), REFUSED)
def test_hs_4_3_refused(hands: list[str], options: dict[str, object], line: str, said: str) -> None:
    """Rule and code."""
    assert refusal(setup(options, hands=hands), line) == said


LISTED = [
    (TWO, {}, 0, ["pass", "reveal HT"]),
    (TWO, {}, 1, ["pass"]),
    (LONE, {}, 1, ["pass", "reveal HT", "reveal DT", "reveal HT DT"]),
    (FOUR, {}, 2, ["pass", "reveal HT", "reveal DT", "reveal HT DT", "show", "lightning"]),
    (FOUR, {"reveal": False}, 2, ["pass", "show", "lightning"]),
    (FOUR, {"lightning": False}, 2, ["pass", "reveal HT", "reveal DT", "reveal HT DT"]),
    (TWO, {"reveal": False}, 0, ["pass"]),
]


@pytest.mark.parametrize(("hands", "options", "seat", "texts"), LISTED)
def test_hs_4_3_listed(hands: list[str], options: dict[str, object], seat: int, texts: list[str]) -> None:
    """HS-14.1."""
    assert legal(setup(options, hands=hands), seat) == texts


def test_hs_4_4_one_reveal_asks_everybody_again() -> None:
    """Passes are void, the revealer is asked too, and the question is a new one."""
    state = setup(hands=TWO)
    asked = HONGSHI.asked(state)
    state = play(state, "1 pass", "3 pass")
    assert HONGSHI.to_act(state) == (0, 2)
    assert HONGSHI.asked(state) == asked
    assert refusal(state, "1 pass") == "CM-10.2 not_your_turn"
    state = play(state, "0 reveal HT")
    assert HONGSHI.to_act(state) == (0, 1, 2, 3)
    assert HONGSHI.asked(state) != asked
    assert refusal(state, "0 reveal HT") == "HS-4.3 revealed_already"
    assert legal(state, 0) == ["pass"]


def test_hs_2_4_timeout_answers_one_question() -> None:
    """CM-8.2: each seat acts once."""
    state = play(setup(hands=TWO), "0 reveal HT", "- timeout seat=1")
    assert HONGSHI.to_act(state) == (0, 2, 3)
    assert play(state, "- timeout").phase == "play"


CLOSED = [
    ("HS-4.5 (1)", TWO, ["0 pass", "1 pass", "2 pass", "3 pass"], "play", False),
    ("HS-4.5 (1)", TWO, ["0 reveal HT", "0 pass", "1 pass", "2 pass", "3 pass"], "play", False),
    ("HS-4.5 (2)", TWO, ["0 reveal HT", "2 reveal DT"], "play", True),
    ("HS-4.5 (2)", LONE, ["1 reveal HT DT"], "play", True),
    ("HS-4.5 (2)", LONE, ["1 reveal HT", "0 pass", "1 reveal DT"], "play", True),
    ("HS-4.6", LONE, ["1 reveal HT", "0 pass", "1 pass", "2 pass", "3 pass"], "play", False),
    ("HS-4.5 (2)", FOUR, ["2 show"], "play", True),
    ("HS-10.1", FOUR, ["2 reveal HT", "2 show"], "play", True),
    ("HS-10.1", FOUR, ["2 reveal HT", "2 lightning"], "between", True),
    ("HS-4.5 (3)", FOUR, ["0 pass", "2 lightning"], "between", True),
]


@pytest.mark.parametrize(("rule", "hands", "lines", "phase", "is_open_side"), CLOSED)
def test_hs_4_5_window_closes(rule: str, hands: list[str], lines: list[str], phase: str, is_open_side: bool) -> None:
    """And before the last line it was open. HS-4.6."""
    state = play(setup(hands=hands), *lines[:-1])
    assert state.phase == "reveal", rule
    state = play(state, lines[-1])
    assert state.phase == phase, rule
    assert is_open(state.game) is is_open_side, rule


def test_hs_4_6_playing_is_not_revealing() -> None:
    """Both red tens seen, but one of them played: no open side."""
    state = play(setup(hands=TWO), "0 reveal HT", "- timeout", "0 play H6", "1 play S7", "2 play DT")
    assert state.game.sides.known == (0, 2)
    assert not is_open(state.game)


def test_hs_4_3_revealed_tens_stay_in_hand() -> None:
    """They are played like any others; who holds them is public."""
    state = play(setup(hands=TWO), "0 reveal HT")
    assert state.game.hands[0] == ("ST", "H6", "HT")
    assert HONGSHI.view(state, 3).game.hands[0] == ("HT", "??", "??")
    assert HONGSHI.view(state, None).game.hands == (("HT", "??", "??"), ("??",) * 2, ("??",) * 2, ("??",) * 2)


@pytest.mark.parametrize(
    ("hands", "dealer", "leader", "texts"),
    [
        (TWO, 3, 0, ["play H6"]),
        (["S7", "HT", "H6 D6 DT", "S8"], 0, 2, ["play H6", "play H6 D6"]),
        (["S7", "HT", "D6 DT", "S8 C8"], 3, 3, ["play S8", "play C8", "play S8 C8"]),
    ],
)
def test_hs_6_1_first_lead(hands: list[str], dealer: int, leader: int, texts: list[str]) -> None:
    """The holder of H6, with it; in a set position without it the dealer, freely (HS-17)."""
    state = play(setup(hands=hands, dealer=dealer), "- timeout")
    assert HONGSHI.to_act(state) == (leader,)
    assert legal(state, leader) == texts


@pytest.mark.parametrize(("factor", "points"), [(1, 9), (2, 18), (4, 36)])
def test_hs_15_6_lightning_factor(factor: int, points: int) -> None:
    """Of a declared win only: `show` keeps four."""
    options: dict[str, Any] = {"lightning_factor": factor}
    state = play(setup(options, hands=FOUR), "2 reveal DT", "2 lightning")
    assert state.sheet.scores == tuple(points if seat == 2 else -points // 3 for seat in range(4))
    last = state.sheet.last_round
    assert last is not None
    assert (last["how"], last["order"], last["factor"], last["open"]) == ("lightning", (2,), factor, True)
    assert state.game.out == (2,)
    state = setup(
        options, phase="play", to_act=3, out=[0, 1], up=[2], revealed={2: "ST HT CT DT"}, hands=["", "", "S7 C9", "D8"]
    )
    assert play(state, "3 play D8").sheet.scores == (12, 12, -36, 12)


@pytest.mark.parametrize(
    ("lines", "until", "holds"),
    [
        (["0 pass"], "reveal", True),
        (["0 reveal HT"], "reveal", False),
        (["- timeout"], "reveal", False),
        (["0 reveal HT"], "", True),
        (["- timeout", "0 play H6"], "", True),
    ],
)
def test_hs_4_4_standing_answers(lines: list[str], until: str, holds: bool) -> None:
    """An answer left with the table for one question does not answer another."""
    state = play(setup(hands=TWO), *lines)
    assert HONGSHI.spec.standing(state, 1, Action("pass"), until) is holds
