"""The verbs of a phase and their forms, from the machine-readable block of the rule book."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import yaml

from kangtou_engine.actions import Action, parse_action

from .. import books

_BLOCK = re.compile(r"```yaml\n(book: .*?)```", re.DOTALL)
_CARDS = frozenset(("CARD", "JOKER", "NAMED"))


@dataclass(frozen=True, slots=True)
class Form:
    """One way to write a verb: `bury CARD CARD … [announce=CARDS]`.

    least, most  how many cards it takes; most is 0 for any number
    plain        cards are all that it needs
    """

    verb: str
    text: str
    least: int
    most: int
    plain: bool

    def takes(self, count: int) -> bool:
        """Whether so many cards fit it."""
        return self.plain and self.least <= count and (not self.most or count <= self.most)


@cache
def forms_of(game: str, phase: str) -> tuple[Form, ...]:
    """What seats may write in a phase; () for a game without a book here."""
    return tuple(
        _form(verb["name"], text)
        for verb in _verbs(game)
        if verb["by"] == "seat" and phase in verb["phases"]
        for text in verb["forms"]
    )


@cache
def _verbs(game: str) -> tuple[Mapping[str, Any], ...]:
    """The verbs of a book; () without one."""
    try:
        found = _BLOCK.search(books.book(game) or "")
    except books.BooksMissing:
        return ()
    return tuple(yaml.safe_load(found[1])["verbs"]) if found is not None else ()


def penalties(game: str, phase: str, seats: int) -> tuple[Action, ...]:
    """What a scorer may award in a phase, by the book: each verb of the table but time-outs, for each seat it names."""
    found: list[Action] = []
    for verb in _verbs(game):
        if verb["by"] != "table" or verb["name"] == "timeout" or phase not in verb["phases"]:
            continue
        for text in verb["forms"]:
            named = [f"{verb['name']} seat={seat}" for seat in range(seats)] if "seat=" in text else [text]
            found += map(parse_action, named)
    return tuple(found)


def _form(verb: str, text: str) -> Form:
    bare = re.sub(r"\[[^\]=]*=[^\]]*\]", "", text)  # what may be left out, with a key
    words = bare.split()[1:]
    optional = re.findall(r"\[([A-Z]+)\]", bare)
    needed = [word for word in words if word in _CARDS]
    more = "…" in words
    others = [word for word in words if word not in _CARDS and word != "…" and not word.startswith("[")]
    return Form(verb, text, len(needed), 0 if more else len(needed) + len(optional), bool(needed) and not others)
