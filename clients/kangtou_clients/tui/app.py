"""The program behind the screens: server, look, and what is common to all."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Coroutine
from typing import Any, ClassVar, TypeVar

from textual.app import App
from textual.binding import Binding, BindingType
from textual.theme import Theme

from kangtou.v1 import party_pb2

from ..api import Match, Place
from ..desk.room import Room
from ..desk.standing import StandsBy
from .follow import Pace
from .look import Look

T = TypeVar("T")

# A warm lamp over dark green: quiet enough for an evening, with the cards as the brightest thing.
THEME = Theme(
    name="kangtou",
    primary="#d7a94b",
    secondary="#5fa787",
    accent="#ffd75f",
    foreground="#e6ece8",
    background="#10241c",
    surface="#173328",
    panel="#0b1a14",
    success="#7fc79a",
    warning="#ffd75f",
    error="#ff6b81",
    dark=True,
)


class Play(App[None]):
    """`kangtou play`. `start` is a match to go to at once."""

    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f2", "language", show=False, priority=True),
        Binding("ctrl+q", "quit", show=False, priority=True),
    ]
    CSS = """
    Screen { background: $background; color: $foreground; }
    """

    def __init__(
        self, room: Room, look: Look, pace: Pace, *, name: str = "", start: Match | None = None, only: bool = False
    ) -> None:
        super().__init__()
        self.room, self.look, self.pace, self.user = room, look, pace, name
        self.stands_by = StandsBy(room.session)
        self._first, self._only = start, only  # a match to go to at once; whether that is all
        self.closing = asyncio.Event()
        self.party: party_pb2.Party | None = None  # one's own, while it is not over
        self._account = ""
        self._tasks: set[asyncio.Task[Any]] = set()
        self.register_theme(THEME)
        self.theme = THEME.name

    def on_mount(self) -> None:
        """The lobby, or the match that was asked for."""
        from .lobby import LobbyScreen

        self.title = self.look.say("title")
        self.push_screen(LobbyScreen())
        if self._first is not None:
            self.enter(self._first)

    def enter(self, match: Match) -> None:
        """To the table of a match that is followed."""
        from .company import Company
        from .seat import Seat

        client = self.room.client
        screen = Company(match, client) if match.seat is None else Seat(match, client, self.stands_by)
        self.push_screen(screen, lambda _: self._left(match))

    async def account(self) -> str:
        """Whose client this is. Raises ApiError."""
        if not self._account:
            self._account = (await self.room.client.accounts.who_am_i()).account_id
        return self._account

    def sit_again(self, place: Place) -> None:
        """At a table that fills again after its match."""
        from .lobby import LobbyScreen

        for screen in self.screen_stack:
            if isinstance(screen, LobbyScreen):
                screen.wait_at(place)

    async def background(self, work: Coroutine[Any, Any, T]) -> T:
        """Wait for something that must come to its end in order even if its screen, or the program, ends before."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return await asyncio.shield(task)

    async def settled(self) -> None:
        """After the program: what still runs is told, and comes to its end in order."""
        self.closing.set()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _left(self, match: Match) -> None:
        if self._only:
            self.exit()
        else:
            self.run_worker(self.room.session.leave(match))

    def open_book(self, book: str, rule: str = "") -> None:
        """A rule book, at a rule."""
        from .book import Book

        self.push_screen(Book(book, rule))

    # ---- the look ----

    def action_language(self) -> None:
        """The other language, at once on all screens."""
        self.look = self.look.other_language()
        self.relabel()

    def action_letters(self) -> None:
        """Suits as letters, or as glyphs."""
        self.look = dataclasses.replace(self.look, letters=not self.look.letters)
        self.relabel()

    def relabel(self) -> None:
        """Every screen writes its texts anew."""
        self.title = self.look.say("title")
        for screen in self.screen_stack:
            again = getattr(screen, "relabel", None)
            if again is not None:
                again()
