"""Every text in both languages, in all catalogues; no text of the screens besides them. (Lobby, acceptance 6)"""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from rich.cells import cell_len

import kangtou_clients
import kangtou_engine
import kangtou_services
from kangtou_clients.desk import words as desk_words
from kangtou_clients.plain import words as plain_words
from kangtou_clients.tui import words as tui_words
from kangtou_clients.tui.look import Look
from kangtou_engine.registry import REGISTRY

CLIENTS = Path(kangtou_clients.__file__).parent
ROOTS = (CLIENTS, Path(kangtou_services.__file__).parent, Path(kangtou_engine.__file__).parent)
CHINESE = re.compile(r"[\u3400-\u9fff]")
Catalogue = Mapping[str, tuple[str, str]]
LEAST = 3  # pairs that make a catalogue


def catalogues() -> dict[str, Catalogue]:
    """Every table of pairs of texts in clients, services and engine, by module and name."""
    found: dict[str, Catalogue] = {}
    for root in ROOTS:
        for file in sorted(root.rglob("*.py")):
            for node in ast.parse(file.read_text()).body:
                if not isinstance(node, (ast.Assign, ast.AnnAssign)) or not isinstance(node.value, ast.Dict):
                    continue
                table = dict(_pairs(node.value))
                if len(table) >= LEAST:
                    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                    found[f"{file.relative_to(root.parent)}:{ast.unparse(target)}"] = table
    return found


def _pairs(table: ast.Dict) -> Iterator[tuple[str, tuple[str, str]]]:
    """Entries `"code": ("English", "中文")`."""
    for key, value in zip(table.keys, table.values, strict=True):
        if isinstance(value, ast.Tuple) and len(value.elts) == 2:
            texts = [
                part.value for part in value.elts if isinstance(part, ast.Constant) and isinstance(part.value, str)
            ]
            if len(texts) == 2 and isinstance(key, ast.Constant):
                yield str(key.value), (texts[0], texts[1])


CATALOGUES = {
    name: table
    for name, table in catalogues().items()
    if sum(bool(CHINESE.search("".join(pair))) for pair in table.values()) >= LEAST
}
# The same in both languages on purpose: glyphs, numbers, lists of parameters, a program's output.
SAME = re.compile(r"[^A-Za-z\u3400-\u9fff]*")


def parameters(text: str) -> set[str]:
    """What a text names."""
    return {re.split(r"[.\[!]", name)[0] for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("name", CATALOGUES)
def test_every_text_in_both_languages(name: str) -> None:
    """Two texts that name the same, the second Chinese and not the first."""
    catalogue = CATALOGUES[name]
    assert catalogue
    for code, pair in catalogue.items():
        assert len(pair) == 2, code
        english, chinese = pair
        assert english, code
        assert chinese, code
        assert parameters(english) - {"option"} == parameters(chinese) - {"option"}, code
        bare = re.sub(r"\{[^}]*\}", "", chinese)
        if english == chinese:
            assert SAME.fullmatch(bare) or code in EQUAL, f"{code}: {chinese!r} is not translated"
        elif code not in EQUAL:
            assert CHINESE.search(chinese) or SAME.fullmatch(bare), f"{code}: {chinese!r} is not Chinese"


EQUAL = {"cases_total", "language"} | {
    "vitals_append_p99_ms",
    "vitals_answer_p99_ms",
}  # for programs; names the other language


def test_the_catalogues_are_found() -> None:
    """Those that there are: refusals, both front ends, names, every game."""
    expected = {
        "kangtou_services/refusals.py:_TEXTS",
        "kangtou_clients/cli/words.py:WORDS",
        "kangtou_clients/desk/words.py:WORDS",
        "kangtou_clients/desk/words_tables.py:TABLES",
        "kangtou_clients/plain/words.py:COMMANDS",
        "kangtou_clients/plain/words.py:WORDS",
        "kangtou_clients/tui/words.py:WORDS",
        "kangtou_clients/names.py:EVENTS",
        "kangtou_engine/words.py:COMMON_WORDS",
    }
    assert expected <= set(CATALOGUES), expected - set(CATALOGUES)
    for name in REGISTRY.names():
        assert any(f"games/{name}/words.py" in found for found in CATALOGUES), name


# ---- literals ----

VISIBLE = re.compile(r"[\u3400-\u9fff]|[A-Za-z]{2,} [A-Za-z]{2,}|^[A-Z][a-z]{2,}|[a-z]{3,}[:!?]$")
NOT_TEXTS = ("DEFAULT_CSS", "CSS", "BINDINGS", "THEME", "_FACES")


def literals(file: Path) -> Iterator[tuple[int, str]]:
    """Strings of a module that are no docstrings, styles or keys."""
    tree = ast.parse(file.read_text())
    skipped: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                skipped.add(id(first.value))
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        named = {target.id for target in targets if isinstance(target, ast.Name)}
        styles = any(name in NOT_TEXTS or (name.isupper() and "FACE" in name) for name in named)
        if styles or isinstance(node, (ast.Raise, ast.Assert)):
            skipped |= {id(inner) for inner in ast.walk(node)}
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
            skipped |= {id(keyword.value) for keyword in node.keywords}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield node.lineno, node.value


STYLE = re.compile(r"(bold|italic|underline|reverse|#[0-9a-f]{6}|on| )*")


@pytest.mark.parametrize("folder", ["tui", "plain", "desk"])
def test_no_text_besides_the_catalogue(folder: str) -> None:
    """What a user could read stands in words.py."""
    files = [file for file in sorted((CLIENTS / folder).glob("*.py")) if not file.name.startswith("words")]
    assert len(files) > 3
    looked = 0
    for file in files:
        for line, text in literals(file):
            looked += 1
            if STYLE.fullmatch(text) or file.name == "typed.py":
                continue
            assert not VISIBLE.search(text), f"{folder}/{file.name}:{line}: {text!r} belongs into words.py"
    assert looked > 20


def test_every_code_that_is_used_is_there() -> None:
    """`say("code")` of screens and line mode names a text that there is."""
    known = {*tui_words.WORDS, *desk_words.WORDS, *plain_words.WORDS}
    used = 0
    for folder in ("tui", "plain", "desk"):
        for file in (CLIENTS / folder).glob("*.py"):
            for node in ast.walk(ast.parse(file.read_text())):
                if isinstance(node, ast.Call) and _name(node.func) in ("say", "text") and node.args:
                    code = node.args[0]
                    if isinstance(code, ast.Constant) and isinstance(code.value, str) and folder != "desk":
                        used += 1
                        assert code.value in known, f"{folder}/{file.name}:{node.lineno}: {code.value}"
    assert used > 80


def _name(function: ast.expr) -> str:
    return (
        function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
    )


def test_every_verb_and_phase_has_words() -> None:
    """Verbs of all games in all books are in the catalogue."""
    from kangtou_clients.desk.forms import forms_of

    found = 0
    for name in REGISTRY.names():
        spec = REGISTRY.game(name).spec
        for phase in ("cut", "between", *spec.phases):
            for form in forms_of(name, phase):
                found += 1
                assert form.verb in desk_words.VERBS or f"verb.{form.verb}" in spec.words, f"{name}: {form.verb}"
    assert found > 40


# ---- widths ----

MIXED = ["♥10", "大王", "3 老张（你） 13 张", "AB 炕头 cd", "☆♦8"]


@pytest.mark.parametrize("text", MIXED)
def test_cells_of_mixed_text(text: str) -> None:
    """A Chinese character takes two cells, a glyph one; cards of a hand fill their cells exactly."""
    from kangtou_clients.tui.hand import _fit

    expected = sum(2 if CHINESE.match(char) or char in "（）" else 1 for char in text)
    assert cell_len(text) == expected
    assert cell_len(_fit(text, 30)) == 30


def test_lines_that_are_always_shown_fit_the_screen() -> None:
    """Key lines fit 80 cells in both languages."""
    for code, pair in tui_words.WORDS.items():
        if code.startswith("keys."):
            assert all(cell_len(text) <= 78 for text in pair), code
        if code.startswith("help"):
            assert all(cell_len(line) <= 70 for text in pair for line in text.split("\n")), code


def test_corners_of_cards() -> None:
    """Rank and suit of every card, in letters and glyphs, in both languages, are one or two cells wide."""
    from kangtou_engine.cards import DECK54, HIDDEN

    for lang in ("en", "zh"):
        for letters in (False, True):
            look = Look(lang, letters)
            corners = {card: look.corner(card) for card in (*DECK54, HIDDEN)}
            assert len(set(corners.values())) == len(corners)
            assert all(1 <= cell_len(part) <= 2 for pair in corners.values() for part in pair)
