"""What one house account does with its offers: a task each, from the offer to its settlement."""

from __future__ import annotations

import asyncio
import contextlib
import secrets

from kangtou.v1 import lobby_pb2
from kangtou_engine.cards import Seat
from kangtou_engine.game import Pick

from ..api import ApiError, CallFailed, Client, Gone, Match, Place, Refused, Session
from ..api.house import DELEGATE, MATCH, QUEUE, SEAT, SIT, Offer
from .player import Tally, dice, play

LOOK_S, SELDOM_S = 0.3, 1.0  # how often a table is looked at where one waits for a match, or for another one
HAND_OVER_S = 3.0  # how long handing over may take at the end
ENTROPIES_MOST = 1_000
_NOT_ME = frozenset({"not_allowed", "not_welcome", "removed", "already_seated", "too_many_tickets"})
_LATER = frozenset({"throttled", "pool_full", "table_unavailable", "rate_limited"})


class Serving:
    """One account of one process; `process` is the id under which it serves."""

    def __init__(self, client: Client, session: Session, account_id: str, process: str, policy: str) -> None:
        self.process = process
        self.tally = Tally()
        self._client = client
        self._session = session
        self._account_id = account_id
        self._policy = policy
        self._pick = dice()
        self._jobs: dict[str, tuple[Offer, asyncio.Task[None]]] = {}  # by offer
        self._playing: dict[tuple[str, Seat], Match] = {}  # in seats of its own
        self._entropies: dict[str, bytes] = {}  # by match: committed to with a seat or ticket
        self._stopping = False

    def begin(self, offer: Offer) -> None:
        """Take an offer up, unless it is known."""
        if offer.offer_id not in self._jobs and not self._stopping:
            task = asyncio.create_task(self._job(offer), name=f"offer-{offer.offer_id}")
            self._jobs[offer.offer_id] = (offer, task)

    def withdraw(self, offer_id: str) -> None:
        """Let an offer go. What is about to take a seat, or plays one of its own, goes on: it ends by itself."""
        if offer_id in self._jobs:
            offer, task = self._jobs[offer_id]
            if offer.kind in (QUEUE, DELEGATE):
                task.cancel()

    async def hand_over(self) -> None:
        """Stop in order: own seats go to substitutes, all offers are given back."""
        self._stopping = True
        jobs = list(self._jobs.values())
        with contextlib.suppress(TimeoutError, ApiError):
            async with asyncio.timeout(HAND_OVER_S):
                for match_id, seat in list(self._playing):
                    await self._client.hand_over(match_id, seat=seat, command_id=secrets.token_hex(8))
                for _, task in jobs:
                    task.cancel()
                await asyncio.gather(*(task for _, task in jobs), return_exceptions=True)
                for offer, _ in jobs:
                    await self._client.house.settle(self.process, offer, "given_back")

    # ---- one offer ----

    async def _job(self, offer: Offer) -> None:
        outcome = "given_back"
        try:
            outcome = await self._done(offer)
        except (CallFailed, Gone):
            await asyncio.sleep(LOOK_S)  # whoever has it next may do better
        finally:
            self._jobs.pop(offer.offer_id, None)
        with contextlib.suppress(ApiError):  # else its lease ends with this process, or it is offered again
            await self._client.house.settle(self.process, offer, outcome)

    async def _done(self, offer: Offer) -> str:
        if offer.kind == SIT:
            return await self._sit(offer)
        if offer.kind == QUEUE:
            return await self._queue(offer)
        if offer.kind == SEAT:
            return await self._at_table(offer.place)
        if offer.kind == MATCH:
            return await self._match(offer.place, offer.seat)
        refused = await stand_in(self._session, offer.place, offer.seat, self._policy, self._pick, self.tally)
        return "done" if refused is None else _outcome(refused)

    async def _sit(self, offer: Offer) -> str:
        place = await self._client.lobby.sit(offer.place, offer.seat)
        return self._placed(place)

    async def _queue(self, offer: Offer) -> str:
        async with self._client.lobby.quick(offer.wanted, pool=offer.place) as queue:
            return self._placed(await queue.place())

    def _placed(self, place: Place | Refused) -> str:
        if isinstance(place, Refused):
            return _outcome(place)
        while len(self._entropies) >= ENTROPIES_MOST:
            del self._entropies[next(iter(self._entropies))]
        self._entropies[place.match_id] = place.entropy
        return "done"

    async def _match(self, match_id: str, seat: Seat) -> str:
        """Play one's own seat; after a restart it may have been handed over meanwhile."""
        entropy = self._entropies.pop(match_id, b"")
        match = await self._session.attach(match_id, seat=seat, entropy=entropy)
        if isinstance(match, Refused):
            return _outcome(match)
        self._playing[match_id, seat] = match
        try:
            if match.delegated:
                await self._client.take_back(match_id, seat=seat, command_id=secrets.token_hex(8))
            await play(match, self._policy, self._pick, self.tally)
        finally:
            self._playing.pop((match_id, seat), None)
        return "done"

    async def _at_table(self, table_id: str) -> str:
        """Play each match of a table for as long as one sits there."""
        played: set[str] = set()
        while True:
            table = await self._client.lobby.table(table_id)
            if isinstance(table, Refused):
                return _outcome(table)
            seats = [number for number, seat in enumerate(table.seats) if seat.account_id == self._account_id]
            if not seats:
                return "done"
            match_id = table.current_match_id
            if table.state == lobby_pb2.TABLE_STATE_PLAYING and match_id not in played:
                played.add(match_id)
                await self._match(match_id, seats[0])
            else:
                await asyncio.sleep(LOOK_S if table.state == lobby_pb2.TABLE_STATE_OPEN else SELDOM_S)


async def stand_in(
    session: Session, match_id: str, seat: Seat, policy: str, pick: Pick, tally: Tally
) -> Refused | None:
    """Play a seat for its owner, who is away, until he takes it back or the match ends. Refused if it is not let in.

    Raises CallFailed.
    """
    match = await session.attach(match_id, seat=seat, delegate=True)
    if isinstance(match, Refused):
        return match
    with contextlib.suppress(Gone):  # the owner plays again
        await play(match, policy, pick, tally)
    return None


def _outcome(refused: Refused) -> str:
    """What a refusal means for the offer: never for this account, later perhaps, or nothing to do any more."""
    if refused.code in _NOT_ME:
        return "declined"
    return "given_back" if refused.code in _LATER else "done"
