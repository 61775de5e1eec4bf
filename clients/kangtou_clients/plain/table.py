"""Being at a table in the line mode: what comes in is said, what is typed is done."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Callable, Sequence

from kangtou_engine.actions import Action
from kangtou_engine.errors import IllegalAction
from kangtou_engine.words import explain

from ..api import ApiError, Ending, Match, Prompt, Refused
from ..desk.choices import Choices
from ..desk.room import refusal_text
from ..desk.standing import StandsBy
from ..desk.typed import cards_of, wanted
from .view import View
from .words import say


class AtTable:
    """One match that is followed. `put` says lines; `rule` is that of the last refusal."""

    def __init__(self, view: View, stands_by: StandsBy, put: Callable[[Sequence[str]], None]) -> None:
        self.view, self.match, self._put, self._stands_by = view, view.match, put, stands_by
        self.prompt: Prompt | None = None
        self.choices: Choices | None = None
        self.listed: tuple[Action, ...] = ()
        self.rule = ""
        self.turn = asyncio.Event()  # asked, or over
        self._tasks = [asyncio.create_task(self._changes())]
        self._tasks += [asyncio.create_task(self._chat()), asyncio.create_task(self._company())]
        if self.match.seat is not None:
            self._tasks.append(asyncio.create_task(self._prompts()))

    def say(self, code: str, **params: object) -> None:
        """A line of the catalogue."""
        self._put([say(code, self.view.lang, **params)])

    async def leave(self) -> None:
        """Follow it no longer."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    # ---- what comes in ----

    async def _changes(self) -> None:
        match = self.match
        try:
            async for change in match.changes():
                if change.gap:
                    self.view.history.joined(match.view.sheet.round, match.view.sheet.scores)
                    self._put(self.view.table())
                self.view.history.take(change.time_ms, change.events)
                self._put(self.view.events(change.events))
            ending = await match.finished()
        except ApiError as error:
            self.say("lost", text=error)
        else:
            self._ended(ending)
        self.turn.set()

    def _ended(self, ending: Ending | Refused) -> None:
        if isinstance(ending, Refused):
            self.say("lost", text=refusal_text(ending, self.view.lang))
            return
        self._put(self.view.score())
        self.say("over", cause=self.view.render.word(f"cause.{ending.cause}"))
        self.say("receipt", receipt=ending.receipt)
        for warning in self.match.warnings:
            self.say("trust", text=warning.text_zh if self.view.lang == "zh" else warning.text_en)

    async def _chat(self) -> None:
        with contextlib.suppress(ApiError):  # `_changes` says it
            async for message in self.match.chat():
                name = message.name or message.account_id
                self.say("said", name=name, text=message.shown(self.view.lang))

    async def _company(self) -> None:
        """For whom a substitute plays, and who is away, whenever that changes."""
        seats = self.match.seats
        with contextlib.suppress(ApiError):  # `_changes` says it
            while not self.match.over:
                await self.match.news()
                before, seats = {one.seat: one for one in seats}, self.match.seats
                for one in seats:
                    old = before.get(one.seat, one)
                    if bool(old.delegated) != bool(one.delegated):
                        self.say("substitute_plays" if one.delegated else "owner_plays", seat=one.seat)
                    elif old.connected != one.connected and not one.delegated:
                        self.say("here_again" if one.connected else "away", seat=one.seat)

    async def _prompts(self) -> None:
        async for prompt in self.match.prompts():
            assert self.match.seat is not None
            if self.match.seat not in self.match.game.to_act(self.match.view):
                continue
            if not await self._stands_by.asks(self.match, prompt):
                if self._stands_by.news(self.match):
                    self.say("standing", action=self.view.action(prompt.default))
                continue
            self.prompt = prompt
            self.choices = Choices(self.match.game, self.match.view, self.match.seat, prompt.legal)
            self.listed = self.choices.actions
            self._put(self.view.question(prompt, self.choices))
            self.turn.set()

    def _asked(self) -> Choices | None:
        """The open question, if there is one."""
        return self.choices if self.prompt is not None and self.prompt.open else None

    # ---- what is typed ----

    async def wait(self) -> None:
        """Until the seat is asked, or the match is over."""
        while self._asked() is None and not self.match.over:
            self.turn.clear()
            await self.turn.wait()

    def legal(self) -> None:
        """What can be done, numbered."""
        choices = self._asked()
        if choices is None:
            self.say("not_asked", seats=self.view.asked())
        elif choices.too_many is not None and self.prompt is not None:
            self._put(self.view.question(self.prompt, choices))
        else:
            self.listed = choices.actions
            self._put(self.view.listed(self.listed))

    def hint(self) -> None:
        """What the game's bot would do."""
        choices = self._asked()
        if choices is None:
            self.say("not_asked", seats=self.view.asked())
        else:
            self.say("hint", action=self.view.action(choices.hint(random.randrange)))

    async def act(self, text: str) -> None:
        """Do what was typed: an action, the number of one, or cards alone."""
        choices = self._asked()
        if choices is None or self.prompt is None:
            self.say("not_asked", seats=self.view.asked())
            return
        try:
            meant = wanted(text, choices, self.listed)
        except IllegalAction as error:
            self.rule = error.rule
            self.say("refused", text=explain(self.match.game.spec.words, error, self.view.lang))
            return
        if len(meant) == 1:
            await self._do(self.prompt, meant[0])
        elif meant:
            self.listed = meant
            self.say("which")
            self._put(self.view.listed(meant))
        else:
            alone = cards_of(text) is not None
            self.say("no_fit", cards=text) if alone else self.say("no_number", number=text)

    async def _do(self, prompt: Prompt, action: Action) -> None:
        answer = await self._stands_by.answer(self.match, prompt, action)
        if isinstance(answer, Refused):
            self.rule = answer.rule
            code = "refused" if answer.rule else "refused_plain"
            self.say(code, text=self.view.render.line(refusal_text(answer, self.view.lang)))
            return
        self.prompt = None


def followed(match: Match) -> str:
    """The code of the line that says how a match is followed."""
    return "watching" if match.seat is None else "entered"
