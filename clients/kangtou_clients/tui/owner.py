"""What the owner of a seat may do besides playing: leave it to a substitute, take it back, play another match."""

from __future__ import annotations

from collections.abc import Awaitable

from textual import work

from kangtou.v1 import lobby_pb2 as pb

from ..api import Answer, ApiError, Client, Match, Place, Refused
from ..api.tables import Rematch
from ..desk.room import Room, refusal_text
from ..desk.standing import StandsBy
from .choose import Choose
from .company import Company
from .look import GOLD
from .table import BAD


class Owner(Company):
    """A table at which one has a seat."""

    def __init__(self, match: Match, client: Client, stands_by: StandsBy) -> None:
        super().__init__(match, client)
        self.stands_by = stands_by

    def refuse(self, refused: Refused) -> None:
        """Say a refusal; its rule can be looked up."""
        text = "✗ " + refusal_text(refused, self.look.lang)
        self.rule = refused.rule
        self.say(self.look.say("refused.rule", text=text, rule=refused.rule) if refused.rule else text, BAD)

    @work(group="substitute", exclusive=True)
    async def take_back(self) -> None:
        """Play one's seat again."""
        await self._wish(self.stands_by.session.take_back(self.match))

    async def may_leave(self) -> bool:
        """Stay, go and come back, or hand the seat over to a substitute for good."""
        look = self.look
        answers = (look.say("button.stay"), look.say("button.leave"), look.say("button.hand_over"))
        chosen = await self.app.push_screen_wait(Choose(look.say("leave"), answers))
        return chosen == 1 or (
            chosen == 2 and await self._wish(self.stands_by.session.hand_over(self.match, leave=True))
        )

    async def _wish(self, asking: Awaitable[Answer]) -> bool:
        try:
            answer = await asking
        except ApiError as error:
            self.say(self.look.say("lost", text=error), BAD)
            return False
        if isinstance(answer, Refused):
            self.refuse(answer)
        return not isinstance(answer, Refused)

    @work(group="again", exclusive=True)
    async def again(self) -> None:
        """Another match with the same seats, if the others want one too."""
        tables, account = self.client.tables, self.match.players[self.match.seat or 0].account_id
        try:
            agreed = await tables.rematch(self.match.match_id, account)
            if not isinstance(agreed, Refused):
                self.say(self.look.say("again.waiting"), GOLD)
                table = await tables.settled(agreed)
                if not isinstance(table, Refused) and table.current_match_id == agreed.match_id:
                    await self._next_match(agreed)
                    return
                if not isinstance(table, Refused) and self._keeps_seat(table, account):
                    place = Place(table.match_id, agreed.seat, agreed.entropy)
                    self.dismiss(None)
                    self.play.sit_again(place)
                    return
                agreed = table if isinstance(table, Refused) else Refused("", "", *self._nobody())
        except ApiError as error:
            self.say(self.look.say("server_says", text=error), BAD)
            return
        self.refuse(agreed)

    def _keeps_seat(self, table: pb.Table, account: str) -> bool:
        """Whether others have left, so that the table fills again around those who stay."""
        return table.state == pb.TABLE_STATE_OPEN and account in [seat.account_id for seat in table.seats]

    def _nobody(self) -> tuple[str, str]:
        return self.look.say("again.nobody"), self.look.say("again.nobody")

    async def _next_match(self, agreed: Rematch) -> None:
        room = Room(self.client, self.stands_by.session)
        match = await room.enter(agreed.match_id, agreed.seat, agreed.entropy)
        if isinstance(match, Refused):
            self.refuse(match)
            return
        self.dismiss(None)
        self.play.enter(match)
