"""Whole matches whose secrets are known, and that can be held in the middle to look at them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from kangtou_clients.api import Match, Session, connect
from kangtou_engine.cards import DECK54, Cards
from kangtou_engine.record import Record
from kangtou_services.agreement import Agreement
from tests.faults import load
from tests.faults.load import Load, Played, Playground

from .known import Finding, Known

TRIES = ("play S3 H3 C3", "play RJ", "show BJ", "discard D5", "peek", "pass", "cut 3")


class Open(Load):
    """A load of one table that notes its secrets. Its bots wait in the middle of the first match until `go_on`.

    hold_after   so many answers are given before
    """

    def __init__(
        self,
        server: Playground,
        known: Known,
        game: str,
        options: Mapping[str, object],
        *,
        seats: int = 4,
        hold_after: int = 10,
    ) -> None:
        super().__init__(server, 1, game=game, seats=seats, options=options, think=0.0)
        self.known = known
        self.matches: dict[int, Match] = {}
        self.held = asyncio.Event()
        self._gate = asyncio.Event()
        self._left = hold_after

    @property
    def match_id(self) -> str:
        """The one in play."""
        return next(iter(self.current))

    async def start(self) -> None:
        """See Load. The tokens are secrets."""
        await super().start()
        self.known.add("token", *(token.split("_", 2)[2] for _, token in self.bots))

    def go_on(self) -> None:
        """Wait no longer, and begin no other match."""
        self._going = False
        self._gate.set()

    async def _stored(self, match_id: str, agreement: Agreement, seed: bytes) -> None:
        self.known.add("seed", seed)
        await super()._stored(match_id, agreement, seed)

    async def _seat(self, session: Session, match_id: str, entropy: bytes, played: Played) -> None:
        self.known.add("entropy", entropy)
        await super()._seat(session, match_id, entropy, played)

    async def _attached(self, session: Session, match: Match) -> None:
        assert match.seat is not None
        self.matches[match.seat] = match

    async def _think(self, match: Match) -> None:
        self._left -= 1
        if self._left < 0 and not self._gate.is_set():
            self.held.set()
            await self._gate.wait()

    async def settled(self) -> None:
        """Held, and every seat has been told the same."""
        await self.held.wait()
        async with asyncio.timeout(60):
            while len({match.view.game.hands and match.seq for match in self.matches.values()}) != 1:  # noqa: ASYNC110
                await asyncio.sleep(0.05)

    def hidden_from(self, seat: int) -> set[str]:
        """The cards of other hands that a seat has not seen: neither in its hand nor anywhere in its view."""
        others = {card for match in self.matches.values() if match.seat != seat for card in hand_of(match)}
        return (others & set(DECK54)) - {card for card in DECK54 if card in repr(self.matches[seat].view)}

    def shown(self, seat: int, where: str, text: str) -> list[Finding]:
        """Hidden cards in a text that this seat was given."""
        cards = sorted(card for card in self.hidden_from(seat) if card in text)
        return [Finding(where, "card", f"{' '.join(cards)} in {text[:200]}")] if cards else []

    async def tried(self, seat: int) -> list[Finding]:
        """What a seat learns by trying what it may not do; the cards that it names itself are no secret of others."""
        found = []
        async with connect(self.server.address, self.bots[seat][1], registry=load.REGISTRY) as client:
            for text in TRIES:
                refused = await client.check(self.match_id, text, seat)
                if refused is not None:
                    said = f"{refused.code} {refused.text_en} {refused.text_zh}"
                    for word in text.split():
                        said = said.replace(word, "")
                    found += self.shown(seat, f"answers to seat {seat}", said)
        return found


def hand_of(match: Match) -> Cards:
    """What a seat holds."""
    assert match.seat is not None
    return tuple(match.view.game.hands[match.seat])


def chains(record: Record) -> list[str]:
    """The hashes that no seat is given: all but the receipt."""
    return [entry.chain for entry in record.entries[:-1]]


@asynccontextmanager
async def in_play(*loads: Open) -> AsyncIterator[None]:
    """All of them begun and held; gone when it ends."""
    try:
        await asyncio.gather(*(one.start() for one in loads))
        async with asyncio.timeout(120):
            await asyncio.gather(*(one.settled() for one in loads))
        yield
    finally:
        for one in loads:
            await one.close()
