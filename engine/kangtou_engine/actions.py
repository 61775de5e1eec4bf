"""Actions and their text: `VERB [ARGUMENT ...] [key=value ...]`. (rules/README, "Actions")

An action of a seat and an action of the table (`- timeout seat=2`) have the same form; who acts is said
beside it, never in it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .cards import Card, Cards, is_card
from .errors import IllegalAction

_VERB = re.compile(r"[a-z][a-z_]{0,31}")
_KEY = re.compile(r"[a-z][a-z_]{0,15}")
_NUMBER = re.compile(r"0|[1-9][0-9]{0,8}")
_NAMED = re.compile(r"(BJ|RJ)=([SHCD][3-9TJQKA2])")
_VALUE = re.compile(r"[A-Za-z0-9_-]{1,32}(,[A-Za-z0-9_-]{1,32})*")
MAX_LENGTH = 512


class Action(NamedTuple):
    """One action: verb, arguments (cards, numbers, named jokers `BJ=D8`) and keys, all as texts."""

    verb: str
    args: tuple[str, ...] = ()
    keys: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        parts = [self.verb, *self.args, *(f"{key}={value}" for key, value in self.keys)]
        return " ".join(parts)

    def __repr__(self) -> str:
        return f"<{self}>"

    def key(self, name: str) -> str | None:
        """The value of `name=`, or None."""
        for key, value in self.keys:
            if key == name:
                return value
        return None


def is_named(argument: str) -> bool:
    """Whether an argument is a joker that stands for a card: `BJ=D8`."""
    return _NAMED.fullmatch(argument) is not None


def parse_action(text: str) -> Action:
    """Read an action. Raises IllegalAction (code `malformed`, rule CM-10.1) saying what is wrong with it."""
    if len(text) > MAX_LENGTH:
        raise IllegalAction("CM-10.1", "too_long", limit=MAX_LENGTH)
    words = text.split(" ")
    if not _VERB.fullmatch(words[0]):
        raise IllegalAction("CM-10.1", "malformed", part=words[0][:40] or "(empty)")
    args: list[str] = []
    keys: list[tuple[str, str]] = []
    for word in words[1:]:
        name, equals, value = word.partition("=")
        if is_named(word) or (not equals and (is_card(word) or _NUMBER.fullmatch(word))):
            if keys:
                raise IllegalAction("CM-10.1", "argument_after_key", part=word)
            args.append(word)
        elif equals and _KEY.fullmatch(name) and _VALUE.fullmatch(value):
            if any(name == key for key, _ in keys):
                raise IllegalAction("CM-10.1", "key_twice", part=name)
            keys.append((name, value))
        else:
            raise IllegalAction("CM-10.1", "malformed", part=word[:40])
    return Action(words[0], tuple(args), tuple(keys))


def plain(action: Action) -> None:
    """Refuse arguments and keys: for verbs that stand alone, such as `pass`. CM-10.1."""
    if action.args or action.keys:
        raise IllegalAction("CM-10.1", "takes_nothing", verb=action.verb)


def only_keys(action: Action, *allowed: str) -> None:
    """Refuse keys other than those named. CM-10.1."""
    for key, _ in action.keys:
        if key not in allowed:
            raise IllegalAction("CM-10.1", "unknown_key", part=key)


def cards_of(action: Action) -> Cards:
    """The arguments as cards; refuses numbers and named jokers. CM-10.1."""
    for argument in action.args:
        if not is_card(argument):
            raise IllegalAction("CM-10.1", "not_a_card", part=argument)
    return action.args


def number_of(action: Action) -> int:
    """The one argument as a whole number. CM-10.1."""
    if len(action.args) != 1 or action.keys or not _NUMBER.fullmatch(action.args[0]):
        raise IllegalAction("CM-10.1", "wants_number", verb=action.verb)
    return int(action.args[0])


def card_list(value: str) -> Cards:
    """The cards of a value such as `give=HJ,H8`. CM-10.1."""
    cards: tuple[Card, ...] = tuple(value.split(","))
    for card in cards:
        if not is_card(card):
            raise IllegalAction("CM-10.1", "not_a_card", part=card)
    return cards
