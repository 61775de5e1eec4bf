"""What a check has found. Its words, and what to do about it, are the command's (cli/words_doctor.py)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class State(StrEnum):
    """How bad it is: a server should not run with what is wrong."""

    OK = "ok"
    WARNING = "warning"
    WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Finding:
    """`check` is what was looked at, `code` what was found there (a word of the catalogue), `params` its details."""

    check: str
    code: str
    state: State = State.WRONG
    params: dict[str, str | int] = field(default_factory=dict)


def ok(check: str, code: str = "fine", **params: str | int) -> Finding:
    """Nothing to do."""
    return Finding(check, code, State.OK, params)


def wrong(check: str, code: str, **params: str | int) -> Finding:
    """Something to do before a server runs."""
    return Finding(check, code, State.WRONG, params)


def warning(check: str, code: str, **params: str | int) -> Finding:
    """Something to know."""
    return Finding(check, code, State.WARNING, params)
