"""The rule books and public cases here are the ones that are in force."""

from __future__ import annotations

import hashlib

import pytest

from tools.copy_rules import ROOT, SUMS, copies, titled

ORIGIN = ROOT.parent / "shared/rules"
LISTED = {path: digest for digest, path in (line.split("  ") for line in SUMS.read_text().splitlines())}


def test_list_is_complete() -> None:
    """Every book and case file is listed, and nothing else lies beside them."""
    here = {*ROOT.glob("docs/rules/*"), *(ROOT / f"tests/cases/{book}.yaml" for book in books())}
    assert {str(path.relative_to(ROOT)) for path in here} == set(LISTED)


def books() -> list[str]:
    """The games that have a book."""
    return [path.stem for path in ROOT.glob("docs/rules/*.md") if path.stem != "README"]


@pytest.mark.parametrize("path", sorted(LISTED))
def test_copy_is_unchanged(path: str) -> None:
    """Nobody edited a copy: changes come from the originals through tools/copy_rules.py."""
    assert hashlib.sha256((ROOT / path).read_bytes()).hexdigest() == LISTED[path]


def test_copies_equal_the_originals() -> None:
    """Where the originals lie beside this repository, the copies are those; elsewhere the list stands for them."""
    if not ORIGIN.is_dir():
        assert LISTED
        return
    for path, content in copies(ORIGIN).items():
        assert (ROOT / path).read_bytes() == content, f"{path}: run tools/copy_rules.py {ORIGIN}"


def test_sources_are_named_by_title() -> None:
    """A path of a source text becomes its title; the sentence stays."""
    assert "seeds" not in titled("The source is `../seeds/004_17d54ee4dae0013e.txt`; section WK-17 maps it.")
    assert titled("The source is `../seeds/004_17d54ee4dae0013e.txt`; see").endswith("扑克游戏）; see")
    with pytest.raises(KeyError):
        titled("`../seeds/unknown.txt`")
