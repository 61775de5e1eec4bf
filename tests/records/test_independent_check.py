"""A program that knows nothing but docs/record-format.md reads and checks records; the page's example is right."""

from __future__ import annotations

import ast
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from kangtou_engine.record import read_record, write_record
from kangtou_engine.registry import REGISTRY
from kangtou_engine.verify import verify
from tests.records import independent_check
from tests.records.independent_check import Chance, check
from tests.records.make import play

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/record-format.md").read_text()
EXAMPLE = PAGE.split("```\n")[1]


def test_it_uses_none_of_our_packages() -> None:
    """Standard library only."""
    source = Path(independent_check.__file__).read_text()
    names = {alias.name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import) for alias in node.names}
    assert names == {"hashlib", "re", "sys"}
    assert "from " not in "\n".join(line for line in source.split("\n") if line.startswith("from"))


def test_the_example_of_the_page() -> None:
    """Our reader, our checker and the independent one agree on it."""
    record = read_record(EXAMPLE)
    assert verify(EXAMPLE, REGISTRY).findings == []
    assert check(EXAMPLE, record.receipt) == []


def test_the_numbers_of_the_page() -> None:
    """Key, block, words and swaps are those that come out."""
    record = read_record(EXAMPLE)
    entropies = list(record.entropies or ())
    chance = Chance(record.head.terms.match, record.seed, entropies)
    assert f"key        = {chance.key.hex()}" in PAGE
    block = chance.block("pack", 1, 0)
    assert f"block 0    = {block.hex()}" in PAGE
    for at, place in enumerate((39, 38, 37)):
        word = int.from_bytes(block[4 * at : 4 * at + 4], "big")
        assert f"place {place}: word {word:08x} = {word}, mod {place + 1} = {word % (place + 1)}: " in PAGE


@pytest.mark.parametrize("name", REGISTRY.names())
def test_records_of_every_game(name: str, tmp_path: Path) -> None:
    """Chain, commitments, packs and lots; as a command too."""
    played = play(REGISTRY.game(name), 7, {"rounds": 2}, takeover_every=31, timeout_every=17)
    text = write_record(played.record)
    assert check(text, played.entries[-1].chain) == []
    file = tmp_path / "match.ktr"
    file.write_text(text)
    argv = [sys.executable, "-I", independent_check.__file__, str(file), played.entries[-1].chain]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "in order\n", "")


def test_what_it_finds() -> None:
    """An edited entry, another seed, another hand: by line."""
    played = play(REGISTRY.game("hongshi"), 8, {"rounds": 1})
    text = write_record(played.record)
    lines = text.split("\n")
    at = next(place for place, line in enumerate(lines) if line.startswith("dealt "))
    edited = [*lines]
    edited[at] = edited[at].replace("hands=", "hands=", 1)[:-2] + edited[at][6 + 6 : 6 + 8]
    found = check("\n".join(edited))
    assert any("was changed" in one for one in found)
    assert any(one.startswith(f"line {at + 1}: the hands") for one in found)
    other = check(write_record(replace(played.record, seed=bytes(32))))
    assert any("not the seed" in one for one in other)
    assert any("the pack does not follow" in one for one in other)
    assert check(text, "0" * 64)[0].endswith("another receipt")
    assert check(text[:-1])
    assert check(text + text)
    assert check("hello\n")
