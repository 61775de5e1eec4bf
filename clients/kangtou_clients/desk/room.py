"""Finding a match at a server and getting into it, for whatever front end: lists, sits, waits, queues, enters."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from kangtou.v1 import lobby_pb2 as pb
from kangtou.v1 import lobby_pb2_grpc as rpc
from kangtou_engine.cards import Seat

from ..api import CallFailed, Client, Match, Place, Refused, Session

LOOK_S = 0.5  # between two looks at a table that has not begun
LIST_MOST = 200
ENTER_S = 10.0  # a match that has just begun may not be found at once
NOT_YET = ("unknown_match", "not_allowed")


@dataclass(slots=True)
class Room:
    """A client, its session, and where entropies are kept until they are opened (`keep`, `entropy`)."""

    client: Client
    session: Session
    keep: Callable[[Place], None] = lambda place: None
    entropy: Callable[[str], bytes] = lambda match_id: b""

    async def tables(self, game: str = "", *, playing: bool = False) -> list[pb.Table]:
        """Tables with free seats, those that play too if wanted; the newest first. Raises CallFailed."""
        states = [pb.TABLE_STATE_OPEN, *([pb.TABLE_STATE_PLAYING] if playing else [])]
        stub = rpc.LobbyServiceStub(self.client.channel)
        request = pb.ListTablesRequest(game=game, page_size=LIST_MOST, states=states)
        return list((await self.client.unary(stub.ListTables, request)).tables)

    async def sit(self, match_id: str, seat: Seat | None = None) -> Place | Refused:
        """Take a seat."""
        place = await self.client.lobby.sit(match_id, seat)
        if isinstance(place, Place):
            self.keep(place)
        return place

    async def filling(self, match_id: str) -> AsyncIterator[pb.Table | Refused]:
        """The table whenever it changes, until its match has begun (the last one given) or it is gone (Refused)."""
        last: bytes = b""
        while True:
            table = await self.client.lobby.table(match_id)
            if isinstance(table, Refused):
                yield table
                return
            now = table.SerializeToString(deterministic=True)
            if now != last:
                last = now
                yield table
            if table.state != pb.TABLE_STATE_OPEN:
                return
            await asyncio.sleep(LOOK_S)

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
            await asyncio.sleep(LOOK_S / 2)

    async def watch(self, match_id: str) -> Match | Refused:
        """Follow a match from outside. Raises CallFailed, Gone."""
        return await self.session.watch(match_id)


def refusal_text(refused: Refused, lang: str) -> str:
    """A refusal as people read it: the rule first."""
    said = refused.text_zh if lang == "zh" else refused.text_en
    return said if not refused.rule or said.startswith(refused.rule) else f"{refused.rule}: {said}"
