"""The others at the table, in the line mode: talk, substitutes, penalties, another match."""

from __future__ import annotations

from kangtou_engine.errors import IllegalAction
from kangtou_engine.words import explain

from ..api import Refused, Spectating
from ..api.talk import ChatMessage, Talk
from ..desk.room import refusal_text
from .asked import Bad
from .here import Handlers, Here
from .people import Others
from .waiting import Again
from .words import say


def heard(message: ChatMessage, lang: str) -> str:
    """Who said what."""
    return say("said", lang, name=message.name or message.account_id, text=message.shown(lang))


class Company:
    """Commands that concern the others at a table."""

    def __init__(self, here: Here, others: Others) -> None:
        self.here, self._others = here, others
        self._listed: tuple[ChatMessage, ...] = ()  # what the numbers of `report` stand for

    def handlers(self) -> Handlers:
        """By code."""
        return {
            "say": self.say,
            "chat": self.chat,
            "mute": self.mute,
            "report": self.report,
            "substitute": self.substitute,
            "back": self.back,
            "penalty": self.penalty,
            "again": self.again,
        }

    # ---- talk ----

    async def say(self, words: list[str]) -> None:
        """Say something, `/hello` a fixed phrase."""
        text = " ".join(words)
        phrase = text.removeprefix("/") if text.startswith("/") else ""
        talk = Talk(self.here.room.client)
        self.here.given(await talk.say(self.here.match_id(), "" if phrase else text, phrase=phrase))

    async def chat(self, words: list[str]) -> None:
        """What was said."""
        here = self.here
        self._listed = here.given(await Talk(here.room.client).list(here.match_id()))
        for number, message in enumerate(self._listed, 1):
            here.put(f"{number:>4}  {heard(message, here.lang)}")
        if not self._listed:
            here.say("nothing_said")

    async def mute(self, words: list[str]) -> None:
        """Silence somebody, or let them speak."""
        here, off = self.here, len(words) > 1 and words[-1] == "off"
        name = words[:-1] if off else words
        account = self._others.account(name)
        if not account:
            raise Bad(here.text("which_name"))
        refused = await Talk(here.room.client).mute(here.match_id(), account, not off)
        if refused is not None:
            here.given(refused)
        here.say("unmuted" if off else "muted", name=" ".join(name))

    async def report(self, words: list[str]) -> None:
        """Tell the operators of a message."""
        here = self.here
        if not words or not (words[0].isascii() and words[0].isdigit()):
            raise Bad(here.text("which_message"))
        if not self._listed:
            self._listed = here.given(await Talk(here.room.client).list(here.match_id()))
        number = int(words[0])
        if not 0 < number <= len(self._listed):
            raise Bad(here.text("no_message", number=number))
        message = self._listed[number - 1]
        refused = await Talk(here.room.client).report(here.match_id(), message.chat_id, " ".join(words[1:]))
        if refused is not None:
            here.given(refused)
        here.say("reported")

    # ---- who plays ----

    async def substitute(self, words: list[str]) -> None:
        """Hand the seat over."""
        here = self.here
        here.given(await here.room.session.hand_over(here.at_table().match))
        here.say("substituted")

    async def back(self, words: list[str]) -> None:
        """Take it back."""
        here = self.here
        here.given(await here.room.session.take_back(here.at_table().match))
        here.say("taken_back")

    async def penalty(self, words: list[str]) -> None:
        """As the scorer."""
        here = self.here
        spec = here.at_table().match.game.spec
        try:
            answer = await Spectating(here.room.client).award(here.match_id(), " ".join(words))
        except IllegalAction as error:
            raise Bad(here.text("refused", text=explain(spec.words, error, here.lang))) from error
        if isinstance(answer, Refused):
            raise Bad(here.text("refused_plain", text=here.render.line(refusal_text(answer, here.lang))))
        here.say("awarded")

    async def again(self, words: list[str]) -> None:
        """Another match with the same seats."""
        here, match = self.here, self.here.at_table().match
        if match.seat is None:
            raise Bad(here.text("unknown", text="again"))
        account = match.players[match.seat].account_id
        agreed = here.given(await here.room.client.tables.rematch(match.match_id, account))
        await here.wait_for(Again(here, agreed))
