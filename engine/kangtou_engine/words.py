"""Texts for people, in English and Chinese, by code. A game adds its own table in its `words.py`.

A text is a `str.format` template over the parameters of the refusal or constraint.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from .errors import BadOptions, IllegalAction, Param

Words: TypeAlias = Mapping[str, tuple[str, str]]
LANGUAGES = ("en", "zh")

COMMON_WORDS: Words = {
    "malformed": ("{part} is not part of an action", "动作写法有误：{part}"),
    "too_long": ("an action has at most {limit} characters", "动作最多 {limit} 个字符"),
    "argument_after_key": ("{part} must stand before the keys", "{part} 应写在键值之前"),
    "key_twice": ("the key {part} is given twice", "键 {part} 重复"),
    "unknown_key": ("there is no key {part} here", "此处没有键 {part}"),
    "takes_nothing": ("{verb} takes no cards, numbers or keys", "{verb} 不带任何参数"),
    "wants_number": ("{verb} takes one whole number", "{verb} 需要一个整数"),
    "not_a_card": ("{part} is not a card", "{part} 不是牌"),
    "unknown_verb": ("{verb} is not an action of this phase", "此阶段没有动作 {verb}"),
    "not_your_turn": ("seat {seat} may not act now", "{seat} 号位现在不能行动"),
    "match_over": ("the match is over", "对局已结束"),
    "nobody_to_act": ("nobody may act now", "现在无人可以行动"),
    "bad_seat": ("{seat} is not a seat of this table", "本桌没有 {seat} 号位"),
    "cut_range": ("cut a whole number from {low} to {high}", "上牌张数须为 {low} 到 {high}"),
    "no_vote": ("this table does not vote on the end of the match", "本桌不投票结束对局"),
    "not_in_hand": ("you do not hold {cards}", "你手里没有 {cards}"),
    "card_twice": ("{cards} is named twice", "{cards} 重复"),
    "unknown_option": (
        "there is no option {option}; there are: {allowed}",
        "没有选项 {option}；可用选项：{allowed}",
    ),
    "bad_option": (
        "{option} cannot be {given}; allowed: {allowed}",
        "{option} 不能为 {given}；可选：{allowed}",
    ),
    "bad_seats": (
        "a table cannot have {given} seats; allowed: {allowed}",
        "座位数不能为 {given}；可选：{allowed}",
    ),
    "phase.lot": ("waiting for everybody", "等候开局"),
    "phase.cut": ("cut", "上牌"),
    "phase.between": ("between rounds", "局间"),
    "phase.over": ("over", "结束"),
}


def say(words: Words, code: str, params: Mapping[str, Param], lang: str) -> str:
    """The text of a code. Raises KeyError for a code that neither the game nor the common table has."""
    pair = words.get(code) or COMMON_WORDS[code]
    return pair[LANGUAGES.index(lang)].format_map(params)


def explain(words: Words, error: IllegalAction | BadOptions, lang: str) -> str:
    """A refusal for people: the rule and what is wrong."""
    if isinstance(error, IllegalAction):
        return f"{error.rule}: {say(words, error.code, error.params, lang)}"
    params = {"option": error.option, "given": error.given, "allowed": error.allowed}
    return f"{error.rule}: {say(words, error.code, params, lang)}"
