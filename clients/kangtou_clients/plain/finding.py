"""Finding a table in the line mode: lists, opening, sitting down, the queue."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from kangtou_engine.cards import Seat
from kangtou_engine.errors import BadOptions
from kangtou_engine.options import option_from_text
from kangtou_engine.registry import REGISTRY
from kangtou_engine.words import explain

from ..api import Place, QuickMatch, Refused, Wanted
from ..desk.room import Room, refusal_text
from ..desk.text import SEAT_STATES, game_title, table_options, table_seats
from ..desk.words import say
from ..render import Renderer

T = TypeVar("T")


class Bad(Exception):
    """A line that cannot be done; the text is for people."""


class Finding:
    """The part of the shell before a match. `put` writes a line."""

    def __init__(self, room: Room, render: Renderer, put: Callable[[str], None]) -> None:
        self.room, self.render, self._put = room, render, put

    def _free(self) -> None:
        """Raise Bad while one is at a table."""
        raise NotImplementedError

    async def _go_in(self, match_id: str, seat: Seat | None, entropy: bytes) -> None:
        """To one's seat in a match."""
        raise NotImplementedError

    def _match(self, words: list[str]) -> str:
        if not words:
            raise Bad(self.text("which_match"))
        return words[0]

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

    async def _queued(self, queue: QuickMatch) -> Place | Refused:
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
