"""A spec as somebody wrote it: checked field by field, so that each error names the field, its value and what may stand
there. What fits together with what is looked at in fits.py.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from kangtou_engine.registry import REGISTRY

from ..opening import CLOCK_LEAST_MS, CLOCK_MOST_MS
from ..plain_text import clean_line, visible
from .fits import Misfit, misfits
from .model import Entrant, Format, Spec, Stopping, Unit

NAME_MOST = 64
ENTRANTS_MOST = 256
SETS_MOST = 1_000_000
CONCURRENCY_MOST = 256
BOTS = ("random", "greedy", "search", "search:200ms", "search:64")  # any number of ms, or of rounds played out
_BOT = re.compile(r"random|greedy|search(:[1-9][0-9]{0,5}(ms)?)?")
_SHOWN = 60

_NUMBERS: Mapping[str, tuple[int, int]] = {
    "seats": (0, 6),
    "sets": (1, SETS_MOST),
    "rounds": (0, 10_000),
    "table": (2, 6),
    "concurrency": (1, CONCURRENCY_MOST),
    "turn_ms": (CLOCK_LEAST_MS, CLOCK_MOST_MS),
}
_LIMITS: Mapping[str, tuple[int, int]] = {"memory_mb": (16, 65_536), "cpu_s": (1, 86_400)}
_WORDS: Mapping[str, tuple[str, ...]] = {
    "format": tuple(Format),
    "unit": tuple(Unit),
    "rotation": ("full", "cross"),
}
_REAL_MOST = 1e9
_REALS = ("low", "high", "alpha", "beta")


class _Reader:
    """Collects what is wrong."""

    def __init__(self) -> None:
        self.wrong: list[Misfit] = []

    def bad(self, name: str, value: Any, allowed: str) -> None:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
        self.wrong.append(Misfit(visible(name), visible(text[:_SHOWN]), allowed))

    def unknown(self, given: Mapping[str, Any], known: Sequence[str], prefix: str = "") -> None:
        for name in given:
            if name not in known:
                self.bad(f"{prefix}{name}", given[name], f"there is no such field; there are: {', '.join(known)}")

    def number(self, name: str, value: Any, low: int, high: int) -> bool:
        if type(value) is not int or not low <= value <= high:
            self.bad(name, value, f"a whole number, {low} … {high}")
            return False
        return True

    def text(self, name: str, value: Any, most: int = NAME_MOST) -> bool:
        if not isinstance(value, str) or clean_line(value, most) != value:
            self.bad(name, value, f"a text of 1 to {most} visible letters")
            return False
        return True


def check_spec(given: Any, *, commands: bool = True) -> Spec | tuple[Misfit, ...]:
    """A spec, or all that is wrong with it. `commands`: whether entrants by command are allowed to the submitter."""
    reader = _Reader()
    if not isinstance(given, Mapping):
        return (Misfit("", visible(str(given)[:_SHOWN]), "a table of fields"),)
    reader.unknown(given, [field.name for field in fields(Spec)])
    values = _values(reader, given)
    if "entrants" in given or "bots" not in given:
        values["entrants"] = _entrants(reader, given.get("entrants"), commands)
    if reader.wrong:
        return tuple(reader.wrong)
    spec = Spec(**values)
    wrong = misfits(spec)
    accounts = [entrant for entrant in spec.entrants if entrant.account]
    if accounts and spec.rotation == "full" and not spec.trusted:
        why = "cross (or `trusted = true`: accounts see each board more than once, and the report says so)"
        wrong = (*wrong, Misfit("rotation", "full", why))
    return wrong or spec


def _values(reader: _Reader, given: Mapping[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {"entrants": ()}
    for name in ("name", "game"):
        if reader.text(name, given.get(name, "")):
            values[name] = given[name]
    if "game" in values and values["game"] not in REGISTRY.names():
        reader.bad("game", values["game"], ", ".join(REGISTRY.names()))
    for name, (low, high) in _NUMBERS.items():
        if name in given and reader.number(name, given[name], low, high):
            values[name] = given[name]
    for name, words in _WORDS.items():
        if name not in given:
            continue
        if given[name] not in words:
            reader.bad(name, given[name], ", ".join(words))
        else:
            values[name] = {"format": Format, "unit": Unit}.get(name, str)(given[name])
    if "trusted" in given:
        if isinstance(given["trusted"], bool):
            values["trusted"] = given["trusted"]
        else:
            reader.bad("trusted", given["trusted"], "true, false")
    if "confidence" in given:
        if isinstance(given["confidence"], float) and 0.5 <= given["confidence"] < 1:
            values["confidence"] = given["confidence"]
        else:
            reader.bad("confidence", given["confidence"], "0.5 … 0.999")
    if "options" in given:
        if isinstance(given["options"], Mapping):
            values["options"] = dict(given["options"])
        else:
            reader.bad("options", given["options"], "a table of house options")
    if "stopping" in given:
        values["stopping"] = _stopping(reader, given["stopping"])
    return values


def _stopping(reader: _Reader, given: Any) -> Stopping:
    if not isinstance(given, Mapping):
        reader.bad("stopping", given, "a table: method, low, high, alpha, beta")
        return Stopping()
    reader.unknown(given, [field.name for field in fields(Stopping)], "stopping.")
    values: dict[str, Any] = {}
    if "method" in given and reader.text("stopping.method", given["method"]):
        values["method"] = given["method"]
    for name in _REALS:
        if name in given:
            real = isinstance(given[name], (int, float)) and not isinstance(given[name], bool)
            if real and abs(given[name]) <= _REAL_MOST:  # which nan is not
                values[name] = float(given[name])
            else:
                reader.bad(f"stopping.{name}", given[name], "a number")
    return Stopping(**values)


def _entrants(reader: _Reader, given: Any, commands: bool) -> tuple[Entrant, ...]:
    if not isinstance(given, Sequence) or isinstance(given, str) or not 2 <= len(given) <= ENTRANTS_MOST:
        reader.bad("entrants", given, f"2 to {ENTRANTS_MOST} tables [[entrants]]")
        return ()
    found: list[Entrant] = []
    names: set[str] = set()
    for place, one in enumerate(given):
        entrant = _entrant(reader, f"entrants[{place}]", one, commands)
        if entrant is None:
            continue
        if entrant.name in names:
            reader.bad(f"entrants[{place}].name", entrant.name, "a name that no other entrant has")
        names.add(entrant.name)
        found.append(entrant)
    return tuple(found)


def _entrant(reader: _Reader, where: str, given: Any, commands: bool) -> Entrant | None:
    before = len(reader.wrong)
    if not isinstance(given, Mapping):
        reader.bad(where, given, "a table: name, and bot, command or account")
        return None
    reader.unknown(given, [field.name for field in fields(Entrant)], f"{where}.")
    reader.text(f"{where}.name", given.get("name", ""), 24)
    kinds = [name for name in ("bot", "command", "account") if given.get(name)]
    if len(kinds) != 1:
        reader.bad(where, ", ".join(kinds) or "(none)", "exactly one of bot, command, account")
        return None
    values: dict[str, Any] = {"name": given.get("name")}
    if kinds == ["bot"]:
        name = given["bot"]
        if not isinstance(name, str) or not _BOT.fullmatch(name):
            reader.bad(f"{where}.bot", name, ", ".join(BOTS))
        values["bot"] = name
    elif kinds == ["command"]:
        values["command"] = _command(reader, f"{where}.command", given["command"], commands)
    elif reader.text(f"{where}.account", given["account"]):
        values["account"] = given["account"]
    for name, (low, high) in _LIMITS.items():
        if name in given and reader.number(f"{where}.{name}", given[name], low, high):
            values[name] = given[name]
    return Entrant(**values) if len(reader.wrong) == before else None


def _command(reader: _Reader, name: str, given: Any, allowed: bool) -> tuple[str, ...]:
    if not allowed:
        reader.bad(name, given, "bot or account (commands run on the server: for its operators only)")
        return ()
    try:
        words = shlex.split(given) if isinstance(given, str) else list(given)
    except (ValueError, TypeError):
        words = []
    if not words or not all(isinstance(word, str) and word and "\0" not in word for word in words):
        reader.bad(name, given, "a command line, or a list of its words")
        return ()
    return tuple(words)
