"""A bot of the house: plays for seats whose owners are away, until they take them back."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import cast

from kangtou.v1.play_pb2_grpc import PlayServiceStub
from kangtou_clients.api.session import Session
from kangtou_clients.api.values import Gone, Refused

from .journal import Seen
from .players import Player, look


class Substitute(Player):
    """One process. It answers whatever it is asked with the default action."""

    async def run(self) -> None:
        """Until the match is over."""
        metadata = (("authorization", f"Bearer t-{self.account}"),)
        world, stub = self.world, cast("PlayServiceStub", SimpleNamespace(Play=self.open))
        while not world.archives.written:
            wanted = [seat for match, seat in world.house.wanted if match == world.match]
            if wanted:
                async with Session(stub, lambda: metadata, world.registry, give_up_s=1e9) as session:
                    await self._stand_in(session, wanted[0])
            await asyncio.sleep(0.05)
        self.done = True

    async def _stand_in(self, session: Session, seat: int) -> None:
        world, journal = self.world, self.world.journal
        try:
            match = await session.attach(world.match, seat=seat, delegate=True)
            if isinstance(match, Refused):
                journal.count(f"substitute refused {match.code}")
                return
            journal.count("substitute")
            seen = Seen(seat)
            journal.seen.append(seen)
            looking = asyncio.ensure_future(look(match, seen))
            async for prompt in match.prompts():
                if not isinstance(await match.act(prompt.default, prompt.number), Refused):
                    journal.count("played by a substitute")
            await looking
            await self.settled()
        except Gone:
            journal.count("substitute let go")
