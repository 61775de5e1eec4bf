"""The loop of the line mode: one line typed, one thing done, in order; what goes on meanwhile is said as it happens."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import signal
from collections.abc import Awaitable, Callable, Iterator

from .. import books
from ..api import ApiError
from ..desk.room import Room
from ..desk.words import LANGUAGES
from ..render import Renderer
from .asked import Bad
from .commands import BY_WORD, MATCH, QUEUE, TABLE, help_lines
from .company import Company
from .finding import Finding
from .here import Here
from .input import Lines
from .people import Others
from .playing import Playing
from .practising import practise
from .seating import Seating


class Shell:
    """Reads lines until quit or the end of the input. `put` writes a line; `only`: until the table is left."""

    def __init__(self, room: Room, render: Renderer, put: Callable[[str], None], *, only: bool = False) -> None:
        self.here = Here(room, render, put)
        self._only, self._ends = only, False
        self._break = asyncio.Event()  # Ctrl-C
        self._work: asyncio.Task[None] | None = None  # the line that is being done
        self._lines: Lines | None = None
        finding, others = Finding(self.here), Others(self.here)
        self._handlers = {
            **finding.handlers(),
            **Seating(self.here).handlers(),
            **Playing(self.here, finding).handlers(),
            **Company(self.here, others).handlers(),
            **others.handlers(),
            "practice": self._practice,
            "wait": self._wait,
            "rules": self._rules,
            "lang": self._lang,
            "letters": self._letters,
            "help": self._help,
            "quit": self._quit,
        }

    # ---- the loop ----

    async def run(self, lines: Lines) -> None:
        """Until quit or the end of the input. A seat at a table that fills, or a ticket, is given back at the end."""
        self._lines = lines
        typed: asyncio.Task[str | None] | None = None
        try:
            with self._interrupts():
                while not self._ends:
                    typed = typed or asyncio.create_task(lines.next())
                    if not await self._next(typed):
                        continue
                    line, typed = typed.result(), None
                    if line is None:
                        break
                    await self._kept(self._one(line))
        finally:
            if typed is not None:
                typed.cancel()
            await self._end()

    async def _next(self, typed: asyncio.Task[str | None]) -> bool:
        """Wait for a line (True), for Ctrl-C, or for what goes on; the latter two are done here."""
        here = self.here
        stop = asyncio.create_task(self._break.wait())
        try:
            wanted = {typed, stop, here.going} if here.going is not None else {typed, stop}
            await asyncio.wait(wanted, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stop.cancel()
        if self._break.is_set():
            self._break.clear()
            if here.waiting is not None:
                await self._kept(here.waiting.stop())
            return False
        if here.going is not None and here.going.done():
            await self._kept(here.came())
            return False
        return typed.done()

    async def _end(self) -> None:
        here = self.here
        with contextlib.suppress(Bad, ApiError):  # the match has begun meanwhile, or the server is gone
            if here.waiting is not None:
                await here.waiting.stop()
        await here.no_longer()
        if here.table is not None:
            await here.table.leave()

    async def _kept(self, work: Awaitable[None]) -> None:
        """Do something; what is wrong with it is said. Ctrl-C ends it."""
        self._work = asyncio.ensure_future(work)
        try:
            await self._work
        except Bad as bad:
            self.here.put(str(bad))
        except ApiError as error:
            self.here.say("server_says", text=error)
        except asyncio.CancelledError:
            if not self._break.is_set():
                raise
            self._break.clear()
            self.here.say("stopped")
        finally:
            self._work = None

    async def _one(self, line: str) -> None:
        word, *rest = line.split() or [""]
        command, here = BY_WORD.get(word), self.here
        if not line:
            return
        playing = here.table is not None and not here.table.match.over
        book = playing and command is not None and command.part in (TABLE, QUEUE)  # `ready` is a verb, too
        if command is not None and (command.part in here.parts or not book):
            here.need(command.part)
            await self._handlers[command.code](rest)
        elif MATCH in here.parts:
            await here.at_table().act(line)  # a word of the book
        else:
            here.say("unknown", text=line)
        self._ends = self._ends or (self._only and here.table is None)

    @contextlib.contextmanager
    def _interrupts(self) -> Iterator[None]:
        """Ctrl-C ends what is being done, gives back what is waited for, or else ends the program.

        At a practice table it ends the practice: the shell around this one sees to it.
        """
        if self._only:
            yield
            return
        loop, before = asyncio.get_running_loop(), signal.getsignal(signal.SIGINT)

        def interrupted() -> None:
            if self._work is not None:
                self._break.set()
                self._work.cancel()
            elif self.here.waiting is not None:
                self._break.set()
            elif callable(before):
                before(signal.SIGINT, None)

        loop.add_signal_handler(signal.SIGINT, interrupted)
        try:
            yield
        finally:
            loop.remove_signal_handler(signal.SIGINT)
            signal.signal(signal.SIGINT, before)

    # ---- anywhere ----

    async def _wait(self, words: list[str]) -> None:
        """Until the seat is asked, or it is over, through all that goes on before."""
        here = self.here
        while here.going is not None:
            await asyncio.wait({here.going})
            await here.came()
        if here.table is not None:
            await here.table.wait()

    async def _practice(self, words: list[str]) -> None:
        assert self._lines is not None
        self.here.say("matched")
        await practise(self.here, self._lines, words)

    async def _quit(self, words: list[str]) -> None:
        self._ends = True

    async def _help(self, words: list[str]) -> None:
        found = help_lines(self.here.lang, words[0] if words else "")
        if not found:
            raise Bad(self.here.text("unknown", text=" ".join(words)))
        self.here.lines(found)

    async def _lang(self, words: list[str]) -> None:
        here = self.here
        if words and words[0] not in LANGUAGES:
            raise Bad(here.text("unknown", text=words[0]))
        other = LANGUAGES[1 - LANGUAGES.index(here.lang)]
        here.look(dataclasses.replace(here.render, lang=words[0] if words else other))
        here.say("language")

    async def _letters(self, words: list[str]) -> None:
        here = self.here
        here.look(dataclasses.replace(here.render, letters=not here.render.letters))
        if here.table is not None:
            here.lines(here.table.view.hand())

    async def _rules(self, words: list[str]) -> None:
        here = self.here
        wanted = words[0] if words else here.table.rule if here.table is not None else ""
        try:
            if not wanted:
                here.say("books", books=", ".join(books.names()))
                return
            text = books.book(wanted)
            if text is None:
                text = books.rule(books.book(books.book_of(wanted.upper()) or "") or "", wanted.upper())
        except books.BooksMissing:
            raise Bad(here.text("no_books")) from None
        here.put(text.rstrip() if text else here.text("no_rule", rule=wanted))
