"""The transcript in docs/protocol.md: it is there, whole, and can be renewed."""

from __future__ import annotations

import pytest

from tools.transcript import BEGIN, END, NOTES, PAGE, written


def test_the_page_has_a_whole_match() -> None:
    """Every kind of message with its remark, from the first to the last."""
    page = PAGE.read_text()
    shown = page.partition(BEGIN)[2].partition(END)[0]
    assert all(note in shown for note in NOTES.values())
    assert shown.index("→ attach") < shown.index("← prompt") < shown.index("→ command") < shown.index("← ended")


def test_it_is_exchanged_between_its_marks() -> None:
    """And nothing else is touched."""
    page = f"before\n{BEGIN}\nold\n{END}after\n"
    assert written(page, "new\n") == f"before\n{BEGIN}\nnew\n\n{END}after\n"
    with pytest.raises(ValueError, match="no marks"):
        written("no place", "new")
