"""A match on the screen, for whoever looks on; seat.py adds what a player needs."""

from __future__ import annotations

import contextlib
from typing import ClassVar

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.css.query import NoMatches
from textual.widgets import Static

from kangtou_engine.match.match import AnyState
from kangtou_engine.scene import Scene

from ..api import ApiError, Client, Ending, Match, Refused
from ..desk.room import refusal_text
from ..desk.text import game_title
from .board import Board
from .choose import Choose
from .follow import Follower
from .inside import Inside
from .look import GOLD, RED, Look
from .sheets import Page, help_page, log_page, score_page

BAD = f"bold {RED}"
WIDE = 108  # cells from which the log stands beside the table


class Table(Inside[None]):
    """A match that is followed. Closed with None when it is left."""

    DEFAULT_CSS = """
    Table { layout: vertical; }
    Table #table { height: 1fr; }
    Table Board { width: 1fr; height: 100%; }
    Table #side { width: 36; height: 100%; background: $panel; padding: 0 1; scrollbar-size: 1 1; display: none; }
    Table.wide #side { display: block; }
    Table #heard { height: auto; max-height: 2; padding: 0 1; display: none; }
    Table #head { height: 1; background: $panel; padding: 0 1; text-style: bold; }
    Table #status { height: auto; }
    Table #says { width: 1fr; height: auto; min-height: 1; max-height: 3; padding: 0 1; }
    Table #clock { width: auto; padding: 0 1; text-style: bold; }
    Table #keys { height: 1; color: $text-muted; padding: 0 1; }
    """
    AUTO_FOCUS = ""
    KEYS = "keys.watch"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("x", "app.letters", show=False),
        Binding("v", "score", show=False),
        Binding("e", "log", show=False),
        Binding("u", "book", show=False),
        Binding("question_mark", "help", show=False),
        Binding("ctrl+l", "leave", show=False),
    ]

    def __init__(self, match: Match, client: Client) -> None:
        super().__init__()
        self.match, self.client = match, client
        self.follower: Follower | None = None
        self.rule = ""  # of the last refusal
        self._said: Text | None = None

    @property
    def look(self) -> Look:
        """Language, glyphs, and this match's players."""
        names = tuple(player.name for player in self.match.players)
        return Look(self.play.look.lang, self.play.look.letters, names)

    # ---- building ----

    def compose(self) -> ComposeResult:
        """From top to bottom."""
        yield Static(id="head", markup=False)
        with Horizontal(id="table"):
            yield Board(self.match.config.seats, self.match.seat or 0)
            with VerticalScroll(id="side", can_focus=False):
                yield Static(id="told", markup=False)
        yield Static(id="heard", markup=False)
        with Horizontal(id="status"):
            yield Static(id="says", markup=False)
            yield Static(id="clock", markup=False)
        yield from self.compose_below()
        yield Static(id="keys", markup=False)

    def compose_below(self) -> ComposeResult:
        """What a player has below the table; nothing for a spectator."""
        yield from ()

    def on_mount(self) -> None:
        """See `begin`; Textual calls a handler of every class, so only this one is overridden."""
        self.begin()

    def begin(self) -> None:
        """Start to follow."""
        self.follower = Follower(self.match, self.play.pace, self.draw)
        self.relabel()
        self.follow()

    def on_resize(self) -> None:
        """The log stands beside the table where there is room."""
        self.set_class(self.size.width >= WIDE, "wide")
        self.beside()

    def relabel(self) -> None:
        """In the language of now."""
        self._said = None
        self.query_one("#keys", Static).update(self.look.say(self.KEYS))
        self.draw()

    # ---- what comes in ----

    @work(group="follow")
    async def follow(self) -> None:
        """What happens, until the end."""
        assert self.follower is not None
        try:
            await self.follower.run()
            ending = await self.match.finished()
        except ApiError as error:
            self.say(self.look.say("lost", text=error), BAD)
            return
        self.ended(ending)
        self.draw()

    def ended(self, ending: Ending | Refused) -> None:
        """Nothing more will come."""
        look = self.look
        if isinstance(ending, Refused):
            self.say(look.say("lost", text=refusal_text(ending, look.lang)), BAD)
            return
        self.say(look.say("over", cause=look.render.word(f"cause.{ending.cause}")), GOLD)
        for warning in self.match.warnings:
            self.say(look.say("trust", text=warning.text_zh if look.lang == "zh" else warning.text_en), BAD)

    # ---- drawing ----

    def draw(self) -> None:
        """All that depends on the position."""
        if self.follower is not None:
            with contextlib.suppress(NoMatches):  # the program is just ending
                self._draw(self.follower)

    def _draw(self, follower: Follower) -> None:
        view, look, game = follower.view, self.look, self.match.game
        title = game_title(game.spec.name, look.lang)
        if not view.sheet.round:
            self.query_one("#head", Static).update(title)
            self.query_one(Board).clear(look.say("nobody"))
            return
        scene = game.scene(view, self.match.seat, look.lang)
        self.query_one("#head", Static).update(look.line(" · ".join((title, *scene.head))))
        self.query_one(Board).show(game, view, scene, self.match.seat, look, marks=self.marks())
        self.draw_below(scene)
        self.status()
        self.beside()

    def beside(self) -> None:
        """What stands beside a wide table."""

    def marks(self) -> dict[int, tuple[str, ...]]:
        """What is to be said of seats besides the game's own marks."""
        return {}

    def draw_below(self, scene: Scene) -> None:
        """What a player has below the table."""

    def status(self) -> None:
        """The line under the table."""
        for says in self.query("#says").results(Static):  # none when the program is just ending
            says.update(self._said if self._said is not None else self.waiting())

    def waiting(self) -> Text:
        """What is said when nothing else is."""
        look, follower = self.look, self.follower
        assert follower is not None
        if self.match.seat is None:
            return Text(look.say("spectating"))
        names = ", ".join(map(look.seat, self.match.game.to_act(follower.view)))
        return Text(look.say("others", seats=names) if names else look.say("nobody"))

    def say(self, text: str, style: str = "") -> None:
        """A message in that line, until the next question or choice."""
        self._said = self.look.line(text, style)
        self.status()

    # ---- other screens ----

    @property
    def view(self) -> AnyState:
        """The position that is shown."""
        assert self.follower is not None
        return self.follower.view

    def action_score(self) -> None:
        """The score sheet."""
        if self.follower is not None:
            self.app.push_screen(Page(score_page(self.follower.history, self.view), lambda: self.look))

    def action_log(self) -> None:
        """The log."""
        if self.follower is not None:
            self.app.push_screen(Page(log_page(self.match.game, self.follower.history), lambda: self.look, end=True))

    def action_help(self) -> None:
        """The keys."""
        self.app.push_screen(Page(help_page("help.text"), lambda: self.look))

    def action_book(self) -> None:
        """The rule book, at the rule of the last refusal."""
        self.play.open_book(self.match.game.spec.name, self.rule)

    @work(group="leave", exclusive=True)
    async def action_leave(self) -> None:
        """Back to where one came from; while one plays, only if it is meant."""
        if self.match.seat is None or self.match.over or await self.may_leave():
            self.dismiss(None)

    async def may_leave(self) -> bool:
        """Ask."""
        look = self.look
        answers = (look.say("button.stay"), look.say("button.leave"))
        return await self.app.push_screen_wait(Choose(look.say("leave"), answers)) == 1
