"""What all commands share: language, form of output, server, profile."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import typer

from ..names import word
from ..render import Renderer
from ..visible import coloured, json_line, visible
from . import words
from .exits import USAGE, CommandError

DEFAULT_SERVER = "127.0.0.1:7480"
MOST = (1 << 31) - 1  # what a number in a message can be
# Options that may stand anywhere on the line, with whether they take a value.
ANYWHERE = {"--server": True, "--as": True, "--lang": True, "--json": False, "--no-color": False, "--letters": False}


@dataclass(frozen=True, slots=True)
class Common:
    """The options common to all commands. `server` is "" unless it was named on the line or in the environment."""

    lang: str = "en"
    json: bool = False
    colour: bool = False
    letters: bool = False
    server: str = ""
    profile: str = ""

    def say(self, code: str, **params: object) -> str:
        """A text of this command in the chosen language."""
        return words.say(code, self.lang, params)

    def word(self, code: str) -> str:
        """A word of the catalogue of names."""
        return word(code, self.lang)

    def fail(self, exit_code: int, code: str, **params: object) -> CommandError:
        """An error to raise, in the chosen language."""
        return CommandError(exit_code, self.say(code, **params))

    def renderer(self, names: Sequence[str] = ()) -> Renderer:
        """How cards, seats and events are shown."""
        return Renderer(self.lang, letters=self.letters, colour=self.colour, names=tuple(names))

    def put(self, text: str = "") -> None:
        """A line for people, shown at once also in a pipe."""
        sys.stdout.write((coloured(text) if self.colour else visible(text)) + "\n")
        sys.stdout.flush()

    def note(self, code: str, **params: object) -> None:
        """A remark beside the output, for people."""
        if not self.json:
            sys.stderr.write(f"kangtou: {visible(self.say(code, **params))}\n")

    def put_json(self, value: Mapping[str, Any] | Sequence[Any]) -> None:
        """A line for programs."""
        sys.stdout.write(json_line(value) + "\n")
        sys.stdout.flush()


def of(context: typer.Context) -> Common:
    """The common options of a running command."""
    found = context.obj
    assert isinstance(found, Common)
    return found


def system_lang() -> str:
    """zh on a Chinese system, else en."""
    for name in ("KANGTOU_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        value = os.environ.get(name, "")
        if value:
            return "zh" if value.lower().startswith("zh") else "en"
    return "en"


def chosen_lang(given: str) -> str:
    """The language that was asked for, or the system's. Raises CommandError."""
    if given and given not in words.LANGUAGES:
        raise CommandError(USAGE, f"--lang is zh or en, not {given!r}")
    return given or system_lang()


def wants_colour(no_color: bool) -> bool:
    """On a terminal, unless it was asked not to (--no-color, NO_COLOR)."""
    return not no_color and "NO_COLOR" not in os.environ and sys.stdout.isatty()


def options_first(arguments: Sequence[str]) -> list[str]:
    """The same command line with the common options before the command, where the parser expects them."""
    front: list[str] = []
    rest: list[str] = []
    waiting = list(arguments)
    while waiting:
        word = waiting.pop(0)
        if word == "--":
            rest += [word, *waiting]
            break
        name, equals, _ = word.partition("=")
        if name not in ANYWHERE or (equals and not ANYWHERE[name]):
            rest.append(word)
            continue
        front.append(word)
        if ANYWHERE[name] and not equals and waiting:
            front.append(waiting.pop(0))
    return front + rest
