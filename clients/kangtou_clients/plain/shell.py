"""The commands of the line mode: one line typed, one thing done, in order."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable
from typing import TypeVar

from kangtou_engine.cards import Seat

from .. import books
from ..api import ApiError, Match
from ..desk.room import Room
from ..desk.standing import StandsBy
from ..desk.words import LANGUAGES
from ..render import Renderer
from . import company
from .finding import Bad, Finding
from .input import Lines
from .table import AtTable, followed
from .view import View

T = TypeVar("T")


class Shell(Finding):
    """Reads lines until quit or the end of the input. `put` writes a line."""

    def __init__(self, room: Room, render: Renderer, put: Callable[[str], None]) -> None:
        super().__init__(room, render, put)
        self.table: AtTable | None = None
        self._stands_by = StandsBy(room.session)
        self._words: dict[str, Callable[[list[str]], Awaitable[None]]] = {
            "help": self._help,
            "list": self._list,
            "games": self._games,
            "quick": self._quick,
            "open": self._open,
            "sit": self._sit,
            "enter": self._enter,
            "watch": self._watch,
            "say": self._say,
            "substitute": self._substitute,
            "back": self._back,
            "again": self._again,
            "rules": self._rules,
            "lang": self._lang,
            "letters": self._letters,
        }
        self._at_table: dict[str, Callable[[AtTable], Awaitable[None]]] = {
            "legal": _now(AtTable.legal),
            "hint": _now(AtTable.hint),
            "table": _now(lambda table: self.lines(table.view.table())),
            "hand": _now(lambda table: self.lines(table.view.hand())),
            "score": _now(lambda table: self.lines(table.view.score())),
            "log": _now(lambda table: self.lines(table.view.log())),
            "wait": AtTable.wait,
        }

    # ---- the loop ----

    async def run(self, lines: Lines) -> None:
        """Until quit or the end of the input."""
        try:
            while (line := await lines.next()) not in (None, "quit", "exit", "q"):
                assert line is not None
                await self._one(line)
        finally:
            if self.table is not None:
                await self.table.leave()

    async def _one(self, line: str) -> None:
        word, *rest = line.split() or [""]
        try:
            if word in self._words:
                await self._words[word](rest)
            elif word == "leave":
                await self._leave()
            elif word in self._at_table and not rest:
                await self._at_table[word](self._here())
            elif line and self.table is None:
                self.say("unknown", text=line)
            elif line:
                await self._here().act(line)
        except Bad as bad:
            self._put(str(bad))
        except ApiError as error:
            self.say("server_says", text=error)

    def _here(self) -> AtTable:
        if self.table is None:
            raise Bad(self.text("no_table_here"))
        return self.table

    # ---- in and out ----

    def _free(self) -> None:
        if self.table is not None and not self.table.match.over:
            raise Bad(self.text("at_table"))

    async def _enter(self, words: list[str]) -> None:
        self._free()
        await self._go_in(self._match(words), None, b"")

    async def _watch(self, words: list[str]) -> None:
        self._free()
        await self.begin(self.given(await self.room.watch(self._match(words))))

    async def _go_in(self, match_id: str, seat: Seat | None, entropy: bytes) -> None:
        await self.begin(self.given(await self.room.enter(match_id, seat, entropy)))

    async def begin(self, match: Match) -> None:
        """Be at the table of a match that is followed."""
        await self._leave_quietly()
        self.render = dataclasses.replace(self.render, names=tuple(player.name for player in match.players))
        self.table = AtTable(View(match, self.render), self._stands_by, self.lines)
        self.say(followed(match), match=match.match_id, seat=match.seat)
        self.lines(self.table.view.table())

    async def _leave(self) -> None:
        self._here()
        await self._leave_quietly()
        self.say("left")

    async def _leave_quietly(self) -> None:
        if self.table is not None:
            await self.table.leave()
            await self.room.session.leave(self.table.match)
            self.table = None

    # ---- company ----

    async def _say(self, words: list[str]) -> None:
        problem = await company.talk(self.room.client, self._here().match, " ".join(words), self.render.lang)
        if problem:
            raise Bad(problem)

    async def _substitute(self, words: list[str]) -> None:
        session, lang = self.room.session, self.render.lang
        self._put(await company.substitute(session, self._here().match, lang, wanted=True))

    async def _back(self, words: list[str]) -> None:
        session, lang = self.room.session, self.render.lang
        self._put(await company.substitute(session, self._here().match, lang, wanted=False))

    async def _again(self, words: list[str]) -> None:
        match = self._here().match
        if match.seat is None:
            raise Bad(self.text("unknown", text="again"))
        agreed = self.given(await company.agree(self.room.client, match))
        self.say("again")
        if await self._interruptible(company.settled(self.room.client, agreed)):
            await self._go_in(agreed.match_id, agreed.seat, agreed.entropy)
        else:
            self.say("not_again")

    # ---- anywhere ----

    async def _help(self, words: list[str]) -> None:
        self.say("help")

    async def _lang(self, words: list[str]) -> None:
        if words and words[0] not in LANGUAGES:
            raise Bad(self.text("unknown", text=words[0]))
        other = LANGUAGES[1 - LANGUAGES.index(self.render.lang)]
        self._look(dataclasses.replace(self.render, lang=words[0] if words else other))
        self.say("language")

    async def _letters(self, words: list[str]) -> None:
        self._look(dataclasses.replace(self.render, letters=not self.render.letters))
        if self.table is not None:
            self.lines(self.table.view.hand())

    def _look(self, render: Renderer) -> None:
        self.render = render
        if self.table is not None:
            self.table.view.render = render

    async def _rules(self, words: list[str]) -> None:
        wanted = words[0] if words else self.table.rule if self.table is not None else ""
        try:
            if not wanted:
                self.say("books", books=", ".join(books.names()))
                return
            text = books.book(wanted)
            if text is None:
                text = books.rule(books.book(books.book_of(wanted.upper()) or "") or "", wanted.upper())
        except books.BooksMissing:
            raise Bad(self.text("no_books")) from None
        self._put(text.rstrip() if text else self.text("no_rule", rule=wanted))


def _now(work: Callable[[AtTable], None]) -> Callable[[AtTable], Awaitable[None]]:
    """Something done at once, as a command."""

    async def command(table: AtTable) -> None:
        work(table)

    return command
