"""What people write reaches other people's terminals and logs as one line of visible characters."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kangtou_services.identity import clean_name
from kangtou_services.plain_text import clean_line

MOST = 40
# What does harm is rare in random text: it is mixed in.
HARM = (
    "\x1b\x07\x08\x9b\r\n\t\x85\x00\u200b\u200d\u200e\u202a\u202e\u2066\u2069\u2028\u2029"
    "\ufeff\u3164\u115f\u0301\ue000\U000e0041\u3000 "
)
TEXTS = st.text(st.one_of(st.characters(codec="utf-8"), st.sampled_from(HARM)), max_size=3 * MOST)


def harmless(text: str) -> bool:
    """One line, nothing unseen but single spaces inside it, at most two marks on a letter."""
    marks = "".join("m" if unicodedata.category(letter)[0] == "M" else "." for letter in text)
    return (
        not any(unicodedata.category(letter)[0] == "C" for letter in text)
        and not any(unicodedata.category(letter) in ("Zl", "Zp") for letter in text)
        and not any(unicodedata.category(letter) == "Zs" and letter != " " for letter in text)
        and not set(text) & set("\u115f\u1160\u2800\u3164\uffa0")
        and text == text.strip()
        and "  " not in text
        and "mmm" not in marks
        and not marks.startswith("m")
        and len(text.splitlines()) == 1
    )


@given(TEXTS, st.booleans())
def test_what_is_kept_is_harmless(text: str, drop: bool) -> None:
    """And is kept as it is when it comes again."""
    kept = clean_line(text, MOST, drop=drop)
    if kept is not None:
        assert harmless(kept)
        assert 1 <= len(kept) <= MOST
        assert clean_line(kept, MOST) == kept
        assert clean_line(kept, MOST, drop=True) == kept


@given(TEXTS)
def test_dropping_takes_whatever_refusing_takes(text: str) -> None:
    """A line that is not refused is not changed by dropping either."""
    kept = clean_line(text, MOST)
    if kept is not None:
        assert clean_line(text, MOST, drop=True) == kept


@given(TEXTS)
def test_names_are_lines(text: str) -> None:
    """The same function makes them."""
    name = clean_name(text)
    if name is not None:
        assert harmless(name)
        assert len(name) <= 24


@pytest.mark.parametrize(
    ("given_text", "kept"),
    [
        ("\x1b]0;title\x07hi", "]0;titlehi"),
        ("a\r\n2026-01-01 error=1", "a 2026-01-01 error=1"),
        ("abc\u202edef", "abcdef"),
        ("e\u0301\u0301\u0301\u0301x", "\u00e9\u0301\u0301x"),
        ("  你好　世界  ", "你好世界"),
        ("\u200b", None),
        ("x" * 41, None),
    ],
)
def test_examples(given_text: str, kept: str | None) -> None:
    """Escapes, log injection, direction overrides, piles of accents, blanks."""
    assert clean_line(given_text, MOST, drop=True) == kept
