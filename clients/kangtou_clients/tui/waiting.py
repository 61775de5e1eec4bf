"""Waiting for a match: at a table until it is full, or in the queue."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Static

from kangtou.v1 import lobby_pb2 as pb

from ..api import ApiError, Place, Refused, Wanted
from ..desk.room import refusal_text
from ..desk.text import table_options
from .look import FAINT, GOLD, RED, Look

if TYPE_CHECKING:
    from .app import Play

BUTTONS = ("ready", "start", "fill", "stand")

CSS = """
{name} {{ align: center middle; }}
{name} > Vertical {{
    width: 60; height: auto; border: round $secondary; background: $surface; padding: 1 2;
}}
{name} Static {{ height: auto; margin-bottom: 1; }}
{name} Horizontal {{ height: 1; }}
{name} Button {{ margin-right: 2; }}
"""


class Filling(ModalScreen[str]):
    """At a table. Gives the match that has begun; "": the seat is given back."""

    DEFAULT_CSS = CSS.format(name="Filling")
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "stand", show=False)]

    def __init__(self, place: Place) -> None:
        super().__init__()
        self._place = place
        self._table: pb.Table | None = None
        self._problem = ""

    @property
    def play(self) -> Play:
        """The program."""
        app: Play = self.app  # type: ignore[assignment]
        return app

    def compose(self) -> ComposeResult:
        """Who sits there, and what can be done."""
        with Vertical():
            yield Static(id="text")
            with Horizontal(id="buttons"):
                for name in BUTTONS:
                    yield Button(id=name, compact=True)

    def on_mount(self) -> None:
        """Look at the table."""
        self.relabel()
        self.query_one("#stand").focus()
        self.follow()

    def relabel(self) -> None:
        """In the language of now."""
        look, table = self.play.look, self._table
        lines = [Text(look.say("waiting.code", match=self._place.match_id), FAINT)]
        if table is not None:
            lines += self._seats(table, look)
        if self._problem:
            lines.append(Text(self._problem, RED))
        self.query_one("#text", Static).update(Text("\n").join(lines))
        offered = _offered(table, self._place.seat) if table is not None else {"stand"}
        for name in BUTTONS:
            button = self.query_one(f"#{name}", Button)
            button.label = look.say(f"button.{name}")
            button.display = name in offered

    def _seats(self, table: pb.Table, look: Look) -> list[Text]:
        free = sum(not seat.account_id for seat in table.seats)
        said = look.say("waiting.table", free=free) if free else look.say(f"waiting.{_rule(table)}")
        lines = [Text(said, GOLD), Text(table_options(table), FAINT)]
        for number, seat in enumerate(table.seats):
            name = seat.name or seat.account_id or look.say("free")
            mark = "▶ " if number == self._place.seat else "  "
            ready = "  ✓ " + look.say("is_ready") if seat.ready else ""
            style = "" if seat.account_id else FAINT
            lines.append(Text(f"{mark}{look.say('seat', seat=number)}  {name}{ready}", style))
        return lines

    @work(group="fill", exclusive=True)
    async def follow(self) -> None:
        """Until the match begins, or the table is gone."""
        begun = ""
        try:
            async with aclosing(self.play.room.filling(self._place.match_id)) as tables:
                async for table in tables:
                    if isinstance(table, Refused):
                        break
                    self._table = table
                    self.relabel()
                    if table.state != pb.TABLE_STATE_OPEN:
                        begun = table.current_match_id or table.match_id
        except ApiError as error:
            self.play.notify(self.play.look.say("server_says", text=error), severity="error")
        self.dismiss(begun)

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """One of the things that can be done."""
        if event.button.id == "stand":
            self.action_stand()
        else:
            self.do(str(event.button.id))

    @work(group="do", exclusive=True)
    async def do(self, name: str) -> None:
        """Ready, start, fill."""
        tables = self.play.room.client.tables
        match_id = self._place.match_id
        try:
            if name == "ready":
                found = await tables.ready(match_id)
            else:
                found = await (tables.start(match_id) if name == "start" else tables.fill(match_id))
        except ApiError as error:
            self._problem = self.play.look.say("server_says", text=error)
        else:
            self._problem = refusal_text(found, self.play.look.lang) if isinstance(found, Refused) else ""
        self.relabel()

    @work(group="stand", exclusive=True)
    async def action_stand(self) -> None:
        """Give the seat back; too late, if the match has begun."""
        try:
            stood = await self.play.room.client.lobby.stand(self._place.match_id)
        except ApiError:
            return  # the button is still there
        if not isinstance(stood, Refused):
            self.dismiss("")


def _rule(table: pb.Table) -> str:
    """What is waited for once all seats are taken."""
    rules = {pb.START_RULE_READY: "ready", pb.START_RULE_OWNER: "owner"}
    return rules.get(table.start, "starting")


def _offered(table: pb.Table, seat: int) -> set[str]:
    """The buttons that make sense now."""
    own = table.seats[seat]
    owner = table.owner_id == own.account_id and bool(own.account_id)
    offered = {"stand"}
    if _rule(table) != "starting" and not own.ready:
        offered.add("ready")
    if _rule(table) == "owner" and owner:
        offered.add("start")
    if owner and any(not one.account_id for one in table.seats):
        offered.add("fill")
    return offered


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
