"""Texts that are made to steer a terminal, forge a line of a log or break out of markup, and who finds it in what."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from random import Random
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

PIECES = (
    "\x1b[2J", "\x1b]0;owned\x07", "\x1b]8;;http://evil\x07link", "\x9b31m", "\x1bP",
    "\r", "\n", "\x08\x08\x08", "\x7f",
    "\u202e", "\u2066", "\u200b", "\u2028", "\ufeff", "\u00ad", "\ue000", "\U000e0041", "\x00",
    "[/x]", "[bold red]", "[link=http://evil]", ":bomb:", "</script>", "<b>", "%s", "{0}", "{match}", "@@script@@",
    'level=error event="x"', "Ann", "安", " ", "e\u0301",
)  # fmt: skip


def harmful(rng: Random, most: int = 24) -> str:
    """One such text, of at most so many letters; some are of ordinary letters alone."""
    text = "".join(rng.choice(PIECES) for _ in range(rng.randrange(1, 5)))[:most]
    return text if text.strip() else "Ann"


def anything(rng: Random) -> str:
    """Any letters that a text can hold; more often of those that are used."""
    return "".join(chr(rng.randrange(rng.choice((0x80, 0x400, 0x3000, 0xD800)))) for _ in range(rng.randrange(30)))


def steers(text: str, *, lines: bool = False) -> bool:
    """Whether there is something in a text that a terminal or a log would obey. `lines`: several are right."""
    kept = text.replace("\n", "").replace("\t", "") if lines else text
    return any(unicodedata.category(one) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp") for one in kept)


def texts_of(message: Message, path: str = "") -> Iterator[tuple[str, str]]:
    """All texts in a message, each with where it stands."""
    for field, value in message.ListFields():
        here = f"{path}.{field.name}"
        many: Any = value if field.is_repeated else [value]
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            held = field.message_type.fields_by_name["value"].type
            for key in value:
                yield f"{here} key", str(key)
                if held == FieldDescriptor.TYPE_STRING:
                    yield here, value[key]
                elif held == FieldDescriptor.TYPE_MESSAGE:
                    yield from texts_of(value[key], here)
        elif field.type == FieldDescriptor.TYPE_STRING:
            yield from ((here, one) for one in many)
        elif field.type == FieldDescriptor.TYPE_MESSAGE:
            for one in many:
                yield from texts_of(one, here)
