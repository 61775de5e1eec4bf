"""The table as text: show area, black cards, values, terms in English and Chinese."""

from __future__ import annotations

import pytest

from kangtou_engine.games.erbaiwu import GAME
from tests.engine.erbaiwu.positions import ERBAIWU, play, position

START = {
    "phase": "turn",
    "to_act": 1,
    "hands": ["SK H9", "D9 S2", "HK"],
    "runs": {"D": "D6 D7 D8 BJ=D9", "S": "S7"},
    "locks": {"D-high": "C9 S9"},
    "sets": ["S4 H4 C4"],
    "discards": "CT",
    "top": "CT",
    "stock": "SA SQ",
    "scores": [10, 250, -15],
    "extras": [0, 30, 0],
}

SHOWN = [
    ("en", ["run D: D6 D7 D8 BJ=D9 · locked high with C9 S9", "run S: S7", "set: S4 H4 C4", "black: D9"]),
    ("en", ["stock: 2 ·", "last discard: CT", "your hand: S2 D9 (value 32)"]),
    ("en", ["seat 1: cards 2, extras 30, total 250 · in turn", "seat 2: cards 1, extras 0, total -15"]),
    ("zh", ["贴牌 D：D6 D7 D8 BJ=D9 · 上端锁 C9 S9", "串子：S4 H4 C4", "黑帮：D9", "牌库：2 张"]),
    ("zh", ["手牌：S2 D9（分值 32）", "1 号位：2 张，奖罚 30，总分 250 · 轮到"]),
]


@pytest.mark.parametrize(("lang", "parts"), SHOWN)
def test_shown(lang: str, parts: list[str]) -> None:
    """Seat 1's view of a turn; nothing of the others' hands."""
    text = "\n".join(GAME.show(ERBAIWU.view(position(START), 1), 1, lang))
    for part in parts:
        assert part in text
    assert not {"SK", "H9", "HK", "SA", "SQ"} & set(text.replace("：", " ").split())


def test_result_shown() -> None:
    """After the round: who settled, scores, open hands; after the match: places and losers."""
    start = {**START, "hands": ["SK H9", "H5", "HK"], "scores": [245, 100, 0]}
    _, state = play(position(start), "1 settle")
    text = "\n".join(GAME.show(ERBAIWU.view(state, None), None, "en"))
    assert "seat 1 settled · round scores 44, 5, 26, extras 0, 30, 0" in text
    assert "held H9 SK (value 22)" not in text
    assert "held SK H9 (value 22)" in text
    assert "places: 3, 2, 1" in text
    assert "over the limit: seat 0" in text
    assert "算帐" in "\n".join(GAME.show(state, 0, "zh"))
