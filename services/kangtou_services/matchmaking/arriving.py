"""Coming into a pool: what a ticket says of its account, who is kept out, a place once the former one is given up."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from dataclasses import dataclass

from kangtou.v1 import game_pb2 as pb

from ..agreement import HUMAN
from ..identity import Account, good_command_id, is_house
from ..opening import Choice, LiveMatches, good_commitment
from ..refusals import refusal
from .base import NoPlace, Pool, PoolStore, Status, Ticket
from .known import Knowledge, Known
from .matcher import Matcher
from .parties import NoParty, PartyStore
from .penalties import Penalties
from .settings import MatchmakingSettings

POOL_NAME = re.compile(r"[A-Za-z0-9_-]{0,32}")


@dataclass(frozen=True, slots=True)
class Arriving:
    """What a ticket goes through before it waits."""

    _store: PoolStore
    _matcher: Matcher
    _live: LiveMatches
    _settings: MatchmakingSettings
    _knowledge: Knowledge
    _penalties: Penalties
    _parties: PartyStore | None
    _wall_ms: Callable[[], int]

    async def ticket(self, account: Account, pool: Pool, commitment: str, ticket_id: str, party: str) -> Ticket:
        """With what is known of its account in this moment. Raises StoreUnavailable."""
        known = await self._knowledge(account, pool.choice) if account.kind == HUMAN else Known()
        return Ticket(
            ticket_id,
            account.account_id,
            account.kind,
            account.name,
            commitment,
            since_ms=self._wall_ms(),
            rating=known.rating,
            party=party,
            blocks=known.blocks,
            fill_after_ms=self._fill_after_ms(account, pool),
            house=is_house(account),
        )

    def _fill_after_ms(self, account: Account, pool: Pool) -> int:
        """House bots play in unrated pools alone: in their own with whoever comes, elsewhere with people who waited."""
        if pool.choice.rated or is_house(account):
            return 0
        if pool.name == self._settings.house_pool:
            return -1
        return self._settings.fill_after_ms if account.kind == HUMAN else 0

    async def kept_out(self, account: Account, pool: Pool, ticket: Ticket) -> pb.Refusal | None:
        """Who has declined too often, or is not of the party that was named."""
        now = self._wall_ms()
        if self._matcher.asks(pool) and (until := await self._penalties.until(account.account_id, now)):
            return refusal("declined_often", seconds=-(-(until - now) // 1000))
        if not ticket.party:
            return None
        if self._parties is None:
            return refusal(NoParty.UNKNOWN)
        party = await self._parties.enter(ticket.party, account.account_id, ticket.ref)
        if isinstance(party, NoParty):
            return refusal(party)
        return None if party.pool.id == pool.id else refusal("party_elsewhere")

    async def enter(self, pool: Pool, ticket: Ticket, stream: str, most: int) -> Status | pb.Refusal:
        """Into the pool; the end of the account's former match or ticket is waited for. Raises StoreUnavailable."""
        until = time.monotonic() + self._settings.patience_s
        while isinstance(status := await self._store.enqueue(pool, ticket, stream, most, self._wall_ms()), NoPlace):
            if status is NoPlace.FULL:
                return refusal("pool_full")
            seats = (await self._store.look(pool.id)).seats
            playing = [match for match, accounts in seats.items() if ticket.account_id in accounts]
            if over := await self._live.ended(playing) if playing else set():
                await self._store.free(pool.id, sorted(over))
            elif time.monotonic() > until:
                if most > 1:
                    return refusal("too_many_tickets", limit=most)
                return refusal("already_playing" if playing else "already_queued")
            else:
                await asyncio.sleep(0.1)
        return status


def pool_of(account: Account, name: str, choice: Choice) -> Pool:
    """Where a ticket of this account waits: rated pools are apart for people and bots."""
    return Pool(name, choice, account.kind if choice.rated else "")


def malformed(ticket_id: str, pool_name: str, commitment: str) -> pb.Refusal | None:
    """Why a request cannot be a ticket. Refused: bad_id, bad_pool, bad_commitment."""
    if not good_command_id(ticket_id):
        return refusal("bad_id")
    if POOL_NAME.fullmatch(pool_name) is None:
        return refusal("bad_pool")
    return None if good_commitment(commitment) else refusal("bad_commitment")
