"""In the queue, alone or with a partner: how many wait, and taking or declining a match that was found."""

from __future__ import annotations

import math
import time
from typing import ClassVar

from rich.text import Text
from textual import work
from textual.binding import Binding, BindingType
from textual.widgets import Button, Static

from ..api import ApiError, Place, Queued, QuickMatch, Refused
from ..desk.asked import Asked
from .dialog import Dialog
from .look import GOLD


class Queueing(Dialog[Place | Refused | None]):
    """In the queue. None: the ticket is taken back. `party` is the code of one's party."""

    BUTTONS = ("take", "decline", "cancel")
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", show=False)]

    def __init__(self, asked: Asked, party: str = "", pool: str = "") -> None:
        super().__init__()
        self._asked, self._party, self._pool = asked, party, pool
        self._status: Queued | None = None
        self._queue: QuickMatch | None = None

    def on_mount(self) -> None:
        """Into the queue."""
        self.relabel()
        self.query_one("#cancel").focus()
        self.queue()
        self.set_interval(1.0, self.relabel)

    def relabel(self) -> None:
        """In the language of now, with the seconds that are left."""
        self.query_one("#text", Static).update(Text(self._text(), GOLD))
        self.offer({"take", "decline", "cancel"} if self._offered else {"cancel"})

    @property
    def _offered(self) -> bool:
        """Whether a match waits to be taken here."""
        status = self._status
        return self._asked.ask and status is not None and status.state == "offered" and not status.answered

    def _text(self) -> str:
        look, status = self.look, self._status
        if status is None:
            return look.say("waiting.starting")
        if self._offered:
            left = max(0, math.ceil(status.answer_by_ms / 1000 - time.time()))
            return look.say("waiting.offered", seconds=left)
        if status.state == "offered":
            return look.say("waiting.taken", accepted=status.accepted)
        if status.state == "matched":
            return look.say("waiting.matched")
        text = look.say("waiting.queue", waiting=status.waiting)
        usual = look.say("waiting.usual", seconds=math.ceil(status.estimate_ms / 1000))
        return f"{text} · {usual}" if status.estimate_ms else text

    @work(group="queue", exclusive=True)
    async def queue(self) -> None:
        """Until there is a table."""
        lobby, rated = self.play.room.client.lobby, self._asked.terms.rated
        ticket = lobby.quick(
            self._asked.wanted, rated=rated, pool=self._pool, party=self._party, take=not self._asked.ask
        )
        try:
            async with ticket as self._queue:
                async for status in ticket.statuses():
                    if status.refused is not None:
                        self.dismiss(status.refused)
                        return
                    if status.state == "ready":
                        self.dismiss(Place(status.match_id, status.seat, ticket.entropy))
                        return
                    self._status = status
                    self.relabel()
            self.dismiss(None)
        except ApiError as error:
            text = self.look.say("server_says", text=error)
            self.dismiss(Refused("", "unavailable", text, text))

    def on_button_pressed(self, event: Button.Pressed) -> None:
        """Cancel, take, decline."""
        if event.button.id == "cancel":
            self.action_cancel()
        else:
            self.answer(accept=event.button.id == "take")

    @work(group="answer", exclusive=True)
    async def answer(self, *, accept: bool) -> None:
        """To the match that was found; the status says what came of it."""
        if self._queue is not None and self._status is not None:
            try:
                refused = await self._queue.answer(self._status.match_id, accept=accept)
            except ApiError as error:
                self.notify(self.look.say("server_says", text=error), severity="error", markup=False)
                return
            if refused is not None:
                self.notify(
                    refused.text_zh if self.look.lang == "zh" else refused.text_en, severity="warning", markup=False
                )

    @work(group="cancel", exclusive=True)
    async def action_cancel(self) -> None:
        """Leave the queue. If the match was first, its table comes."""
        if self._queue is None:
            self.workers.cancel_group(self, "queue")
            self.dismiss(None)
            return
        try:
            late = await self._queue.cancel()
        except ApiError:
            return  # the button is still there
        if late is None:
            self.workers.cancel_group(self, "queue")
            self.dismiss(None)
