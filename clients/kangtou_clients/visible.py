"""Text of others on a terminal: what would steer it is shown, not sent to it.

A server cleans what people write, but it may be anybody's, and so may a record, a report or what a program said. So
all that comes from a server is made visible on arrival (api/shown.py), and what is printed once more (cli/common.py,
screen.py).
"""

from __future__ import annotations

import json
import re
from typing import Any

# Control but for line ends and tabs, direction and other formats, halves of surrogates, private letters; line and
# paragraph separators.
_STEERS = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\ud800-\uf8ff\ufeff\ufff0-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U0010ffff"
)
_HARM = re.compile(f"[{_STEERS}]")
_COLOUR = re.compile(rf"(\x1b\[[0-9;]{{0,20}}m)|[{_STEERS}]")


def visible(text: str) -> str:
    """The same with escapes, such as `\\x1b`, for what steers a terminal. Lines stay lines."""
    return text if text.isprintable() else _HARM.sub(_escaped, text)


def coloured(text: str) -> str:
    """The same, but colours and other looks of letters are let through: our own have been put there before."""
    return text if text.isprintable() else _COLOUR.sub(lambda found: found[1] or _escaped(found), text)


def visible_json(value: Any) -> Any:
    """All texts in a value of JSON, keys included, made visible."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict):
        return {visible(name): visible_json(one) for name, one in value.items()}
    return [visible_json(one) for one in value] if isinstance(value, list) else value


def json_line(value: Any) -> str:
    """JSON in one line, as short as can be; what steers a terminal is escaped in it as JSON has it."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text if text.isprintable() else _HARM.sub(lambda found: json.dumps(found[0])[1:-1], text)


def _escaped(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()
