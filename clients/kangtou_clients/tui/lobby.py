"""The lobby: games, tables that fill or play, and the ways to a seat."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable
from contextlib import aclosing
from typing import ClassVar, TypeVar

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.css.query import NoMatches
from textual.widgets import DataTable, OptionList, Static
from textual.widgets.option_list import Option

from kangtou.v1 import lobby_pb2 as pb
from kangtou_engine.registry import REGISTRY

from ..api import ApiError, Place, Refused, TableTerms
from ..api.parties import Parties, wanted_of
from ..desk.asked import Asked
from ..desk.room import refusal_text
from ..desk.text import SEAT_STATES, game_name, game_title, table_options, table_seats
from .choose import Ask
from .filling import Filling
from .inside import Inside
from .look import GOLD, RED
from .opening import Opening
from .party import PartyScreen
from .sheets import Page, help_page
from .waiting import Queueing

T = TypeVar("T")
AGAIN_S = 2.0  # between two attempts to follow the list
COLUMNS = ("match", "game", "state", "seats", "options")


class LobbyScreen(Inside[None]):
    """The first screen."""

    DEFAULT_CSS = """
    LobbyScreen #head { height: 1; background: $panel; padding: 0 1; text-style: bold; }
    LobbyScreen #body { height: 1fr; }
    LobbyScreen #games { width: 20; height: 100%; border: round $secondary; background: $background; }
    LobbyScreen #right { width: 1fr; height: 100%; }
    LobbyScreen DataTable { height: 1fr; border: round $secondary; background: $background; }
    LobbyScreen #about { height: auto; max-height: 5; padding: 0 1; color: $text-muted; }
    LobbyScreen #says { height: auto; max-height: 3; padding: 0 1; }
    LobbyScreen #keys { height: auto; color: $text-muted; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o", "open('open')", show=False),
        Binding("q", "open('quick')", show=False),
        Binding("p", "open('practice')", show=False),
        Binding("t", "party", show=False),
        Binding("c", "code", show=False),
        Binding("l", "ladders", show=False),
        Binding("w", "watch", show=False),
        Binding("f", "filter", show=False),
        Binding("r", "replay", show=False),
        Binding("u", "book", show=False),
        Binding("x", "app.letters", show=False),
        Binding("question_mark", "help", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.tables: list[pb.Table] = []
        self._playing = False  # tables that play are listed too
        self._says: Text | None = None
        self._lost = False  # the list cannot be followed now

    def compose(self) -> ComposeResult:
        """Games at the left, tables at the right."""
        yield Static(id="head", markup=False)
        with Horizontal(id="body"):
            yield OptionList(id="games", markup=False)
            with Vertical(id="right"):
                yield DataTable(id="tables", cursor_type="row")
                yield Static(id="about", markup=False)
        yield Static(id="says", markup=False)
        yield Static(id="keys", markup=False)

    def on_mount(self) -> None:
        """Follow the list."""
        self.relabel()
        self.query_one("#tables").focus()
        self.follow_tables()

    def relabel(self) -> None:
        """In the language of now."""
        look, play = self.look, self.play
        head = " · ".join((look.say("title"), play.user, play.room.client.address))
        self.query_one("#head", Static).update(head)
        self.query_one("#keys", Static).update(look.say("keys.lobby"))
        games = self.query_one("#games", OptionList)
        at = games.highlighted or 0
        games.clear_options()
        games.add_option(Option(look.say("all_games")))
        games.add_options(Option(game_title(name, look.lang)) for name in REGISTRY.names())
        games.highlighted = at
        table = self.query_one("#tables", DataTable)
        table.clear(columns=True)
        for column in COLUMNS:
            table.add_column(look.say(f"column.{column}"), key=column)
        self._fill()

    # ---- the list ----

    @property
    def game(self) -> str:
        """The game that is looked at, "" for all."""
        place = self.query_one("#games", OptionList).highlighted or 0
        return ("", *REGISTRY.names())[place]

    @work(group="tables", exclusive=True)
    async def follow_tables(self) -> None:
        """The list as it changes."""
        while True:
            with contextlib.suppress(NoMatches):  # the program is just ending
                try:
                    async with aclosing(self.play.room.live(self.game, playing=self._playing)) as lists:
                        async for tables in lists:
                            self.tables = tables
                            if self._lost:
                                self._lost, self._says = False, None
                            if self.is_current:
                                self._fill()
                except ApiError:
                    self._lost = True
                    self._say(self.look.say("no_server"), RED)
            await asyncio.sleep(AGAIN_S)

    def on_screen_resume(self) -> None:
        """What has changed meanwhile."""
        if self.query("#tables"):
            self._fill()

    def _fill(self) -> None:
        look, table = self.look, self.query_one("#tables", DataTable)
        at, old = table.cursor_row, self._chosen()
        table.clear()
        for one in self.tables:
            free = sum(not seat.account_id for seat in one.seats)
            state = look.say(SEAT_STATES.get(one.state, "none"))
            if free:
                state = look.say("free_of", free=free, seats=len(one.seats))
            title = game_name(one.choice.game, look.lang)
            seats = Text(table_seats(one, look.lang), overflow="ellipsis", no_wrap=True)
            options = Text(table_options(one))
            table.add_row(Text(one.match_id[:8]), title, state, seats, options, key=one.match_id)
        same = [number for number, one in enumerate(self.tables) if old is not None and one.match_id == old.match_id]
        if self.tables:
            table.move_cursor(row=same[0] if same else min(at, len(self.tables) - 1))
        self._about()

    def _chosen(self) -> pb.Table | None:
        table = self.query_one("#tables", DataTable)
        if not table.row_count or table.cursor_row >= table.row_count:
            return None
        key = table.coordinate_to_cell_key((table.cursor_row, 0)).row_key.value  # type: ignore[arg-type]
        return next((one for one in self.tables if one.match_id == key), None)

    def _about(self) -> None:
        """The table under the cursor, in full; or what can be done without one."""
        look, chosen = self.look, self._chosen()
        about = self.query_one("#about", Static)
        filtered = look.say("filter.all" if self._playing else "filter.open")
        if chosen is None:
            about.update(f"{filtered}\n{look.say('empty_lobby')}")
        else:
            rules = table_options(chosen)
            about.update(Text("\n".join(filter(None, (filtered, table_seats(chosen, look.lang), rules)))))
        self.query_one("#says", Static).update(self._says or "")

    def _say(self, text: str, style: str = "") -> None:
        self._says = self.look.line(text, style)
        self.query_one("#says", Static).update(self._says)

    def on_data_table_row_highlighted(self) -> None:
        """Another table."""
        self._about()

    def on_option_list_option_highlighted(self) -> None:
        """Another game."""
        self.follow_tables()

    def action_filter(self) -> None:
        """With free seats, or all."""
        self._playing = not self._playing
        self.follow_tables()

    # ---- to a seat ----

    def on_data_table_row_selected(self) -> None:
        """Sit down at the table under the cursor; one that plays is looked at, or gone back to."""
        chosen = self._chosen()
        if chosen is None:
            return
        self._say("")
        if chosen.state == pb.TABLE_STATE_OPEN:
            self.sit(chosen.match_id)
        else:
            self.go(chosen.current_match_id or chosen.match_id)

    @work(group="sit", exclusive=True)
    async def sit(self, match_id: str) -> None:
        """Take a seat and wait for the others."""
        place = await self._asked(self.play.room.sit(match_id))
        if isinstance(place, Place):
            await self._wait(place)

    async def _wait(self, place: Place) -> None:
        begun = await self.app.push_screen_wait(Filling(place))
        if isinstance(begun, Refused):
            self._say(refusal_text(begun, self.look.lang), RED)
        elif begun is not None:
            self.play.room.keep(begun)
            await self._enter(begun)

    @work(group="sit", exclusive=True)
    async def wait_at(self, place: Place) -> None:
        """A seat that one has already, at a table that fills again."""
        await self._wait(place)

    @work(group="sit", exclusive=True)
    async def action_code(self) -> None:
        """To a private table by its code."""
        code = await self.app.push_screen_wait(Ask(self.look.say("code.ask")))
        if code:
            place = await self._asked(self.play.room.sit("", None, code))
            if isinstance(place, Place):
                await self._wait(place)

    async def _enter(self, place: Place) -> None:
        match = await self._asked(self.play.room.enter(place.match_id, place.seat, place.entropy))
        if match is not None:
            self.play.enter(match)

    @work(group="sit", exclusive=True)
    async def go(self, match_id: str) -> None:
        """To one's seat in a match that plays; to look on, if one has none there."""
        room = self.play.room
        match = await room.watch(match_id)
        if isinstance(match, Refused) and match.code == "not_allowed":
            match = await room.enter(match_id)
        if isinstance(match, Refused):
            self._say(refusal_text(match, self.look.lang), RED)
        else:
            self.play.enter(match)

    def action_watch(self) -> None:
        """Look on at the table under the cursor."""
        chosen = self._chosen()
        if chosen is not None:
            self.go(chosen.current_match_id or chosen.match_id)

    @work(group="sit", exclusive=True)
    async def action_open(self, kind: str) -> None:
        """Open a table, queue, or practise, with the house rules that are chosen."""
        self._say("")
        asked = await self.app.push_screen_wait(Opening(kind, self.game))
        if asked is None:
            return
        if kind == "open":
            await self._open(asked)
        elif kind == "quick":
            await self._queue(asked)
        else:
            await self._practise(asked)

    async def _open(self, asked: Asked) -> None:
        table = await self._asked(self.play.room.client.lobby.open(asked.wanted, terms=asked.terms))
        if table is None:
            return
        place = await self._asked(self.play.room.sit(table.match_id))
        if isinstance(place, Place):
            await self._wait(place)

    async def _queue(self, asked: Asked, party: str = "", pool: str = "") -> None:
        place = await self.app.push_screen_wait(Queueing(asked, party, pool))
        if isinstance(place, Refused):
            self._say(refusal_text(place, self.look.lang), RED)
        elif place is not None:
            self.play.room.keep(place)
            await self._enter(place)

    @work(group="sit", exclusive=True)
    async def action_party(self) -> None:
        """Two who queue together: make a party, join one, queue as one."""
        play = self.play
        while (what := await self.app.push_screen_wait(PartyScreen())) is not None:
            if what == "queue" and play.party is not None:
                party = play.party
                asked = Asked(wanted_of(party), TableTerms(rated=party.rated))
                await self._queue(asked, party.code, party.pool)
                return
            made = await self.app.push_screen_wait(Opening("party", self.game))
            if made is not None:
                asking = Parties(play.room.client).create(made.wanted, rated=made.terms.rated)
                play.party = await self._asked(asking)
                if play.party is None:
                    return

    async def _practise(self, asked: Asked) -> None:
        from .practising import practise

        self._say(self.look.say("waiting.server"), GOLD)
        problem = await self.play.background(practise(self.play, asked.wanted))
        self._says = None
        if problem:
            self._say(problem, RED)
        self._about()

    async def _asked(self, asking: Awaitable[T | Refused]) -> T | None:
        """What the server gives; None after saying why it does not."""
        try:
            found = await asking
        except ApiError as error:
            self._say(self.look.say("server_says", text=error), RED)
            return None
        if isinstance(found, Refused):
            self._say(refusal_text(found, self.look.lang), RED)
            return None
        return found

    # ---- other screens ----

    def action_book(self) -> None:
        """The rule book of the game that is looked at."""
        self.play.open_book(self.game or REGISTRY.names()[0])

    def action_ladders(self) -> None:
        """Ratings and profiles."""
        from .people import Ladders

        self.app.push_screen(Ladders())

    def action_help(self) -> None:
        """The keys."""
        self.app.push_screen(Page(help_page("help.lobby", "help.text"), lambda: self.look))

    def action_replay(self) -> None:
        """Finished matches."""
        from .records import Records

        self.app.push_screen(Records())
