"""At a table that fills: who sits there, and what oneself and the owner can do until the match begins."""

from __future__ import annotations

from collections.abc import Awaitable
from contextlib import aclosing
from typing import ClassVar

from rich.text import Text
from textual import work
from textual.binding import Binding, BindingType
from textual.widgets import Button, Static

from kangtou.v1 import lobby_pb2 as pb

from ..api import ApiError, Place, Refused
from ..desk.room import refusal_text
from ..desk.tables import free_seats, option_lines, start_rule, tally_lines, terms_lines, warning
from ..desk.text import table_options
from ..desk.words import LANGUAGES
from .choose import Choose
from .dialog import Dialog
from .look import FAINT, GOLD, RED, Look
from .sheets import Page, Write
from .words import say


class Filling(Dialog[Place | Refused | None]):
    """At a table. Gives the seat in the match that has begun; None: it was given back; Refused: why it is lost."""

    BUTTONS = ("ready", "unready", "start", "fill", "seat", "remove", "about", "stand")
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "stand", show=False)]

    def __init__(self, place: Place) -> None:
        super().__init__()
        self._place = place
        self._table: pb.Table | None = None
        self._seat = place.seat
        self._problem = ""
        self._standing = False  # the seat is being given back, so nobody is sent away

    def on_mount(self) -> None:
        """Look at the table."""
        self.relabel()
        self.query_one("#stand").focus()
        self.follow()

    # ---- what is shown ----

    def relabel(self) -> None:
        """In the language of now."""
        look, table = self.look, self._table
        lines = [Text(look.say("waiting.code", match=self._place.match_id), FAINT)]
        if table is not None:
            lines += self._lines(table, look)
        if self._problem:
            lines.append(Text(self._problem, RED))
        self.query_one("#text", Static).update(Text("\n").join(lines))
        self.offer(offered(table, self._seat) if table is not None else {"stand"})

    def _lines(self, table: pb.Table, look: Look) -> list[Text]:
        free = free_seats(table)
        rule = {"seated": "starting"}.get(start_rule(table), start_rule(table))
        lines = [Text(look.say("waiting.table", free=free) if free else look.say(f"waiting.{rule}"), GOLD)]
        if table.code:
            lines.append(Text(look.say("about.code", word=table.code), "bold"))
        if warning(table, look.lang):
            lines.append(Text(warning(table, look.lang), RED))
        if table_options(table):
            lines.append(Text(table_options(table), FAINT))
        for number, seat in enumerate(table.seats):
            name = seat.name or seat.account_id or look.say("free")
            mark = "▶ " if number == self._seat else "  "
            ready = "  ✓ " + look.say("is_ready") if seat.ready else ""
            owner = "  ♛" if seat.account_id and seat.account_id == table.owner_id else ""
            style = "" if seat.account_id else FAINT
            lines.append(Text(f"{mark}{look.say('seat', seat=number)}  {name}{owner}{ready}", style))
        return lines

    @work(group="fill", exclusive=True)
    async def follow(self) -> None:
        """Until the match begins, or the seat or the table is gone."""
        try:
            me = await self.play.account()
            async with aclosing(self.play.room.filling(self._place.match_id)) as tables:
                async for table in tables:
                    if isinstance(table, Refused):
                        away = table.code == "code_needed"  # a private table is not told to those who are sent away
                        self._gone(_sent_away() if away else table)
                        return
                    own = [number for number, seat in enumerate(table.seats) if seat.account_id == me]
                    if not own:
                        self._gone(_sent_away())
                        return
                    self._table, self._seat = table, own[0]
                    self.relabel()
                    if table.state != pb.TABLE_STATE_OPEN:
                        match_id = table.current_match_id or table.match_id
                        self.dismiss(Place(match_id, own[0], self._place.entropy))
                        return
            self.dismiss(None)
        except ApiError as error:
            text = self.look.say("server_says", text=error)
            self.dismiss(Refused("", "unavailable", text, text))

    def _gone(self, why: Refused) -> None:
        """The seat is lost, or given back: the list may tell it before the answer does."""
        self.dismiss(None if self._standing else why)

    # ---- what can be done ----

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """One of the things that can be done."""
        name, tables, match_id = event.button.id, self.play.room.client.tables, self._place.match_id
        if name == "stand":
            self.action_stand()
        elif name == "about":
            self.about()
        elif name == "seat":
            self.change_seat()
        elif name == "remove":
            self.remove_player()
        elif name in ("ready", "unready"):
            self.do(tables.ready(match_id, name == "ready"))
        else:
            self.do(tables.start(match_id) if name == "start" else tables.fill(match_id))

    @work(group="do")
    async def do(self, asking: Awaitable[pb.Table | Refused]) -> None:
        """Ask for it; why not, is shown here."""
        await self._do(asking)

    async def _do(self, asking: Awaitable[pb.Table | Refused]) -> None:
        try:
            found = await asking
        except ApiError as error:
            self._problem = self.look.say("server_says", text=error)
        else:
            self._problem = refusal_text(found, self.look.lang) if isinstance(found, Refused) else ""
        self.relabel()

    @work(group="choose", exclusive=True)
    async def change_seat(self) -> None:
        """Another free seat."""
        assert self._table is not None
        free = [number for number, seat in enumerate(self._table.seats) if not seat.account_id]
        rows = [self.look.say("seat", seat=number) for number in free]
        chosen = await self.app.push_screen_wait(Choose(self.look.say("which_seat"), rows))
        if chosen is not None:
            await self._do(self.play.room.client.tables.change_seat(self._place.match_id, free[chosen]))

    @work(group="choose", exclusive=True)
    async def remove_player(self) -> None:
        """As the owner: somebody else."""
        assert self._table is not None
        others = [seat for number, seat in enumerate(self._table.seats) if seat.account_id and number != self._seat]
        rows = [seat.name or seat.account_id for seat in others]
        chosen = await self.app.push_screen_wait(Choose(self.look.say("which_player"), rows))
        if chosen is not None:
            account = others[chosen].account_id
            await self._do(self.play.room.client.tables.remove(self._place.match_id, account))

    def about(self) -> None:
        """All that was agreed on."""
        if self._table is not None:
            self.app.push_screen(Page(about_page(self._table), lambda: self.look))

    @work(group="stand", exclusive=True)
    async def action_stand(self) -> None:
        """Give the seat back; too late, if the match has begun."""
        self._standing = True
        try:
            stood = await self.play.room.client.lobby.stand(self._place.match_id)
        except ApiError:
            self._standing = False
            return  # the button is still there
        self._standing = not isinstance(stood, Refused)
        if self._standing:
            self.workers.cancel_group(self, "fill")
            self.dismiss(None)


def about_page(table: pb.Table) -> Write:
    """Terms, every option with its rule, and how it stands after the matches so far."""

    def write(look: Look) -> tuple[str, Text]:
        lines = [*terms_lines(table, look.lang), "", *option_lines(table)]
        tally = tally_lines(table, look.lang)
        return look.say("table.about"), Text("\n".join([*lines, "", *tally] if tally else lines))

    return write


def offered(table: pb.Table, seat: int) -> set[str]:
    """The buttons that make sense now."""
    own = table.seats[seat]
    owner = table.owner_id == own.account_id and bool(own.account_id)
    rule, names = start_rule(table), {"stand", "about"}
    if rule != "seated":
        names.add("unready" if own.ready else "ready")
    if rule == "owner" and owner:
        names.add("start")
    if free_seats(table):
        names |= {"seat", "fill"} if owner else {"seat"}
    if owner and any(one.account_id and number != seat for number, one in enumerate(table.seats)):
        names.add("remove")
    return names


def _sent_away() -> Refused:
    english, chinese = (say("sent_away", lang) for lang in LANGUAGES)
    return Refused("", "sent_away", english, chinese)
