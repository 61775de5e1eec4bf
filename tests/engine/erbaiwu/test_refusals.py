"""Each refusal names its rule and has a text in both languages. CM-10."""

from __future__ import annotations

from typing import Any

import pytest

from kangtou_engine.errors import IllegalAction
from kangtou_engine.games.erbaiwu import GAME
from kangtou_engine.words import explain
from tests.engine.erbaiwu.positions import ERBAIWU, position, refusal, said

OTHERS = ["", "", ""]
EMPTY: dict[str, Any] = {"phase": "turn", "hands": ["S4 H4 C4 S5 D9 D7 BJ RJ", *OTHERS]}
RUN: dict[str, Any] = {
    "phase": "turn",
    "hands": ["S9 H9 C9 S8 H8 S4 H4 D6 D8 DT S7 BJ", *OTHERS],
    "runs": {"D": "D7 RJ=D8"},
}
LOCKED: dict[str, Any] = {
    "phase": "turn",
    "hands": ["DT SJ HJ D5 C6 H6 BJ SK", *OTHERS],
    "runs": {"D": "D6 D7 D8 D9", "C": "C7 C8 C9 CT CJ CQ CK"},
    "locks": {"D-high": "S9 H9"},
    "black": "SK",
}
FIRST: dict[str, Any] = {"hands": ["S4 H4 C4 D7 BJ S9 H9", *OTHERS]}
DRAWN: dict[str, Any] = {
    "phase": "discard",
    "hands": ["D7 BJ D9 S2", *OTHERS],
    "runs": {"C": "C7 C8"},
    "black": "D9",
}
WINDOW: dict[str, Any] = {
    "phase": "window",
    "discard": "S9",
    "discarder": 1,
    "hands": ["H9 C9 D9 S5 BJ", "", ""],
    "runs": {"H": "H7 RJ=H8"},
    "black": "D9",
}
PONGED: dict[str, Any] = {"phase": "must_draw", "hands": ["S4 H4 C4", ""]}

REFUSED = [
    # rule        code                 position  action
    ("EB-5.1", "wants_cards", EMPTY, "meld S4 H4"),
    ("EB-5.1", "wants_cards", EMPTY, "lift"),
    ("EB-5.1", "wants_cards", EMPTY, "extend S4 H4"),
    ("EB-5.1", "not_in_hand", EMPTY, "meld S4 H4 D4"),
    ("EB-1.2", "card_twice", EMPTY, "meld S4 S4 H4"),
    ("EB-5.5", "not_same_rank", EMPTY, "meld S4 H4 S5"),
    ("EB-6.1", "joker_waits", EMPTY, "meld S4 H4 BJ=D4"),
    ("EB-5.2", "not_a_seven", EMPTY, "show S4"),
    ("EB-5.2", "not_in_hand", EMPTY, "show S7"),
    ("EB-5.2", "wants_cards", EMPTY, "show D7 S4"),
    ("CM-10.1", "not_a_card", EMPTY, "show BJ=D8"),
    ("CM-10.1", "unknown_key", EMPTY, "show D7 run=D"),
    ("EB-5.3", "no_run", EMPTY, "extend D9"),
    ("EB-5.6", "no_group", EMPTY, "lift S4"),
    ("EB-8.1", "settle_no_seven", EMPTY, "settle"),
    ("EB-6.6", "not_black", EMPTY, "dump S4"),
    ("EB-6.6", "not_in_hand", EMPTY, "dump S2"),
    ("EB-6.6", "wants_cards", EMPTY, "dump"),
    ("EB-4.3", "unknown_verb", EMPTY, "discard S4"),
    ("EB-4.3", "unknown_verb", EMPTY, "pass"),
    ("CM-10.1", "takes_nothing", EMPTY, "draw S4"),
    ("CM-10.1", "takes_nothing", EMPTY, "settle 1"),
    ("EB-6.2", "joker_unnamed", RUN, "extend BJ"),
    ("EB-6.5", "names_seven", RUN, "extend BJ=C7"),
    ("EB-6.5", "named_before", RUN, "extend BJ=D8"),
    ("EB-6.4", "black_card", RUN, "meld S8 H8 D8"),
    ("EB-5.2", "seven_only_shown", RUN, "extend S7"),
    ("EB-5.3", "not_next", RUN, "extend DT"),
    ("EB-5.3", "not_next", RUN, "extend BJ=DT"),
    ("EB-5.4", "wants_run", RUN, "lock S8 H8"),
    ("EB-5.4", "wants_run", RUN, "lock S8 H8 run=X"),
    ("EB-5.4", "wants_run", RUN, "lock S8 H8 run=SHCD"),
    ("EB-5.4", "no_such_run", RUN, "lock S8 H8 run=C"),
    ("EB-5.4", "not_the_end", RUN, "lock S9 H9 run=D"),
    ("EB-5.4", "not_the_end", RUN, "lock S4 H4 run=D"),
    ("EB-5.4", "not_same_rank", RUN, "lock S8 H9 run=D"),
    ("EB-5.1", "wants_cards", RUN, "lock S8 run=D"),
    ("CM-10.1", "unknown_key", RUN, "lock S8 H8 run=D side=high"),
    ("EB-6.5", "same_card", RUN, "lock S8 BJ=S8 run=D"),
    ("EB-6.5", "same_card", RUN, "meld S9 H9 BJ=H9"),
    ("EB-1.2", "card_twice", RUN, "meld S9 BJ=C9 BJ=D9"),
    ("EB-5.1", "not_in_hand", RUN, "meld S9 H9 RJ=D9"),
    ("EB-8.1", "settle_too_much", RUN, "settle"),
    ("EB-5.4", "side_locked", LOCKED, "extend DT"),
    ("EB-1.3", "side_full", LOCKED, "extend BJ=C8"),
    ("EB-5.4", "locked_already", LOCKED, "lock SJ BJ=CJ run=D"),
    ("EB-6.4", "black_card", LOCKED, "lock SK BJ=HK run=C"),
    ("EB-6.5", "same_card", LOCKED, "lock C6 BJ=D6 run=D"),
    ("EB-4.2", "unknown_verb", FIRST, "draw"),
    ("EB-4.2", "unknown_verb", FIRST, "dump S4"),
    ("EB-4.5", "never_discarded", FIRST, "discard D7"),
    ("EB-4.5", "never_discarded", FIRST, "discard BJ"),
    ("EB-4.5", "not_in_hand", FIRST, "discard SK"),
    ("EB-4.5", "wants_cards", FIRST, "discard S4 H4"),
    ("CM-10.1", "not_a_card", FIRST, "discard BJ=D8"),
    ("EB-4.6", "must_discard", FIRST, "keep"),
    ("EB-4.3", "drawn_already", DRAWN, "settle"),
    ("EB-4.3", "drawn_already", DRAWN, "dump D9"),
    ("EB-4.3", "drawn_already", DRAWN, "show D7"),
    ("EB-6.6", "black_discard", DRAWN, "discard D9"),
    ("EB-7.1", "unknown_verb", WINDOW, "draw"),
    ("EB-7.2", "wants_cards", WINDOW, "pong H9"),
    ("EB-7.2", "pong_plain", WINDOW, "pong H9 BJ=C9"),
    ("EB-7.2", "pong_plain", WINDOW, "pong H9 BJ"),
    ("EB-7.2", "pong_rank", WINDOW, "pong H9 S5"),
    ("EB-7.2", "not_in_hand", WINDOW, "pong H9 S9"),
    ("EB-6.4", "black_card", WINDOW, "pong H9 D9"),
    ("EB-1.2", "card_twice", WINDOW, "pong H9 H9"),
    ("CM-10.1", "unknown_key", WINDOW, "pong H9 C9 run=D"),
    ("EB-7.4", "must_draw", PONGED, "meld S4 H4 C4"),
    ("EB-7.4", "must_draw", PONGED, "settle"),
    ("EB-7.4", "must_draw", PONGED, "discard S4"),
]


@pytest.mark.parametrize(("rule", "code", "start", "text"), REFUSED)
def test_refused(rule: str, code: str, start: dict[str, Any], text: str) -> None:
    """The first rule that an action breaks is the one that is named."""
    assert refusal(position(start), 0, text) == (rule, code)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("meld BJ=S4 RJ=H4 BJ=C4", ("EB-1.2", "card_twice")), ("meld S4 RJ=H4 BJ=C4", ("", ""))],
)
def test_a_set_is_never_all_jokers(text: str, wanted: tuple[str, str]) -> None:
    """EB-6.2: there are two of them only."""
    assert refusal(position({"phase": "turn", "hands": ["BJ RJ S4", ""], "runs": {"D": "D7"}}), 0, text) == wanted


@pytest.mark.parametrize(("rule", "code", "start", "text"), REFUSED)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_text_of_refusal(rule: str, code: str, start: dict[str, Any], text: str, lang: str) -> None:
    """Every code has its text."""
    with pytest.raises(IllegalAction) as caught:
        ERBAIWU.check(position(start), 0, said(text))
    assert explain(GAME.words, caught.value, lang).startswith(rule + ": ")
    assert caught.value.code == code
