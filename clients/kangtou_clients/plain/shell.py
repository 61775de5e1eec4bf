"""The commands of the line mode: one line typed, one thing done, in order."""

from __future__ import annotations

import asyncio
import dataclasses
import signal
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from kangtou_engine.cards import Seat
from kangtou_engine.errors import BadOptions
from kangtou_engine.options import option_from_text
from kangtou_engine.registry import REGISTRY
from kangtou_engine.words import explain

from .. import books
from ..api import ApiError, Match, Place, Refused, Wanted
from ..desk.room import Room, refusal_text
from ..desk.standing import StandsBy
from ..desk.text import SEAT_STATES, game_title, table_options, table_seats
from ..desk.words import LANGUAGES, say
from ..render import Renderer
from .input import Lines
from .table import AtTable, followed
from .view import View

T = TypeVar("T")


class Bad(Exception):
    """A line that cannot be done; the text is for people."""


class Shell:
    """Reads lines until quit or the end of the input. `put` writes a line."""

    def __init__(self, room: Room, render: Renderer, put: Callable[[str], None]) -> None:
        self.room, self.render, self._put = room, render, put
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

    # ---- saying ----

    def lines(self, lines: Sequence[str]) -> None:
        """Lines as they are."""
        for line in lines:
            self._put(line)

    def say(self, code: str, **params: object) -> None:
        """A line of the catalogue."""
        self._put(self.text(code, **params))

    def text(self, code: str, **params: object) -> str:
        """A text of the catalogue."""
        return say(code, self.render.lang, **params)

    def given(self, result: T | Refused) -> T:
        """What was asked for. Raises Bad for a refusal."""
        if isinstance(result, Refused):
            raise Bad(self.text("refused_plain", text=refusal_text(result, self.render.lang)))
        return result

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

    # ---- finding a table ----

    async def _list(self, words: list[str]) -> None:
        tables = await self.room.tables(words[0] if words else "", playing=True)
        for table in tables:
            state = self.text(SEAT_STATES.get(table.state, "none"))
            seats = table_seats(table, self.render.lang)
            self._put(f"{table.match_id}  {table.choice.game}  {state}  {seats}  {table_options(table)}".rstrip())
        if not tables:
            self.say("no_tables")

    async def _games(self, words: list[str]) -> None:
        for name in REGISTRY.names():
            if not words or name == words[0]:
                self._put(f"{name}  {game_title(name, self.render.lang)}")
        for row in REGISTRY.game(self._game(words)).spec.option_rows if words else ():
            self._put(f"  {row.name}={str(row.default).lower()}  ({row.rule}: {row.allowed()})")

    def _game(self, words: list[str]) -> str:
        names = REGISTRY.names()
        if not words:
            raise Bad(self.text("which_game", games=", ".join(names)))
        if words[0] not in names:
            raise Bad(self.text("no_game", game=words[0], games=", ".join(names)))
        return words[0]

    def _wanted(self, words: list[str]) -> Wanted:
        game, options, seats = self._game(words), {}, 0
        rows = {row.name: row for row in REGISTRY.game(game).spec.option_rows}
        for word in words[1:]:
            name, equals, value = word.partition("=")
            if name == "seats" and value.isdigit():
                seats = int(value)
                continue
            if not equals or name not in rows:
                raise Bad(self.text("bad_option", text=word))
            try:
                options[name] = option_from_text(rows[name], value)
            except BadOptions as error:
                raise Bad(explain(REGISTRY.game(game).spec.words, error, self.render.lang)) from error
        return Wanted(game, seats=seats, options=options)

    async def _quick(self, words: list[str]) -> None:
        self._free()
        wanted = self._wanted(words)
        async with self.room.client.lobby.quick(wanted) as queue:
            place = await self._interruptible(self._queued(queue))
        if place is None:
            self.say("cancelled")
        else:
            place = self.given(place)
            self.room.keep(place)
            await self._go_in(place.match_id, place.seat, place.entropy)

    async def _queued(self, queue: object) -> Place | Refused:
        from ..api import QuickMatch

        assert isinstance(queue, QuickMatch)
        async for status in queue.statuses():
            if status.refused is not None:
                return status.refused
            if status.state == "ready":
                return Place(status.match_id, status.seat, queue.entropy)
            self.say({"waiting": "queued"}.get(status.state, status.state), waiting=status.waiting)
        return Refused("", "cancelled", self.text("cancelled"), self.text("cancelled"))

    async def _open(self, words: list[str]) -> None:
        self._free()
        table = self.given(await self.room.client.lobby.open(self._wanted(words)))
        await self._sat(self.given(await self.room.sit(table.match_id)))

    async def _sit(self, words: list[str]) -> None:
        self._free()
        seat = int(words[1]) if len(words) > 1 and words[1].isdigit() else None
        await self._sat(self.given(await self.room.sit(self._match(words), seat)))

    async def _sat(self, place: Place) -> None:
        """Wait for the others; Ctrl-C gives the seat back."""
        began = await self._interruptible(self._filled(place))
        if began is None:
            self.given(await self.room.client.lobby.stand(place.match_id))
            self.say("stood")
        else:
            await self._go_in(place.match_id, place.seat, place.entropy)

    async def _filled(self, place: Place) -> bool:
        async for table in self.room.filling(place.match_id):
            table = self.given(table)
            free = sum(not seat.account_id for seat in table.seats)
            self.say("seated", match=place.match_id, seat=place.seat, free=free)
        return True

    async def _interruptible(self, work: Awaitable[T]) -> T | None:
        """The result, or None after Ctrl-C."""
        task = asyncio.ensure_future(work)
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, task.cancel)
        try:
            return await task
        except asyncio.CancelledError:
            if not task.cancelled():
                raise
            return None
        finally:
            loop.remove_signal_handler(signal.SIGINT)

    # ---- in and out ----

    def _match(self, words: list[str]) -> str:
        if not words:
            raise Bad(self.text("which_match"))
        return words[0]

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
