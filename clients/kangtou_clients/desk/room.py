"""Finding a match at a server and getting into it, for whatever front end: lists, sits, waits, queues, enters."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import dataclass

from kangtou.v1 import lobby_pb2 as pb
from kangtou_engine.cards import Seat

from ..api import CallFailed, Client, Match, Place, Refused, Session
from ..api.tables import TableFilter
from .words import say

AGAIN_S = 0.25  # between two attempts to enter a match that has just begun
ENTER_S = 10.0  # a match that has just begun may not be found at once
NOT_YET = ("unknown_match", "not_allowed")


@dataclass(slots=True)
class Room:
    """A client, its session, and where entropies are kept until they are opened (`keep`, `entropy`)."""

    client: Client
    session: Session
    keep: Callable[[Place], None] = lambda place: None
    entropy: Callable[[str], bytes] = lambda match_id: b""

    async def live(self, game: str = "", *, playing: bool = False) -> AsyncGenerator[list[pb.Table], None]:
        """Tables with free seats, those that play too if wanted, the newest first; again whenever the list changes.

        Raises CallFailed.
        """
        states = ("open", "playing") if playing else ("open",)
        known: dict[str, pb.Table] = {}
        async with aclosing(self.client.tables.watch(TableFilter(game, states=states))) as changes:
            async for change in changes:
                if isinstance(change, Refused):
                    raise CallFailed(change.code, change.text_en)
                if change.what == "snapshot":
                    known.clear()
                known.pop(change.match_id, None)
                known.update({table.match_id: table for table in change.tables})
                yield sorted(known.values(), key=lambda table: -table.opened_ms)

    async def tables(self, game: str = "", *, playing: bool = False) -> list[pb.Table]:
        """The list as it is now. Raises CallFailed."""
        async with aclosing(self.live(game, playing=playing)) as lists:
            return await anext(lists)

    async def sit(self, match_id: str, seat: Seat | None = None, code: str = "") -> Place | Refused:
        """Take a seat; at a private table by its code."""
        place = await self.client.lobby.sit(match_id, seat, code=code)
        if isinstance(place, Place):
            self.keep(place)
        return place

    async def filling(self, match_id: str) -> AsyncGenerator[pb.Table | Refused, None]:
        """The table whenever it changes, until its match has begun (the last one given) or it is gone (Refused)."""
        everything = TableFilter(states=())
        async with aclosing(self.client.tables.watch(everything, match_id=match_id)) as changes:
            async for change in changes:
                if isinstance(change, Refused):
                    yield change
                    return
                for table in change.tables:
                    yield table
                    if table.state != pb.TABLE_STATE_OPEN:
                        return
        yield Refused("", "unknown_table", say("table_gone", "en"), say("table_gone", "zh"))

    async def enter(self, match_id: str, seat: Seat | None = None, entropy: bytes = b"") -> Match | Refused:
        """Take one's seat at the table; a match that has only just begun is waited for. Raises CallFailed, Gone."""
        opens = entropy or self.entropy(match_id)
        deadline = asyncio.get_running_loop().time() + ENTER_S
        while True:
            try:
                found = await self.session.attach(match_id, seat=seat, entropy=opens)
            except CallFailed as error:
                if error.status != "NOT_FOUND":
                    raise
                found = Refused("", "unknown_match", error.text, error.text)
            late = asyncio.get_running_loop().time() > deadline
            if isinstance(found, Match) or found.code not in NOT_YET or late:
                return found
            await asyncio.sleep(AGAIN_S)

    async def watch(self, match_id: str) -> Match | Refused:
        """Follow a match from outside. Raises CallFailed, Gone."""
        return await self.session.watch(match_id)


def refusal_text(refused: Refused, lang: str) -> str:
    """A refusal as people read it: the rule first."""
    said = refused.text_zh if lang == "zh" else refused.text_en
    return said if not refused.rule or said.startswith(refused.rule) else f"{refused.rule}: {said}"
