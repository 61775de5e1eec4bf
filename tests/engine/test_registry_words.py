"""Texts for people: every code that a game uses has one, in both languages, with the right parameters."""

from __future__ import annotations

import ast
import string
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import kangtou_engine
from kangtou_engine.registry import REGISTRY, SPECS
from kangtou_engine.words import COMMON_WORDS, LANGUAGES, Words

ENGINE = Path(kangtou_engine.__file__).parent


def uses(folder: Path) -> Iterator[tuple[str, str, frozenset[str] | None]]:
    """Where, code, names of parameters (None: not to be read off) of all refusals and constraints in a folder."""
    for file in sorted(folder.rglob("*.py")):
        if folder == ENGINE and "games" in file.relative_to(ENGINE).parts:
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or len(node.args) < 2:
                continue
            code = node.args[1]
            if node.func.id in ("IllegalAction", "TooMany") and isinstance(code, ast.Constant):
                yield f"{file.name}:{node.lineno}", str(code.value), _names(node)


def _names(node: ast.Call) -> frozenset[str] | None:
    if any(item.arg is None for item in node.keywords):
        return None
    if isinstance(node.func, ast.Name) and node.func.id == "TooMany":
        given = node.args[2] if len(node.args) > 2 else None
        if given is None:
            return frozenset()
        if not isinstance(given, ast.Dict):
            return None
        return frozenset(str(key.value) for key in given.keys if isinstance(key, ast.Constant))
    return frozenset(str(item.arg) for item in node.keywords)


def wanted(template: str) -> frozenset[str]:
    """The parameters that a text names."""
    return frozenset(name for _, name, _, _ in string.Formatter().parse(template) if name)


PLACES = [("the engine", ENGINE, COMMON_WORDS)] + [
    (spec.id, ENGINE / "games" / spec.name, {**COMMON_WORDS, **spec.words}) for spec in SPECS
]


@pytest.mark.parametrize(("name", "folder", "words"), PLACES, ids=[name for name, _, _ in PLACES])
def test_every_refusal_has_its_text(name: str, folder: Path, words: Words) -> None:
    """And is given what the text names."""
    found = list(uses(folder))
    assert found
    for where, code, given in found:
        assert code in words, f"{where}: no text for {code!r}"
        for template in words[code]:
            assert given is None or wanted(template) <= given, f"{where}: {code!r} lacks what {template!r} names"


@pytest.mark.parametrize("name", REGISTRY.names())
def test_texts_come_in_both_languages(name: str) -> None:
    """Two texts each, naming the same; the phases have names."""
    spec = REGISTRY.game(name).spec
    words: Mapping[str, tuple[str, str]] = {**COMMON_WORDS, **spec.words}
    for code, pair in words.items():
        assert len(pair) == 2, code
        assert all(pair), code
        named = [wanted(text) - {"option"} for text in pair]  # an option may be called by its Chinese name
        assert named[0] == named[1], code
    assert {f"phase.{phase}" for phase in ("cut", "between", "over", *spec.phases)} <= set(words)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", REGISTRY.names())
def test_a_table_that_waits_for_its_match_is_shown(name: str, lang: str) -> None:
    """Whoever looks before the lot is drawn sees the table as it stands, in every variant."""
    game = REGISTRY.game(name)
    variants = next((row.words for row in game.spec.option_rows if row.name == "variant"), None)
    for given in [{"variant": one} for one in variants] if variants else [{}]:
        state = game.before(game.config(given))
        for seat in (None, 0):
            view = game.view(state, seat)
            assert "\n".join(game.spec.show(view, seat, lang)).strip()
            assert len(game.scene(view, seat, lang).places) == state.config.seats
