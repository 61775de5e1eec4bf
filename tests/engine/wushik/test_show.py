"""The display: what stands on it in both languages, and that every text exists in both."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

import kangtou_engine.games.wushik as wushik
from kangtou_engine.games.wushik import GAME
from kangtou_engine.games.wushik.rules import rules_of
from kangtou_engine.games.wushik.show import name_of
from kangtou_engine.games.wushik.words import WORDS
from kangtou_engine.words import COMMON_WORDS

from .hands import VARIANTS, WUSHIK, config_of

START = {
    "phase": "play",
    "dealer": 1,
    "hands": ["S3 H4 C5 D5 RJ", "S7 S7 H7 H7 C7 C7 BJ", "", "D9 DA"],
    "to_act": 3,
    "trick": {"by": 1, "cards": "HK CK", "points": 25},
    "out": [2],
    "captured": [10, 0, 35, 5],
    "shown": {1: "7"},
}
ENGLISH = """\
round 1 · Jiangnan · play · to act: 3
seat 0: 5 cards, captured 10, score 0 · you
seat 1: 7 cards, captured 0, score 0 · dealer · announced 7 · S7 S7 H7 H7 C7 C7
seat 2: 0 cards, captured 35, score 0 · out, place 1
seat 3: 2 cards, captured 5, score 0
to beat: HK CK (pair K) of seat 1; 25 points in the trick
your hand: S3 H4 C5 D5 RJ"""
CHINESE = """\
第 1 局 · 江南 · 出牌 · 轮到：3
0 号位：5 张，抓 10 分，总分 0 · 你
1 号位：7 张，抓 0 分，总分 0 · 庄家 · 亮相 7 · S7 S7 H7 H7 C7 C7
2 号位：0 张，抓 35 分，总分 0 · 第 1 个出完
3 号位：2 张，抓 5 分，总分 0
要管：1 号位的 HK CK（对子 K）；此轮 25 分
你的牌：S3 H4 C5 D5 RJ"""


@pytest.mark.parametrize(("lang", "text"), [("en", ENGLISH), ("zh", CHINESE)])
def test_table_of_a_seat(lang: str, text: str) -> None:
    """Seats in order, captured points, place, announced set, trick, own hand; nobody else's cards."""
    before = WUSHIK.before(config_of("jiangnan"))
    sheet = replace(before.sheet, round=1, dealer=1, first=1)
    state = GAME.cases.position(before.with_sheet(sheet), START)
    assert "\n".join(GAME.show(WUSHIK.view(state, 0), 0, lang)) == text


NAMES = [
    ("chengde1", ("straight", "n=5", "top=9", "flush=yes"), "flush straight, 5 cards, top 9", "同花顺，5 张，最大 9"),
    ("jinzhou", ("straight", "n=5", "top=9"), "straight, 5 cards, top 9", "单龙，5 张，最大 9"),
    ("liaoning", ("triple", "n=3", "top=9"), "triple bomb 9", "轰 9"),
    ("jinzhou", ("true", "n=3", "suit=S"), "pure 5-10-K of spades", "黑桃纯五十K"),
    ("chengde1", ("fake", "n=3"), "mixed 5-10-K", "副五十K"),
    ("jinzhou", ("jokers", "n=2", "kind=small"), "two small jokers", "两小王"),
    ("jiangnan", ("jokers", "n=3"), "three jokers", "三王"),
]


@pytest.mark.parametrize(("variant", "combo", "english", "chinese"), NAMES)
def test_names(variant: str, combo: tuple[str, ...], english: str, chinese: str) -> None:
    """WK-3.13 in words, with the variant's own terms."""
    assert name_of(variant, combo, "en") == english
    assert name_of(variant, combo, "zh") == chinese


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_reading_has_a_name(variant: str) -> None:
    """In both languages."""
    for combo in rules_of(config_of(variant).options).readings:
        assert all(name_of(variant, combo, lang) for lang in ("en", "zh"))


def test_every_code_has_its_texts() -> None:
    """Every code that the game raises stands in the catalogue, in both languages with the same parameters."""
    source = "".join(path.read_text() for path in Path(wushik.__file__).parent.glob("*.py"))
    codes = set(re.findall(r'(?:IllegalAction|TooMany|BadOptions)\(\s*"[A-Z0-9.-]+",\s*"(\w+)"', source))
    assert len(codes) > 15
    assert codes <= {*WORDS, *COMMON_WORDS}
    for code, (english, chinese) in WORDS.items():
        assert sorted(re.findall(r"{(\w+)}", english)) == sorted(re.findall(r"{(\w+)}", chinese)), code
