"""Commands in a match that concern the cards, and leaving it."""

from __future__ import annotations

from ..desk.orders import ORDERS
from .asked import Bad
from .finding import Finding
from .here import Handlers, Here


class Playing:
    """What one does at one's own seat, or looking on."""

    def __init__(self, here: Here, finding: Finding) -> None:
        self.here, self._finding = here, finding

    def handlers(self) -> Handlers:
        """By code."""
        return {
            "legal": self.legal,
            "hint": self.hint,
            "hand": self.hand,
            "order": self.order,
            "score": self.score,
            "log": self.log,
            "table": self.table,
            "leave": self.leave,
        }

    async def legal(self, words: list[str]) -> None:
        """What can be done."""
        self.here.at_table().legal()

    async def hint(self, words: list[str]) -> None:
        """What a bot would do."""
        self.here.at_table().hint()

    async def hand(self, words: list[str]) -> None:
        """The hand."""
        self.here.lines(self.here.at_table().view.hand())

    async def order(self, words: list[str]) -> None:
        """Another order of the hand: the one that is named, or the next."""
        here = self.here
        if words and words[0] not in ORDERS:
            raise Bad(here.text("bad_value", name="order", given=words[0], allowed=", ".join(ORDERS)))
        here.order = words[0] if words else ORDERS[(ORDERS.index(here.order) + 1) % len(ORDERS)]
        here.at_table().view.order = here.order
        await self.hand([])

    async def score(self, words: list[str]) -> None:
        """The score sheet."""
        self.here.lines(self.here.at_table().view.score())

    async def log(self, words: list[str]) -> None:
        """What has happened."""
        self.here.lines(self.here.at_table().view.log())

    async def table(self, words: list[str]) -> None:
        """The cards on the table; or a table in the lobby: who sits there and by which rules."""
        here = self.here
        if not words and here.table is not None:
            here.lines(here.table.view.table())
        elif words and words[0].startswith("code="):
            await self._finding.about("", words[0].removeprefix("code="))
        else:
            if not words and here.waiting is None:
                raise Bad(here.text("which_match"))
            await self._finding.about(words[0] if words else here.match_id())

    async def leave(self, words: list[str]) -> None:
        """Leave the table; with `bot` a substitute plays on for good."""
        here = self.here
        match = here.at_table().match
        if words and words[0] not in ("bot", here.text("people.bots")):
            raise Bad(here.text("bad_value", name="leave", given=words[0], allowed="bot"))
        if words:
            here.given(await here.room.session.hand_over(match, leave=True))
        await here.no_longer()
        await here.leave_quietly()
        here.say("left_for_good" if words else "left")
