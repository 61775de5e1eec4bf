"""Where the user of the line mode is, and what all commands share: the room, how lines are written, what goes on."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol, TypeVar

from ..api import Account, Match, Place, Refused
from ..desk.room import Room, refusal_text
from ..desk.standing import StandsBy
from ..render import Renderer
from .asked import Bad
from .commands import ANY, COMPANY, LOBBY, MATCH, QUEUE, TABLE
from .table import AtTable, followed
from .view import View
from .words import say

T = TypeVar("T")
Handlers = Mapping[str, Callable[[list[str]], Awaitable[None]]]


class Waiting(Protocol):
    """Something that goes on while lines are typed: a table that fills, the queue, another match.

    part  where one is meanwhile, as commands are listed
    """

    part: str
    match_id: str

    async def run(self) -> Place | Waiting | None:
        """Until a match has begun (one's place in it), something else goes on, or it came to nothing."""
        ...

    async def stop(self) -> None:
        """Ctrl-C, or the end of the input: give the seat or the ticket back."""
        ...


class Here:
    """At most one match that is followed (`table`) and one thing that goes on (`waiting`). `put` writes a line."""

    def __init__(self, room: Room, render: Renderer, put: Callable[[str], None]) -> None:
        self.room, self.render, self._put = room, render, put
        self.table: AtTable | None = None
        self.waiting: Waiting | None = None
        self.going: asyncio.Task[Place | Waiting | None] | None = None  # the work of `waiting`
        self.order = "game"
        self._stands_by = StandsBy(room.session)
        self._me: Account | None = None

    # ---- lines ----

    @property
    def lang(self) -> str:
        """The language of now."""
        return self.render.lang

    def put(self, text: str) -> None:
        """A line as it is."""
        self._put(text)

    def lines(self, lines: Sequence[str]) -> None:
        """Lines as they are."""
        for line in lines:
            self._put(line)

    def text(self, code: str, **params: object) -> str:
        """A text of the catalogue."""
        return say(code, self.lang, **params)

    def say(self, code: str, **params: object) -> None:
        """A line of the catalogue."""
        self._put(self.text(code, **params))

    def given(self, result: T | Refused) -> T:
        """What was asked for. Raises Bad for a refusal."""
        if isinstance(result, Refused):
            raise Bad(self.text("refused_plain", text=refusal_text(result, self.lang)))
        return result

    async def me(self) -> Account:
        """Whose client this is."""
        if self._me is None:
            self._me = await self.room.client.accounts.who_am_i()
        return self._me

    # ---- where one is ----

    @property
    def parts(self) -> frozenset[str]:
        """The parts of the list of commands that can be given here."""
        if self.waiting is not None:
            found = {self.waiting.part}
        elif self.table is None:
            found = {LOBBY}
        else:
            found = {MATCH, LOBBY} if self.table.match.over else {MATCH}
        company = {COMPANY} if found & {MATCH, TABLE} else set()
        return frozenset((*found, *company, ANY))

    def need(self, part: str) -> None:
        """Raise Bad unless commands of this part can be given here."""
        parts = self.parts
        if part not in parts:
            busy = next(iter(parts & {MATCH, TABLE, QUEUE}), MATCH)
            raise Bad(self.text(f"busy.{busy}" if part == LOBBY else f"only.{part}"))

    def match_id(self) -> str:
        """The match, or the table that fills, at which one is. Raises Bad."""
        if self.waiting is not None and self.waiting.match_id:
            return self.waiting.match_id
        return self.at_table().match.match_id

    def at_table(self) -> AtTable:
        """The match that is followed. Raises Bad."""
        if self.table is None:
            raise Bad(self.text("only.match"))
        return self.table

    # ---- in and out ----

    async def wait_for(self, waiting: Waiting) -> None:
        """Let something go on while lines are typed; it has begun when this returns."""
        self.waiting = waiting
        self.going = asyncio.create_task(waiting.run())
        await asyncio.sleep(0)

    async def came(self) -> None:
        """What goes on has ended: into the match, on to what comes next, or back. Raises Bad, ApiError."""
        going, self.waiting, self.going = self.going, None, None
        assert going is not None
        if going.cancelled():
            return
        found = going.result()
        if isinstance(found, Place):
            self.room.keep(found)
            await self.begin(self.given(await self.room.enter(found.match_id, found.seat, found.entropy)))
        elif found is not None:
            await self.leave_quietly()
            await self.wait_for(found)

    async def no_longer(self) -> None:
        """End what goes on without asking anybody."""
        going, self.waiting, self.going = self.going, None, None
        if going is not None:
            going.cancel()
            await asyncio.gather(going, return_exceptions=True)

    async def begin(self, match: Match) -> None:
        """Be at the table of a match that is followed."""
        await self.leave_quietly()
        self.render = dataclasses.replace(self.render, names=tuple(player.name for player in match.players))
        self.table = AtTable(View(match, self.render, self.order), self._stands_by, self.lines)
        self.say(followed(match), match=match.match_id, seat=match.seat)
        self.lines(self.table.view.table())

    async def leave_quietly(self) -> None:
        """Follow no match any more."""
        if self.table is not None:
            await self.table.leave()
            await self.room.session.leave(self.table.match)
            self.table = None

    def look(self, render: Renderer) -> None:
        """Another language, or other glyphs."""
        self.render = render
        if self.table is not None:
            self.table.view.render = render
