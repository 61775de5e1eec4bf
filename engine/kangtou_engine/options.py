"""House options as a frozen dataclass whose fields carry rule, type and allowed values. CM-11.

@dataclass(frozen=True, slots=True)
class Options:
    rounds: int = option("HS-15.1", 50, low=1, high=1000)
    top: str = option("HS-15.3", "jokers", words=("jokers", "tens"))
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from .errors import BadOptions

Value = bool | int | str
Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class OptionSpec:
    """One option: its rule, default and the values it may have (`words` and a range may both hold)."""

    name: str
    rule: str
    default: Value
    words: tuple[Value, ...] = ()
    low: int | None = None
    high: int | None = None

    def allowed(self) -> str:
        """In words, for messages."""
        said = [_show(word) for word in self.words]
        if self.low is not None:
            said.append(f"{self.low} … {self.high}")
        return ", ".join(said)

    def accepts(self, value: object) -> bool:
        """CM-11.1: of the right type (`1` is not true, `9` is not `"9"`) and among the allowed."""
        if any(type(value) is type(word) and value == word for word in self.words):
            return True
        if self.low is None or self.high is None or type(value) is not int:
            return False
        return self.low <= value <= self.high


def option(
    rule: str,
    default: Any,
    *,
    words: tuple[Value, ...] = (),
    low: int | None = None,
    high: int | None = None,
) -> Any:
    """A field of an options dataclass. A bool allows both values by itself."""
    if type(default) is bool and not words:
        words = (True, False)
    return field(default=default, metadata={"option": (rule, words, low, high)})


def option_specs(kind: type) -> tuple[OptionSpec, ...]:
    """The options that a dataclass declares, in its order."""
    specs = []
    for item in fields(kind):
        rule, words, low, high = item.metadata["option"]
        default: Any = item.default
        specs.append(OptionSpec(item.name, rule, default, words, low, high))
    return tuple(specs)


def parse_options(kind: type[Made], given: Mapping[str, object]) -> Made:
    """Check `given` against the fields of `kind` and make it. Raises BadOptions. CM-11.1."""
    specs = {spec.name: spec for spec in option_specs(kind)}
    for name, value in given.items():
        spec = specs.get(name)
        if spec is None:
            raise BadOptions("CM-11.1", "unknown_option", name, _show(value), ", ".join(specs))
        if not spec.accepts(value):
            raise BadOptions(spec.rule, "bad_option", name, _show(value), spec.allowed())
    return kind(**given)


def option_from_text(spec: OptionSpec, text: str) -> Value:
    """A value typed at a command line, by the option's type. Raises BadOptions."""
    for value in (*spec.words,):
        if _show(value) == text:
            return value
    if spec.low is not None and text.isascii() and text.removeprefix("-").isdigit():
        return int(text)
    raise BadOptions(spec.rule, "bad_option", spec.name, text[:40], spec.allowed())


def _show(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)[:60]
