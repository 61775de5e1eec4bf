"""What people type: an action as the book writes it, the number of a listed one, or only its cards."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kangtou_engine.actions import Action, is_named, parse_action
from kangtou_engine.cards import Cards, is_card

from .choices import Choices

GLYPHS = {"♠": "S", "♥": "H", "♣": "C", "♦": "D", "黑桃": "S", "红桃": "H", "梅花": "C", "方片": "D", "方块": "D"}
JOKERS = {"小王": "BJ", "大王": "RJ"}
_NUMBER = re.compile(r"[0-9]{1,4}")


def card_of(word: str) -> str | None:
    """`ht`, `h10`, `♥10`, `红桃10`, `bj`, `大王` as a card; None for what is none."""
    if word in JOKERS:
        return JOKERS[word]
    for glyph, letter in GLYPHS.items():
        word = word.replace(glyph, letter)
    word = word.upper().replace("10", "T")
    return word if is_card(word) or is_named(word) else None


def cards_of(text: str) -> Cards | None:
    """Cards alone, with blanks or commas between; None if anything else is among them."""
    words = [card_of(word) for word in text.replace(",", " ").replace("，", " ").split()]
    found = tuple(word for word in words if word is not None)
    return found if found and len(found) == len(words) else None


def action_of(text: str) -> Action:
    """An action as the book writes it, cards in any of the ways above. Raises IllegalAction."""
    verb, *rest = text.split()
    words = [word if "=" in word and not is_named(word.upper()) else card_of(word) or word for word in rest]
    return parse_action(" ".join([verb.lower(), *map(_key, words)]))


def _key(word: str) -> str:
    name, equals, value = word.partition("=")
    if not equals or is_named(word):
        return word
    cards = cards_of(value)
    return f"{name.lower()}={','.join(cards)}" if cards else f"{name.lower()}={value}"


def wanted(text: str, choices: Choices | None, listed: Sequence[Action]) -> tuple[Action, ...]:
    """The actions that a typed line may mean: one, several to choose from, or (). Raises IllegalAction.

    `listed` is what the numbers 1, 2 … stand for.
    """
    text = text.strip()
    if _NUMBER.fullmatch(text):
        number = int(text)
        return (listed[number - 1],) if 0 < number <= len(listed) else ()
    cards = cards_of(text)
    if cards is not None and choices is not None:
        return choices.meant(card[:2] for card in cards)
    return (action_of(text),) if text else ()
