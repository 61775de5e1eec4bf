"""Ladders, and who somebody is: ratings, profile, the last matches; blocking."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import DataTable, OptionList, Static
from textual.widgets.option_list import Option

from kangtou.v1 import rating_pb2

from ..api import ApiError, Refused
from ..api.accounts import NAMES
from ..api.archive import Archive
from ..api.people import People
from ..desk.people import ladder_text, profile_lines, rating_text, record_text
from ..desk.room import refusal_text
from .inside import Inside
from .look import RED, Look
from .sheets import Page, Write

ROWS_MOST = 100
RECENT = 10
COLUMNS = ("rank", "name", "rating", "floor", "results")


class Ladders(Inside[None]):
    """The ladders at the left, the best of one at the right."""

    DEFAULT_CSS = """
    Ladders #head { height: 1; background: $panel; padding: 0 1; text-style: bold; }
    Ladders #body { height: 1fr; }
    Ladders OptionList { width: 24; height: 100%; border: round $secondary; background: $background; }
    Ladders DataTable { width: 1fr; height: 100%; border: round $secondary; background: $background; }
    Ladders #says { height: auto; max-height: 3; padding: 0 1; }
    Ladders #keys { height: 1; color: $text-muted; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", show=False),
        Binding("m", "mine", show=False),
        Binding("b", "block(True)", show=False),
        Binding("n", "block(False)", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.ladders: tuple[rating_pb2.Ladder, ...] = ()
        self.rows: list[rating_pb2.LeaderboardRow] = []

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        yield Static(id="head", markup=False)
        with Horizontal(id="body"):
            yield OptionList(id="ladders", markup=False)
            yield DataTable(id="rows", cursor_type="row")
        yield Static(id="says", markup=False)
        yield Static(id="keys", markup=False)

    def on_mount(self) -> None:
        """Ask for the ladders."""
        self.relabel()
        self.query_one("#rows").focus()
        self.load()

    def relabel(self) -> None:
        """In the language of now."""
        look = self.look
        self.query_one("#head", Static).update(look.say("people"))
        self.query_one("#keys", Static).update(look.say("keys.people"))
        options = self.query_one("#ladders", OptionList)
        at = options.highlighted or 0
        with self.prevent(OptionList.OptionHighlighted):
            options.clear_options()
            options.add_options(Option(ladder_text(ladder, look.lang)) for ladder in self.ladders)
            options.highlighted = at if self.ladders else None
        self._fill()

    def _fill(self) -> None:
        look, table = self.look, self.query_one("#rows", DataTable)
        at = table.cursor_row
        table.clear(columns=True)
        for column in COLUMNS:
            table.add_column(look.say(f"column.{column}"), key=column)
        for row in self.rows:
            rating, name = row.rating, Text(row.name or row.account_id, overflow="ellipsis", no_wrap=True)
            cells = (str(row.rank), name, rating_text(rating), str(rating.floor), str(rating.games))
            table.add_row(*cells, key=row.account_id)
        if self.rows:
            table.move_cursor(row=min(at, len(self.rows) - 1))

    @work(group="ladders", exclusive=True)
    async def load(self) -> None:
        """Those that there are, and the best of the first."""
        try:
            self.ladders = await People(self.play.room.client).ladders()
        except ApiError as error:
            self._say(self.look.say("server_says", text=error))
            return
        self.relabel()
        if self.ladders:
            self.rank(0)
        else:
            self._say(self.look.say("people.none"))

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Another ladder."""
        self.rank(event.option_index)

    @work(group="rows", exclusive=True)
    async def rank(self, number: int) -> None:
        """The best of one ladder."""
        ladder, rows = self.ladders[number], []
        try:
            people = People(self.play.room.client)
            async for row in people.leaderboard(ladder.game, ladder.variant, NAMES.get(ladder.kind, "human")):
                rows.append(row)
                if len(rows) == ROWS_MOST:
                    break
        except ApiError as error:
            self._say(self.look.say("server_says", text=error))
            return
        self.rows = rows
        self._fill()
        self._say("" if rows else self.look.say("people.nobody"))

    def _say(self, text: str) -> None:
        self.query_one("#says", Static).update(Text(text, RED))

    # ---- one of them ----

    def _chosen(self) -> rating_pb2.LeaderboardRow | None:
        at = self.query_one("#rows", DataTable).cursor_row
        return self.rows[at] if at < len(self.rows) else None

    def on_data_table_row_selected(self) -> None:
        """Who that is."""
        chosen = self._chosen()
        if chosen is not None:
            self.profile(chosen.account_id)

    def action_mine(self) -> None:
        """Who one is oneself."""
        self.profile("")

    @work(group="profile", exclusive=True)
    async def profile(self, account_id: str) -> None:
        """A page of its own; `account_id` "": one's own."""
        client = self.play.room.client
        try:
            found = await People(client).profile(account_id)
            if isinstance(found, Refused):
                self._say(refusal_text(found, self.look.lang))
                return
            records = []
            async for record in Archive(client).records(account_id=found.account.account_id):
                records.append(record)
                if len(records) == RECENT:
                    break
        except ApiError as error:
            self._say(self.look.say("server_says", text=error))
            return

        def write(look: Look) -> tuple[str, Text]:
            lines = profile_lines(found, look.lang)
            shown = [record_text(record, look.lang) for record in records]
            return look.say("profile"), Text("\n".join([*lines, "", *shown] if shown else lines))

        page: Write = write
        self.app.push_screen(Page(page, lambda: self.look))

    @work(group="block", exclusive=True)
    async def action_block(self, wanted: bool) -> None:
        """Never meet somebody again, or take that back."""
        chosen, people = self._chosen(), People(self.play.room.client)
        if chosen is None:
            return
        try:
            refused = await people.block(chosen.account_id) if wanted else None
            if not wanted:
                await people.unblock(chosen.account_id)
        except ApiError as error:
            self._say(self.look.say("server_says", text=error))
            return
        name = chosen.name or chosen.account_id
        if isinstance(refused, Refused):
            self._say(refusal_text(refused, self.look.lang))
        else:
            self._say(self.look.say("people.blocked" if wanted else "people.unblocked", name=name))
