"""Rules of reductions, jokers and default actions that the worked cases do not show. EB-4 to EB-6."""

from __future__ import annotations

from typing import Any

import pytest

from kangtou_engine.events import from_text
from kangtou_engine.game import TooMany
from kangtou_engine.games.erbaiwu import GAME
from kangtou_engine.games.erbaiwu.events import ExtraNoted
from tests.engine.erbaiwu.positions import ERBAIWU, of_kind, play, position, said

LEGAL = [
    # rule        start                                                                    legal actions of seat 0
    (
        "EB-5.4 b",
        {"phase": "turn", "hands": ["BJ RJ", ""], "runs": {"C": "C7 C8 C9 CT CJ CQ CK"}, "black": "H6"},
        "draw|extend BJ=C6|extend RJ=C6|"
        "lock BJ=SK RJ=HK run=C|lock BJ=HK RJ=SK run=C|lock BJ=SK RJ=DK run=C|"
        "lock BJ=DK RJ=SK run=C|lock BJ=HK RJ=DK run=C|lock BJ=DK RJ=HK run=C",
    ),
    (
        "EB-6.2",
        {"phase": "turn", "hands": ["BJ RJ S4", ""], "runs": {"C": "C7"}, "locks": {}},
        "draw|extend BJ=C6|extend RJ=C6|extend BJ=C8|extend RJ=C8|"
        "meld S4 BJ=H4 RJ=C4|meld S4 BJ=C4 RJ=H4|meld S4 BJ=H4 RJ=D4|"
        "meld S4 BJ=D4 RJ=H4|meld S4 BJ=C4 RJ=D4|meld S4 BJ=D4 RJ=C4",
    ),
    (
        "EB-5.6",  # groups: a set, a locked end; three of a rank in different places are none
        {
            "phase": "turn",
            "hands": ["D4 C9 D8 S6", ""],
            "runs": {"S": "S7 S8", "H": "H7 H8", "C": "C7 C8", "D": "D7"},
            "sets": ["S4 H4 C4"],
        },
        "draw|extend D8|extend C9|extend S6|lift D4",
    ),
    (
        "EB-5.7",  # nothing can go on where the lifted card is black
        {"phase": "turn", "hands": ["DT BJ", ""], "runs": {"D": "D7 D8"}, "black": "D9 D6"},
        "draw",
    ),
    ("EB-4.9", {"phase": "turn", "hands": ["", "S2"], "runs": {"D": "D7"}}, "settle|draw"),
    ("EB-8.1", {"phase": "turn", "hands": ["S7 H7", "S2"], "runs": {"D": "D7"}}, "show S7|show H7|settle|draw"),
    ("EB-8.1", {"phase": "turn", "hands": ["S7", "S2"]}, "show S7|draw"),
    ("EB-8.1", {"phase": "turn", "hands": ["S7 SA", "S2"], "runs": {"D": "D7"}}, "show S7|draw"),
    ("EB-8.3", {"phase": "turn", "hands": ["SA", "S2"], "runs": {"D": "D7"}, "black": "SA"}, "draw|dump SA"),
    ("EB-4.6", {"hands": ["D7", "S2"]}, "show D7|keep"),
    ("EB-4.6", {"hands": ["", "S2"], "runs": {"D": "D7"}}, "settle|keep"),
    ("EB-4.2", {"hands": ["SA D8", "S2"], "runs": {"D": "D7"}}, "extend D8|discard SA|discard D8"),
    ("EB-7.4", {"phase": "must_draw", "hands": ["SA D8", "S2"], "runs": {"D": "D7"}, "black": "SA"}, "draw"),
]


@pytest.mark.parametrize(("rule", "start", "wanted"), LEGAL)
def test_legal(rule: str, start: dict[str, Any], wanted: str) -> None:
    """The whole list."""
    legal = ERBAIWU.legal(position(start), 0)
    assert not isinstance(legal, TooMany)
    assert sorted(map(str, legal)) == sorted(wanted.split("|")), rule


DEAD = [
    # rule        start                                                     action                     extras
    ("EB-6.7", {"discards": "D8"}, "extend BJ=D8", 30),
    ("EB-6.7", {"discards": "D8", "top": "D8"}, "extend BJ=D8", 30),
    ("EB-6.7 a", {"sets": ["S8 H8 D8"]}, "extend BJ=D8", 30),
    ("EB-6.7 b", {}, "extend BJ=D6", 0),
    ("EB-6.7", {}, "extend BJ=D8", 0),
    ("EB-6.7", {"sets": ["S6 C6 H6"]}, "lift BJ=D6", 0),
    ("EB-6.7", {"discards": "H9 C9"}, "meld S9 BJ=H9 RJ=C9", 60),
    ("EB-6.7", {"discards": "H9"}, "meld S9 BJ=H9 RJ=C9", 30),
]


@pytest.mark.parametrize(("rule", "start", "action", "extras"), DEAD)
@pytest.mark.parametrize("points", [30, 0, 7])
def test_dead_black(rule: str, start: dict[str, Any], action: str, extras: int, points: int) -> None:
    """Who names a card that has been used pays for each joker; option `dead_black` says how much."""
    base = {"phase": "turn", "hands": ["BJ RJ S9 D6", "S2"], "runs": {"D": "D7"}}
    events, state = play(position({**base, **start}, {"dead_black": points}), f"0 {action}")
    assert state.game.extras == (extras // 30 * points, 0), rule
    assert len(of_kind(events, ExtraNoted)) == (extras // 30 if points else 0)


DEFAULTS = [
    # rule        start                                                             default
    ("EB-4.4", {"hands": ["S7 BJ SK HK S2", ""]}, "discard SK"),
    ("EB-4.4", {"hands": ["S7 BJ", ""]}, "keep"),
    ("EB-4.4", {"hands": ["SK HQ", ""], "black": "SK"}, "discard HQ"),
    ("EB-4.4", {"phase": "turn", "hands": ["S7", ""], "runs": {"D": "D7"}}, "draw"),
    ("EB-4.4", {"phase": "must_draw", "hands": ["S7", ""]}, "draw"),
    ("EB-4.4", {"phase": "discard", "hands": ["SK S2", ""], "drawn": "S2"}, "discard S2"),
    ("EB-4.4", {"phase": "discard", "hands": ["SK S2", ""], "drawn": "S2", "black": "S2"}, "discard SK"),
    ("EB-4.4", {"phase": "discard", "hands": ["SK S7", ""], "drawn": "S7"}, "discard SK"),
    ("EB-4.4", {"phase": "discard", "hands": ["BJ S7", ""], "drawn": "BJ"}, "keep"),
    ("EB-4.4", {"phase": "window", "hands": ["S9 H9", ""], "discard": "C9", "discarder": 1}, "pass"),
    ("CM-8.1", {"phase": "between", "hands": ["S9 H9", ""]}, "ready"),
]


@pytest.mark.parametrize(("rule", "start", "default"), DEFAULTS)
def test_default(rule: str, start: dict[str, Any], default: str) -> None:
    """What the table does for seat 0."""
    assert str(ERBAIWU.default(position(start), 0)) == default, rule


CANONICAL = [
    ("meld D4 S4 H4", "meld S4 H4 D4"),
    ("meld BJ=S4 H4 D4", "meld H4 D4 BJ=S4"),
    ("meld RJ=S4 BJ=C4 D4", "meld D4 BJ=C4 RJ=S4"),
    ("lock H2 SA run=D", "lock SA H2 run=D"),
    ("pong D2 DA", "pong DA D2"),
    ("cut 20", "cut 20"),
    ("meld 5 ST 4", "meld ST 4 5"),
]


@pytest.mark.parametrize(("text", "wanted"), CANONICAL)
def test_canonical(text: str, wanted: str) -> None:
    """EB-12: ranks from A to K, jokers last; nonsense does not stop it."""
    assert str(said(text)) == wanted


def test_lifting_a_locked_end_twice_named() -> None:
    """EB-5.7, EB-6.3: the joker lifts, goes under the pile, and its card stays black."""
    start = {
        "phase": "turn",
        "hands": ["BJ", "S2"],
        "runs": {"D": "D4 D5 D6 D7"},
        "locks": {"D-low": "S4 H4"},
        "discards": "C9",
        "top": "C9",
    }
    events, state = play(position(start), "0 lift BJ=C4")
    assert state.game.closed.pile == ("D4", "S4", "H4", "BJ")
    assert state.game.area.black == ("C4",)
    assert state.game.area.runs[0].low == ("D6", "D5")
    assert state.game.area.runs[0].low_lock == ()
    assert state.game.top == "C9"
    for event in events:
        assert from_text(ERBAIWU.events, str(event)) == event


def test_titles() -> None:
    """Lower is better."""
    assert (GAME.id, GAME.better, GAME.title[1]) == ("erbaiwu@1", -1, "二百五")
