"""Who else is at the table: what they say, who is away, for whom a substitute plays; the log beside a wide table."""

from __future__ import annotations

import contextlib
from collections import deque
from typing import ClassVar

from rich.text import Text
from textual import work
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.timer import Timer
from textual.widgets import Static

from kangtou_engine.actions import Action

from ..api import ApiError, Client, Match, Refused, Spectating
from ..api.talk import ChatMessage, Talk
from ..desk.forms import penalties
from ..desk.room import refusal_text
from .choose import Choose
from .look import GOLD
from .sheets import log_page
from .table import BAD, Table
from .talk import TalkPage, chat_line
from .words import WORDS

CHAT_MOST = 200  # messages that are kept
HEARD_S = 8.0  # how long the last one is shown


class Company(Table):
    """A table with its company."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "talk", show=False),
        Binding("k", "penalty", show=False),
    ]

    def __init__(self, match: Match, client: Client) -> None:
        super().__init__(match, client)
        self.chat: deque[ChatMessage] = deque(maxlen=CHAT_MOST)
        self._hush: Timer | None = None  # hides the last message

    def begin(self) -> None:
        """Listen too."""
        super().begin()
        self.listen()
        self.attend()

    @work(group="chat")
    async def listen(self) -> None:
        """What is said, now and before."""
        with contextlib.suppress(ApiError):  # `follow` says it
            before = await Talk(self.client).list(self.match.match_id)
            if not isinstance(before, Refused):
                self.chat.extend(before)
            async for message in self.match.chat():
                self.chat.append(message)
                self._heard(message)

    def _heard(self, message: ChatMessage) -> None:
        """Show it for a while; in full on its page."""
        page = self.app.screen
        if isinstance(page, TalkPage):
            page.heard(self.chat)
        self._last(chat_line(message, self.look))
        if self._hush is not None:
            self._hush.stop()
        self._hush = self.set_timer(HEARD_S, lambda: self._last(None))
        self.beside()

    def _last(self, text: Text | None) -> None:
        """The last message under the table, or nothing there."""
        for line in self.query("#heard").results(Static):
            line.display = text is not None
            line.update(text or "")

    @work(group="attend")
    async def attend(self) -> None:
        """Who plays each seat: the owner, a substitute; who is away."""
        seats = self.match.seats
        with contextlib.suppress(ApiError):  # `follow` says it
            while not self.match.over:
                await self.match.news()
                if self.match.seats != seats:
                    seats = self.match.seats
                    self.draw()

    def marks(self) -> dict[int, tuple[str, ...]]:
        """What is to be said of seats besides the game's own marks."""
        found: dict[int, tuple[str, ...]] = {}
        for one in self.match.seats:
            marks = (self.look.say("mark.substitute"),) if one.delegated else ()
            found[one.seat] = marks if one.connected or one.delegated else (*marks, self.look.say("mark.away"))
        return found

    def beside(self) -> None:
        """The log, and what was said, beside the table."""
        if self.follower is None or not self.has_class("wide"):
            return
        _, text = log_page(self.match.game, self.follower.history)(self.look)
        for message in self.chat:
            text = text + Text("\n") + chat_line(message, self.look)
        for side in self.query("#told").results(Static):
            side.update(text)
            self.call_after_refresh(self.query_one("#side", VerticalScroll).scroll_end, animate=False)

    @work(group="penalty", exclusive=True)
    async def action_penalty(self) -> None:
        """As the scorer: what the book lets one award now."""
        look, match = self.look, self.match
        try:
            if not match.scorer_id or match.scorer_id != await self.play.account():
                self.say(look.say("penalty.not"), BAD)
                return
            found = penalties(match.game.spec.name, match.view.phase, match.config.seats)
            if not found:
                self.say(look.say("penalty.none"), BAD)
                return
            rows = [self._penalty(action) for action in found]
            chosen = await self.app.push_screen_wait(Choose(look.say("penalty"), rows))
            if chosen is None:
                return
            answer = await Spectating(self.client).award(match.match_id, found[chosen])
        except ApiError as error:
            self.say(look.say("server_says", text=error), BAD)
            return
        if isinstance(answer, Refused):
            self.say("✗ " + refusal_text(answer, look.lang), BAD)
        else:
            self.say(look.say("penalty.done"), GOLD)

    def _penalty(self, action: Action) -> str:
        seat = next((int(value) for name, value in action.keys if name == "seat"), 0)
        known = f"penalty.{action.verb}" in WORDS
        return self.look.say(f"penalty.{action.verb}", seat=self.look.seat(seat)) if known else str(action)

    def action_talk(self) -> None:
        """What was said, and a line to say something."""
        self.app.push_screen(TalkPage(self, self.client))
