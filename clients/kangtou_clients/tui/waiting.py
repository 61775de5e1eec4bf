"""Waiting for a match: at a table until it is full, or in the queue."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from kangtou.v1 import lobby_pb2 as pb

from ..api import ApiError, Place, Refused, Wanted
from ..desk.text import table_options
from .look import FAINT, GOLD, Look

if TYPE_CHECKING:
    from .app import Play

CSS = """
{name} {{ align: center middle; }}
{name} > Vertical {{
    width: 60; height: auto; border: round $secondary; background: $surface; padding: 1 2;
}}
{name} Static {{ height: auto; margin-bottom: 1; }}
"""


class Filling(ModalScreen[bool]):
    """At a table. True: the match has begun; False: the seat is given back."""

    DEFAULT_CSS = CSS.format(name="Filling")
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "stand", show=False)]

    def __init__(self, place: Place) -> None:
        super().__init__()
        self._place = place
        self._table: pb.Table | None = None

    @property
    def play(self) -> Play:
        """The program."""
        app: Play = self.app  # type: ignore[assignment]
        return app

    def compose(self) -> ComposeResult:
        """Who sits there."""
        with Vertical():
            yield Static(id="text")
            yield Button(id="stand", compact=True)

    def on_mount(self) -> None:
        """Look at the table."""
        self.relabel()
        self.query_one("#stand").focus()
        self.follow()

    def relabel(self) -> None:
        """In the language of now."""
        look = self.play.look
        self.query_one("#stand", Button).label = look.say("button.stand")
        lines = [Text(look.say("waiting.code", match=self._place.match_id), FAINT)]
        if self._table is not None:
            lines += self._seats(self._table, look)
        self.query_one("#text", Static).update(Text("\n").join(lines))

    def _seats(self, table: pb.Table, look: Look) -> list[Text]:
        free = sum(not seat.account_id for seat in table.seats)
        said = look.say("waiting.table", free=free) if free else look.say("waiting.starting")
        lines = [Text(said, GOLD), Text(table_options(table), FAINT)]
        for number, seat in enumerate(table.seats):
            name = seat.name or seat.account_id or look.say("free")
            mark = "▶ " if number == self._place.seat else "  "
            lines.append(Text(f"{mark}{look.say('seat', seat=number)}  {name}", "" if seat.account_id else FAINT))
        return lines

    @work(group="fill", exclusive=True)
    async def follow(self) -> None:
        """Until the match begins, or the table is gone."""
        try:
            async for table in self.play.room.filling(self._place.match_id):
                if isinstance(table, Refused):
                    self.dismiss(False)
                    return
                self._table = table
                self.relabel()
        except ApiError:
            self.dismiss(False)
            return
        self.dismiss(True)

    def on_button_pressed(self) -> None:
        """Stand up."""
        self.action_stand()

    @work(group="stand", exclusive=True)
    async def action_stand(self) -> None:
        """Give the seat back; too late, if the match has begun."""
        try:
            stood = await self.play.room.client.lobby.stand(self._place.match_id)
        except ApiError:
            return  # the button is still there
        if not isinstance(stood, Refused):
            self.dismiss(False)


class Queueing(ModalScreen[Place | Refused | None]):
    """In the queue. None: the ticket is taken back."""

    DEFAULT_CSS = CSS.format(name="Queueing")
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", show=False)]

    def __init__(self, wanted: Wanted) -> None:
        super().__init__()
        self._wanted = wanted
        self._code, self._waiting = "waiting.starting", 0

    @property
    def play(self) -> Play:
        """The program."""
        app: Play = self.app  # type: ignore[assignment]
        return app

    def compose(self) -> ComposeResult:
        """How many wait."""
        with Vertical():
            yield Static(id="text")
            yield Button(id="cancel", compact=True)

    def on_mount(self) -> None:
        """Into the queue."""
        self.relabel()
        self.query_one("#cancel").focus()
        self.queue()

    def relabel(self) -> None:
        """In the language of now."""
        look = self.play.look
        self.query_one("#text", Static).update(Text(look.say(self._code, waiting=self._waiting), GOLD))
        self.query_one("#cancel", Button).label = look.say("button.cancel")

    @work(group="queue", exclusive=True)
    async def queue(self) -> None:
        """Until there is a table."""
        try:
            async with self.play.room.client.lobby.quick(self._wanted) as queue:
                async for status in queue.statuses():
                    if status.refused is not None:
                        self.dismiss(status.refused)
                        return
                    if status.state == "ready":
                        self.dismiss(Place(status.match_id, status.seat, queue.entropy))
                        return
                    self._code = "waiting.matched" if status.state == "matched" else "waiting.queue"
                    self._waiting = status.waiting
                    self.relabel()
        except ApiError as error:
            text = self.play.look.say("server_says", text=error)
            self.dismiss(Refused("", "unavailable", text, text))

    def on_button_pressed(self) -> None:
        """Cancel."""
        self.action_cancel()

    def action_cancel(self) -> None:
        """Leave the queue: ending the worker takes the ticket back."""
        self.workers.cancel_group(self, "queue")
        self.dismiss(None)
