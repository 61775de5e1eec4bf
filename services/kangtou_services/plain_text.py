"""Text that people write and others are shown: one line, of characters that are seen as what they are.

What could move a cursor, colour a terminal, turn the writing direction, hide, or begin another line of a log is not
let through: control, format (bidirectional, joining, zero-width), private, surrogate and unassigned characters, line
and paragraph separators, blank letters, piles of accents.
"""

from __future__ import annotations

import re
import unicodedata

_UNSEEN = frozenset("\u115f\u1160\u2800\u3164\uffa0")  # letters and symbols that show nothing
_MARKS_MOST = 2  # combining marks on one letter
_LONG = 8  # input that is so many times too long is not looked at


def clean_line(given: str, most: int, *, drop: bool = False) -> str | None:
    """A line as it is kept: NFC, single spaces; None if it is not 1 to `most` visible characters.

    With `drop` what may not be in it is left out, and tabs and line ends become spaces; else it is refused.
    """
    if len(given) > _LONG * most:
        return None
    text = unicodedata.normalize("NFC", given)
    if drop:
        text = unicodedata.normalize("NFC", _without(re.sub(r"[\t\r\n\u2028\u2029\x0b\x0c\x85]+", " ", text)))
    elif _without(text) != text:
        return None
    text = re.sub(" +", " ", text).strip()
    return text if 1 <= len(text) <= most else None


def visible(given: str) -> str:
    """A text that is only told again to whoever sent it: what is not seen in it stands as an escape, `\\x1b`."""
    if given.isprintable():
        return given
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in given)


def _without(text: str) -> str:
    """The same without what may not be in it."""
    kept: list[str] = []
    marks = _MARKS_MOST  # at the beginning there is no letter that could carry one
    for letter in text:
        kind = unicodedata.category(letter)
        if kind[0] == "C" or kind in ("Zl", "Zp") or letter in _UNSEEN or (kind == "Zs" and letter != " "):
            continue
        marks = marks + 1 if kind[0] == "M" else 0
        if marks <= _MARKS_MOST:
            kept.append(letter)
    return "".join(kept)
