"""Quick matches at one gateway: its clients' tickets, and what they are told."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable

from kangtou.v1 import game_pb2 as pb

from ..agreement import BOT, new_id
from ..identity import Account
from ..marks import Marks, digest
from ..opening import Choice, LiveMatches
from ..refusals import refusal
from .arriving import Arriving, malformed, pool_of
from .base import OVER, PoolStore, State, Status
from .followers import Follower
from .known import Knowledge, nobody_known
from .matcher import Matcher
from .parties import PartyStore
from .penalties import MemoryPenalties, Penalties
from .pools import LISTED_MS, Pools
from .settings import MatchmakingSettings

_CANCELLED = "cancelled"


class Matchmaker:
    """Matchmaking as a gateway offers it. `start` it and `stop` it."""

    def __init__(
        self,
        store: PoolStore,
        marks: Marks,
        matcher: Matcher,
        live: LiveMatches,
        settings: MatchmakingSettings | None = None,
        knowledge: Knowledge = nobody_known,
        penalties: Penalties | None = None,
        parties: PartyStore | None = None,
        wall_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
    ) -> None:
        self._store = store
        self._marks = marks
        self._matcher = matcher
        self._settings = settings or MatchmakingSettings()
        self._penalties = penalties or MemoryPenalties()
        self._wall_ms = wall_ms
        self._arriving = Arriving(store, matcher, live, self._settings, knowledge, self._penalties, parties, wall_ms)
        self._pools = Pools(store, matcher, self._settings, wall_ms)

    def start(self) -> None:
        """Listen to news, look at all pools now and then."""
        self._pools.start()

    async def stop(self) -> None:
        """Leave everything to the other gateways. End the calls first, so that their places are given up."""
        await self._pools.stop()

    async def quick(
        self, account: Account, pool_name: str, choice: Choice, commitment: str, ticket_id: str, party: str = ""
    ) -> AsyncGenerator[Status | pb.Refusal, None]:
        """How a ticket stands, until it is over (OVER), or a refusal. Closing the iterator gives the place up.

        A ticket that is known is joined, also from another gateway; after it had been given up, at its old place.
        Raises StoreUnavailable before the first status only. Refused: bad_id, bad_pool, bad_commitment, id_reused,
        already_queued, already_playing, too_many_tickets, pool_full, declined_often; see NoParty too.
        """
        if no := malformed(ticket_id, pool_name, commitment):
            yield no
            return
        pool = pool_of(account, pool_name, choice)
        content = f"{pool.id} {digest(commitment, party) if party else digest(commitment)}"
        keep = self._settings.keep_ms
        claimed = await self._marks.claim("ticket", account.account_id, ticket_id, content, keep)
        if claimed != content:
            yield Status(State.CANCELLED) if claimed == _CANCELLED else refusal("id_reused")
            return
        ticket = await self._arriving.ticket(account, pool, commitment, ticket_id, party)
        if no := await self._arriving.kept_out(account, pool, ticket):
            yield no
            return
        stream = new_id()
        most = self._settings.bot_tickets if account.kind == BOT else 1
        try:
            status = await self._arriving.enter(pool, ticket, stream, most)
            if isinstance(status, pb.Refusal):
                yield status
                return
            follower = self._pools.follow(pool, Follower(ticket, stream, most, status, time.monotonic()))
            while True:
                status = follower.status  # it may change while the caller has this one
                yield status
                if status.state in OVER:
                    return
                await follower.news.wait()
                follower.news.clear()
        finally:
            self._pools.unfollow(pool, ticket, stream)

    async def cancel(self, account_id: str, ticket_id: str) -> Status:
        """Take a ticket back: CANCELLED or DECLINED; MATCHED or READY if that came first. Raises StoreUnavailable."""
        claimed = await self._marks.claim("ticket", account_id, ticket_id, _CANCELLED, self._settings.keep_ms)
        if claimed == _CANCELLED:
            return Status(State.CANCELLED)
        return await self.take_back(claimed.split(" ")[0], f"{account_id}/{ticket_id}")

    async def take_back(self, pool_id: str, ref: str, by: str = "") -> Status:
        """The same of a ticket whose pool is known. If somebody else has it taken back, its account is not to blame."""
        status = await self._store.cancel(pool_id, ref, self._wall_ms())
        if status.state is State.DECLINED and by in ("", ref.partition("/")[0]):
            await self._penalties.declined(ref.partition("/")[0], status.match_id, self._wall_ms())
        return status

    async def answer(self, account_id: str, ticket_id: str, match_id: str, accept: bool) -> Status | pb.Refusal:
        """Take or decline the match that a ticket is OFFERED. Refused: offer_over. Raises StoreUnavailable."""
        held = await self._marks.find("ticket", account_id, ticket_id)
        if held is None or held == _CANCELLED:
            return refusal("offer_over")
        pool_id, ref = held.split(" ")[0], f"{account_id}/{ticket_id}"
        status = await self._store.answer(pool_id, ref, match_id, accept, self._wall_ms())
        if status is None:
            return refusal("offer_over")
        if status.state is State.DECLINED:
            await self._penalties.declined(account_id, match_id, self._wall_ms())
        elif status.state is State.MATCHED:
            await self._matcher.finish(pool_id, match_id)
        return status

    async def forget(self, account_id: str) -> None:
        """An account is deleted: its tickets that wait are taken back. May be repeated. Raises StoreUnavailable."""
        now = self._wall_ms()
        for pool_id in await self._store.pools(now - LISTED_MS):
            for ticket in (await self._store.look(pool_id)).waiting:
                if ticket.account_id == account_id:
                    await self._store.cancel(pool_id, ticket.ref, now)
