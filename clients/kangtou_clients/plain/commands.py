"""Which commands there are, in both languages, and where each can be given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rich.cells import cell_len

from ..desk.words import LANGUAGES
from .words import COMMANDS, say

LOBBY, TABLE, QUEUE, MATCH, COMPANY, ANY = "lobby", "table", "queue", "match", "company", "any"
PLACED: Mapping[str, tuple[str, ...]] = {
    LOBBY: ("quick", "open", "sit", "enter", "watch", "party", "practice"),
    TABLE: ("ready", "start", "fill", "seat", "remove", "allow"),
    QUEUE: ("take", "decline", "cancel"),
    MATCH: ("legal", "hint", "hand", "order", "score", "log", "substitute", "back", "penalty", "again", "leave"),
    COMPANY: ("stand", "say", "chat", "mute", "report"),
    ANY: (
        *("list", "table", "games", "profile", "leaderboard", "records", "replay", "block", "unblock", "blocks"),
        *("rules", "lang", "letters", "wait", "help", "quit"),
    ),
}
QUITS = ("exit", "q")
_WIDTH = 34  # cells before what a command does


@dataclass(frozen=True, slots=True)
class Command:
    """One command, by its code, and the part of the list in which it stands."""

    code: str
    part: str

    def words(self) -> tuple[str, ...]:
        """What can be typed for it."""
        return tuple(text.partition("|")[0].split()[0] for text in COMMANDS[self.code])

    def line(self, lang: str) -> str:
        """How it is typed and what it does."""
        return _line(COMMANDS[self.code][LANGUAGES.index(lang)])


ALL = tuple(Command(code, part) for part, codes in PLACED.items() for code in codes)
BY_WORD: Mapping[str, Command] = {word: command for command in ALL for word in command.words()} | dict.fromkeys(
    QUITS, next(command for command in ALL if command.code == "quit")
)


def help_lines(lang: str, word: str = "") -> list[str]:
    """All commands by where they can be given; or one, with what belongs to it. [] for a word that is none."""
    if word:
        command = BY_WORD.get(word)
        if command is None:
            return []
        more = say("help.open", lang).split("\n") if command.code in ("open", "quick", "party") else []
        return [command.line(lang), *more]
    lines: list[str] = []
    for part in PLACED:
        lines.append(say(f"in.{part}", lang))
        if part == MATCH:
            lines += map(_line, say("help.plays", lang).split("\n"))
        lines += [command.line(lang) for command in ALL if command.part == part]
    return lines


def _line(text: str) -> str:
    usage, _, about = text.partition("|")
    gap = " " * max(2, _WIDTH - cell_len(usage))
    return f"  {usage}{gap}{about}"
