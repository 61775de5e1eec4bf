"""What goes on before a match while lines are typed: a table that fills, the queue, agreeing on another match."""

from __future__ import annotations

import math
import time
from contextlib import aclosing
from dataclasses import dataclass

from kangtou.v1 import lobby_pb2 as pb

from ..api import Place, Queued, QuickMatch, Refused, Rematch
from ..desk.asked import Asked
from ..desk.room import refusal_text
from ..desk.tables import free_seats, name_at, start_rule
from .asked import Bad
from .commands import MATCH, QUEUE, TABLE
from .here import Here, Waiting


class AtOpenTable:
    """A seat at a table that fills. What others do there is said; it ends with the match, or without the seat."""

    part = TABLE

    def __init__(self, here: Here, match_id: str, entropy: bytes) -> None:
        self._here, self.match_id, self._entropy = here, match_id, entropy
        self.table: pb.Table | None = None

    async def run(self) -> Place | Waiting | None:
        """See Waiting."""
        me = (await self._here.me()).account_id
        async with aclosing(self._here.room.filling(self.match_id)) as tables:
            async for table in tables:
                if isinstance(table, Refused) and table.code != "code_needed":
                    self._here.say("refused_plain", text=refusal_text(table, self._here.lang))
                    return None
                if isinstance(table, Refused):  # a private table is not told to those who are sent away
                    self._here.say("sent_away")
                    return None
                seats = [number for number, seat in enumerate(table.seats) if seat.account_id == me]
                if not seats:
                    self._here.say("sent_away")
                    return None
                self._tell(table, seats[0])
                self.table = table
                if table.state != pb.TABLE_STATE_OPEN:
                    return Place(table.current_match_id or table.match_id, seats[0], self._entropy)
        return None

    async def stop(self) -> None:
        """See Waiting."""
        here = self._here
        here.given(await here.room.client.lobby.stand(self.match_id))
        await here.no_longer()
        here.say("stood")

    def _tell(self, table: pb.Table, own: int) -> None:
        """What has changed; at first how it stands."""
        here, before = self._here, self.table
        if before is not None:
            for number, (old, new) in enumerate(zip(before.seats, table.seats, strict=True)):
                self._seat(number, old, new, moved=number == own)
            if before.owner_id != table.owner_id and table.owner_id:
                here.say("owns", name=name_at(table, table.owner_id))
        free = free_seats(table)
        if before is None or _places(before) != _places(table):
            here.say("seated", match=table.match_id, seat=own, free=free)
            if not free and table.state == pb.TABLE_STATE_OPEN:
                here.say(f"all_seated.{start_rule(table)}")

    def _seat(self, number: int, old: pb.SeatInfo, new: pb.SeatInfo, *, moved: bool) -> None:
        here = self._here
        if old.account_id != new.account_id:
            if not new.account_id:
                here.say("stood_up", seat=number)
            elif not moved:
                here.say("sat_down", name=new.name or new.account_id, seat=number)
        elif old.ready != new.ready:
            here.say("is_ready" if new.ready else "not_ready", name=new.name or new.account_id)


def _places(table: pb.Table) -> list[str]:
    return [seat.account_id for seat in table.seats]


@dataclass
class InQueue:
    """A ticket. With `asked.ask` a match that is found is taken or declined by a command. `party`: its code."""

    here: Here
    asked: Asked
    party: str = ""
    pool: str = ""
    part: str = QUEUE
    match_id: str = ""
    queue: QuickMatch | None = None
    offered: str = ""  # the match that can be taken now
    _said: str = ""

    async def run(self) -> Place | Waiting | None:
        """See Waiting."""
        lobby, terms = self.here.room.client.lobby, self.asked.terms
        ticket = lobby.quick(
            self.asked.wanted, rated=terms.rated, pool=self.pool, party=self.party, take=not self.asked.ask
        )
        async with ticket as self.queue:
            async for status in ticket.statuses():
                if status.refused is not None:
                    self.here.say("refused_plain", text=refusal_text(status.refused, self.here.lang))
                    return None
                if status.state == "ready":
                    return Place(status.match_id, status.seat, ticket.entropy)
                self._tell(status)
        return None

    async def stop(self) -> None:
        """See Waiting. If the match was first, the status will say so."""
        if self.queue is None:
            await self.here.no_longer()
            return
        if await self.queue.cancel() is not None:
            self.here.say("matched_first")
            return
        await self.here.no_longer()
        self.here.say("cancelled")

    async def answer(self, *, accept: bool) -> None:
        """Take the match that is offered, or not. Raises Bad."""
        if self.queue is None or not self.offered:
            raise Bad(self.here.text("not_asked", seats=self.here.text("none")))
        refused = await self.queue.answer(self.offered, accept=accept)
        if refused is not None:
            self.here.given(refused)

    def _tell(self, status: Queued) -> None:
        text = self._text(status)
        if text != self._said:
            self._said = text
            self.here.put(text)

    def _text(self, status: Queued) -> str:
        here, self.offered = self.here, ""
        if status.state == "offered":
            if status.answered or not self.asked.ask:
                return here.text("taking", accepted=status.accepted)
            self.offered = status.match_id
            left = max(0, math.ceil(status.answer_by_ms / 1000 - time.time()))
            return here.text("offered", seconds=left, accepted=status.accepted)
        if status.state != "waiting":
            return here.text(status.state)
        text = here.text("queued", waiting=status.waiting)
        usual = f" · {here.text('estimate', seconds=math.ceil(status.estimate_ms / 1000))}"
        return text + usual if status.estimate_ms else text


class Again:
    """Another match with the same seats, once everybody agrees."""

    part = MATCH

    def __init__(self, here: Here, agreed: Rematch) -> None:
        self._here, self._agreed = here, agreed
        self.match_id = ""

    async def run(self) -> Place | Waiting | None:
        """See Waiting. If the others have left, one keeps the seat and the table fills again."""
        here, agreed = self._here, self._agreed
        here.say("again")
        table = await here.room.client.tables.settled(agreed)
        if isinstance(table, Refused):
            here.say("refused_plain", text=refusal_text(table, here.lang))
            return None
        if table.state == pb.TABLE_STATE_PLAYING and table.current_match_id == agreed.match_id:
            return Place(agreed.match_id, agreed.seat, agreed.entropy)
        me = (await here.me()).account_id
        if table.state == pb.TABLE_STATE_OPEN and me in _places(table):
            here.say("seats_again")
            return AtOpenTable(here, table.match_id, agreed.entropy)
        here.say("not_again")
        return None

    async def stop(self) -> None:
        """See Waiting."""
        here = self._here
        here.given(await here.room.client.lobby.stand(self._agreed.table.match_id))
        await here.no_longer()
        here.say("not_again")
