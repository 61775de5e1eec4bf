"""Commands at a table that fills, and in the queue."""

from __future__ import annotations

from kangtou.v1 import lobby_pb2 as pb

from ..desk.tables import account_at
from .asked import Bad
from .here import Handlers, Here
from .waiting import AtOpenTable, InQueue


class Seating:
    """What the people at the table, and its owner, may do before the start."""

    def __init__(self, here: Here) -> None:
        self.here = here

    def handlers(self) -> Handlers:
        """By code."""
        return {
            "ready": self.ready,
            "start": self.start,
            "fill": self.fill,
            "seat": self.seat,
            "remove": self.remove,
            "allow": self.allow,
            "stand": self.stand,
            "take": self.take,
            "decline": self.decline,
            "cancel": self.cancel,
        }

    def _table(self) -> pb.Table:
        """The table as it was seen last. Raises Bad."""
        waiting = self.here.waiting
        if not isinstance(waiting, AtOpenTable) or waiting.table is None:
            raise Bad(self.here.text("only.table"))
        return waiting.table

    async def ready(self, words: list[str]) -> None:
        """Ready, or not."""
        wanted = words[:1] not in (["no"], [self.here.text("no")])
        self.here.given(await self.here.room.client.tables.ready(self._table().match_id, wanted))

    async def start(self, words: list[str]) -> None:
        """As the owner."""
        self.here.given(await self.here.room.client.tables.start(self._table().match_id))

    async def fill(self, words: list[str]) -> None:
        """As the owner."""
        self.here.given(await self.here.room.client.tables.fill(self._table().match_id))

    async def seat(self, words: list[str]) -> None:
        """Another free seat."""
        if not words or not (words[0].isascii() and words[0].isdigit() and len(words[0]) < 4):
            raise Bad(self.here.text("which_seat"))
        self.here.given(await self.here.room.client.tables.change_seat(self._table().match_id, int(words[0])))

    async def remove(self, words: list[str]) -> None:
        """As the owner."""
        account = account_at(self._table(), self._name(words))
        self.here.given(await self.here.room.client.tables.remove(self._table().match_id, account))

    async def allow(self, words: list[str]) -> None:
        """As the owner."""
        self.here.given(await self.here.room.client.tables.allow(self._table().match_id, self._name(words)))

    def _name(self, words: list[str]) -> str:
        if not words:
            raise Bad(self.here.text("which_name"))
        return " ".join(words)

    async def stand(self, words: list[str]) -> None:
        """Give the seat back, before a match or after it."""
        here = self.here
        if here.waiting is not None:
            await here.waiting.stop()
            return
        here.given(await here.room.client.lobby.stand(here.match_id()))
        await here.leave_quietly()
        here.say("stood")

    async def cancel(self, words: list[str]) -> None:
        """Give the ticket back."""
        waiting = self.here.waiting
        assert waiting is not None  # commands of this part are given while something goes on
        await waiting.stop()

    async def take(self, words: list[str]) -> None:
        """Take the match that was found."""
        await self._answer(accept=True)

    async def decline(self, words: list[str]) -> None:
        """Do not take it."""
        await self._answer(accept=False)

    async def _answer(self, *, accept: bool) -> None:
        waiting = self.here.waiting
        assert isinstance(waiting, InQueue)
        await waiting.answer(accept=accept)
