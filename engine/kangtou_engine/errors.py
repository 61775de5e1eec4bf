"""What the engine raises.

    KangtouError
    ├── IllegalAction    an action is refused: rule, code, parameters (CM-10); changes nothing
    ├── BadOptions       a table cannot be made: option, what was given, what is allowed (CM-11)
    └── BadText          an event, a record or a case file cannot be read: line and reason

Texts for people are looked up by code in the catalogue of the game (`words.py`), in English and Chinese.
"""

from __future__ import annotations

from typing import TypeAlias

Param: TypeAlias = str | int


class KangtouError(Exception):
    """The root of what this package raises on purpose."""


class IllegalAction(KangtouError):
    """An action is not legal now. CM-10.1.

    `rule` is the rule that refuses it, `code` a stable word for programs, `params` the cards, seats and
    numbers that the text names. It must hold nothing that the acting seat may not know.
    """

    def __init__(self, rule: str, code: str, **params: Param) -> None:
        super().__init__(rule, code, params)
        self.rule = rule
        self.code = code
        self.params = params

    def __str__(self) -> str:
        said = ", ".join(f"{name}={value}" for name, value in self.params.items())
        return f"{self.rule} {self.code}" + (f" ({said})" if said else "")


class BadOptions(KangtouError):
    """A table with these options or seats cannot be made. CM-11.1.

    `option` is the name at fault, `allowed` says in words which values there are.
    """

    def __init__(self, rule: str, code: str, option: str, given: str, allowed: str) -> None:
        super().__init__(rule, code, option, given, allowed)
        self.rule = rule
        self.code = code
        self.option = option
        self.given = given
        self.allowed = allowed

    def __str__(self) -> str:
        return f"{self.rule} {self.code}: {self.option}={self.given}; allowed: {self.allowed}"


class BadText(KangtouError):
    """A text does not follow its notation. `line` is counted from 1, 0 if there are no lines."""

    def __init__(self, reason: str, line: int = 0) -> None:
        super().__init__(reason, line)
        self.reason = reason
        self.line = line

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}" if self.line else self.reason
