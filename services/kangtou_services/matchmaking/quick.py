"""Quick matches at one gateway: its clients' tickets, what they are told, and the rounds of its matcher.

Each pool in which somebody waits here has one task. It gives signs of life of the tickets, passes on how they stand and
runs the matcher; it is woken by arrivals and by news of other gateways, and ticks.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, replace

import structlog

from kangtou.v1 import game_pb2 as pb

from ..agreement import BOT, HUMAN, new_id
from ..identity import Account, StoreUnavailable, good_command_id, is_house
from ..marks import Marks, digest
from ..opening import Choice, LiveMatches, good_commitment
from ..refusals import refusal
from .base import ASKED, OVER, NoPlace, Pool, PoolStore, State, Status, Ticket
from .followers import Follower, LocalPool
from .known import Knowledge, Known, nobody_known
from .matcher import Matcher
from .parties import NoParty, PartyStore
from .penalties import MemoryPenalties, Penalties

_log = structlog.get_logger(__name__)

POOL_NAME = re.compile(r"[A-Za-z0-9_-]{0,32}")
_CANCELLED = "cancelled"
_LISTED_MS = 3_600_000
_LEAVE_S = 2.0
_AGAIN_S = 0.02  # after somebody else had the lease
_ESTIMATE_S = 2.0  # how often recent waits are looked up
_ESTIMATES_LEAST = 3  # of them, for an estimate


@dataclass(frozen=True, slots=True)
class MatchmakingSettings:
    """tick_s, sweep_s: how often a pool of this gateway, and all pools, are looked at without being asked.

    patience_s: how long a ticket may wait for the end of its account's former match or ticket to arrive
    bot_tickets: tickets and seats that a bot's account may have in one pool (a person's: one)
    fill_after_ms: how long people wait until bots may take the free seats; 0: they do not
    house_pool: the pool in which nobody need wait for house bots
    """

    tick_s: float = 0.5
    sweep_s: float = 3.0
    patience_s: float = 3.0
    keep_ms: int = 2 * 3_600_000
    bot_tickets: int = 256
    fill_after_ms: int = 0
    house_pool: str = "house"


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
        self._live = live
        self._settings = settings or MatchmakingSettings()
        self._knowledge = knowledge
        self._penalties = penalties or MemoryPenalties()
        self._parties = parties
        self._wall_ms = wall_ms
        self._pools: dict[str, LocalPool] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._leaving: set[asyncio.Task[None]] = set()
        self._stopped = False

    def start(self) -> None:
        """Listen to news, look at all pools now and then."""
        self._tasks = [asyncio.create_task(self._listen()), asyncio.create_task(self._sweep())]

    async def stop(self) -> None:
        """Leave everything to the other gateways. End the calls first, so that their places are given up."""
        self._stopped = True
        tasks = [*self._tasks, *(local.task for local in self._pools.values() if local.task is not None)]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._matcher.stop()
        if self._leaving:
            await asyncio.wait(self._leaving, timeout=_LEAVE_S)

    async def quick(
        self, account: Account, pool_name: str, choice: Choice, commitment: str, ticket_id: str, party: str = ""
    ) -> AsyncGenerator[Status | pb.Refusal, None]:
        """How a ticket stands, until it is over (OVER), or a refusal. Closing the iterator gives the place up.

        A ticket that is known is joined, also from another gateway; after it had been given up, at its old place.
        Raises StoreUnavailable before the first status only. Refused: bad_id, bad_pool, bad_commitment, id_reused,
        already_queued, already_playing, too_many_tickets, pool_full, declined_often; see NoParty too.
        """
        if no := _malformed(ticket_id, pool_name, commitment):
            yield no
            return
        pool = pool_of(account, pool_name, choice)
        content = f"{pool.id} {digest(commitment, party) if party else digest(commitment)}"
        keep = self._settings.keep_ms
        claimed = await self._marks.claim("ticket", account.account_id, ticket_id, content, keep)
        if claimed != content:
            yield Status(State.CANCELLED) if claimed == _CANCELLED else refusal("id_reused")
            return
        ticket = await self._ticket(account, pool, commitment, ticket_id, party)
        if no := await self._kept_out(account, pool, ticket):
            yield no
            return
        stream = new_id()
        most = self._settings.bot_tickets if account.kind == BOT else 1
        try:
            status = await self._enter(pool, ticket, stream, most)
            if isinstance(status, pb.Refusal):
                yield status
                return
            follower = self._follow(pool, Follower(ticket, stream, most, status, time.monotonic()))
            while True:
                status = follower.status  # it may change while the caller has this one
                yield status
                if status.state in OVER:
                    return
                await follower.news.wait()
                follower.news.clear()
        finally:
            self._unfollow(pool, ticket, stream)

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
        for pool_id in await self._store.pools(now - _LISTED_MS):
            for ticket in (await self._store.look(pool_id)).waiting:
                if ticket.account_id == account_id:
                    await self._store.cancel(pool_id, ticket.ref, now)

    # ---- arriving and leaving ----

    async def _ticket(self, account: Account, pool: Pool, commitment: str, ticket_id: str, party: str) -> Ticket:
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

    async def _kept_out(self, account: Account, pool: Pool, ticket: Ticket) -> pb.Refusal | None:
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

    async def _enter(self, pool: Pool, ticket: Ticket, stream: str, most: int) -> Status | pb.Refusal:
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

    def _follow(self, pool: Pool, follower: Follower) -> Follower:
        local = self._pools.get(pool.id)
        if local is None:
            local = self._pools[pool.id] = LocalPool(pool)
            local.task = asyncio.create_task(self._attend(local), name=f"pool-{pool.id}")
        local.followers[follower.stream] = follower
        local.wake.set()
        return follower

    def _unfollow(self, pool: Pool, ticket: Ticket, stream: str) -> None:
        follower: Follower | None = None
        if (local := self._pools.get(pool.id)) is not None:
            follower = local.followers.pop(stream, None)
            if not local.followers and local.task is not None:
                local.task.cancel()
                del self._pools[pool.id]
        if self._stopped or (follower is not None and follower.status.state not in (State.WAITING, State.LEFT)):
            return
        task = asyncio.create_task(self._leave(pool.id, ticket.ref, stream))
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)

    async def _leave(self, pool_id: str, ref: str, stream: str) -> None:
        try:
            await self._store.leave(pool_id, ref, stream, self._wall_ms())
        except StoreUnavailable as no:
            _log.warning("ticket_not_given_up", reason=str(no))  # it falls silent instead

    # ---- the pools of this gateway ----

    async def _attend(self, local: LocalPool) -> None:
        while True:
            local.wake.clear()
            try:
                await self._round(local)
            except StoreUnavailable as no:
                _log.warning("pool_delayed", pool=local.pool.id, reason=str(no))
            except Exception as error:  # noqa: BLE001 - whatever it is, those who wait here must not wait in vain
                _log.error("pool_failed", pool=local.pool.id, error=type(error).__name__, text=str(error))
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._settings.tick_s):
                    await local.wake.wait()

    async def _round(self, local: LocalPool) -> None:
        streams = {follower.ticket.ref: follower.stream for follower in local.followers.values()}
        found = await self._store.refresh(local.pool.id, streams, self._wall_ms())
        await self._estimate(local)
        open_now = 0
        for follower in list(local.followers.values()):
            status = found.get(follower.ticket.ref)
            if status is None or status.state in (State.LEFT, State.SILENT):
                status = await self._again(local.pool, follower)
            follower.tell(replace(status, estimate_ms=local.estimate_ms), time.monotonic())
            if status.state is State.MATCHED or self._is_due(follower.ticket, status):
                open_now = local.pool.choice.seats
            elif status.state is State.WAITING:
                open_now = max(open_now, status.waiting)
        if open_now >= local.pool.choice.seats and not await self._matcher.run(local.pool.id):
            asyncio.get_running_loop().call_later(_AGAIN_S, local.wake.set)

    def _is_due(self, ticket: Ticket, status: Status) -> bool:
        """Whether the matcher has something to do for a ticket though nobody has come."""
        now = self._wall_ms()
        if status.state in ASKED:
            return now > status.answer_by_ms
        return bool(ticket.fill_after_ms) and now - ticket.since_ms >= ticket.fill_after_ms

    async def _estimate(self, local: LocalPool) -> None:
        """The median of recent waits."""
        now = time.monotonic()
        if now - local.estimated_at >= _ESTIMATE_S:
            local.estimated_at = now
            waits = sorted(await self._store.waits(local.pool.id))
            local.estimate_ms = waits[len(waits) // 2] if len(waits) >= _ESTIMATES_LEAST else 0

    async def _again(self, pool: Pool, follower: Follower) -> Status:
        """A ticket whose call goes on, but which was given up elsewhere or fell silent, as in an outage."""
        args = (follower.ticket, follower.stream, follower.most, self._wall_ms())
        status = await self._store.enqueue(pool, *args)
        return Status(State.CANCELLED) if isinstance(status, NoPlace) else status

    # ---- all pools ----

    async def _listen(self) -> None:
        while True:
            try:
                async with self._store.news() as news:
                    async for pool_id in news:
                        if (local := self._pools.get(pool_id)) is not None:
                            local.wake.set()
            except StoreUnavailable:
                await asyncio.sleep(self._settings.tick_s)  # pools tick meanwhile

    async def _sweep(self) -> None:
        while True:
            try:
                for pool_id in list(self._pools):
                    await self._store.touch(pool_id, self._wall_ms())
                for pool_id in await self._store.pools(self._wall_ms() - _LISTED_MS):
                    await self._matcher.run(pool_id, sweep=True)
            except StoreUnavailable as no:
                _log.warning("sweep_delayed", reason=str(no))
            await asyncio.sleep(self._settings.sweep_s)


def pool_of(account: Account, name: str, choice: Choice) -> Pool:
    """Where a ticket of this account waits: rated pools are apart for people and bots."""
    return Pool(name, choice, account.kind if choice.rated else "")


def _malformed(ticket_id: str, pool_name: str, commitment: str) -> pb.Refusal | None:
    if not good_command_id(ticket_id):
        return refusal("bad_id")
    if POOL_NAME.fullmatch(pool_name) is None:
        return refusal("bad_pool")
    return None if good_commitment(commitment) else refusal("bad_commitment")
