"""Pools in memory: for practice and tests. Several matchmakers may share one store, as gateways share Redis."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from ..identity import StoreUnavailable
from .base import ASKED, LOOK_MOST, WAITING_MOST, WAITS_MOST, Look, NoPlace, Offer, Pool, State, Status, Ticket

_NEWS_MOST = 1_000  # unread hints of one listener; the oldest are dropped


@dataclass(slots=True)
class _Held:
    ticket: Ticket
    order: int
    stream: str
    state: State = State.WAITING
    match_id: str = ""
    seat: int = -1
    at_ms: int = 0  # the last sign of life, or when it stopped waiting


@dataclass(slots=True)
class _Asked:
    refs: tuple[str, ...]
    answer_by_ms: int
    accepted: set[str] = field(default_factory=set)


@dataclass(slots=True)
class _Pool:
    pool: Pool | None = None
    tickets: dict[str, _Held] = field(default_factory=dict)
    held: Counter[str] = field(default_factory=Counter)
    offers: dict[str, Offer] = field(default_factory=dict)
    asked: dict[str, _Asked] = field(default_factory=dict)
    waits: deque[int] = field(default_factory=lambda: deque(maxlen=WAITS_MOST))
    seats: dict[str, tuple[str, ...]] = field(default_factory=dict)
    order: int = 0
    fence: int = 0
    holder: str = ""
    lease_ends: float = 0.0

    def queue(self) -> list[_Held]:
        waiting = [held for held in self.tickets.values() if held.state is State.WAITING]
        return sorted(waiting, key=lambda held: held.order)

    def status(self, held: _Held) -> Status:
        asked = self.asked.get(held.match_id) if held.state in ASKED else None
        until, accepted = (asked.answer_by_ms, len(asked.accepted)) if asked else (0, 0)
        return Status(held.state, held.match_id, held.seat, len(self.queue()), until, accepted)

    def stop(self, held: _Held, state: State, now_ms: int) -> None:
        held.state, held.at_ms = state, now_ms
        self.held[held.ticket.account_id] -= 1

    def dissolve(self, match_id: str, gone: Mapping[str, State], now_ms: int) -> None:
        """Those in `gone` leave with a state, the others wait again."""
        for ref in self.asked.pop(match_id).refs:
            held = self.tickets[ref]
            if ref in gone:
                self.stop(held, gone[ref], now_ms)
            else:
                held.state, held.match_id, held.seat, held.at_ms = State.WAITING, "", -1, now_ms


class MemoryPoolStore:
    """A PoolStore. Everything fails while `reached` is False. `clock` (seconds) ends leases."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._pools: dict[str, _Pool] = {}
        self._touched: dict[str, int] = {}
        self._listeners: set[asyncio.Queue[str]] = set()
        self.reached = True

    async def pools(self, since_ms: int) -> list[str]:
        """See PoolStore."""
        await self._use()
        self._touched = {name: at for name, at in self._touched.items() if at >= since_ms}
        return sorted(self._touched)

    async def touch(self, pool_id: str, now_ms: int) -> None:
        """See PoolStore."""
        await self._use()
        self._touched[pool_id] = max(now_ms, self._touched.get(pool_id, 0))

    async def enqueue(self, pool: Pool, ticket: Ticket, stream: str, most: int, now_ms: int) -> Status | NoPlace:
        """See PoolStore."""
        await self.touch(pool.id, now_ms)
        here = self._pool(pool.id)
        held = here.tickets.get(ticket.ref)
        if held is not None and held.state is State.WAITING:
            held.stream, held.at_ms = stream, now_ms
        if held is not None and held.state not in (State.LEFT, State.SILENT):
            return here.status(held)
        if here.held[ticket.account_id] >= most:
            return NoPlace.HELD
        if len(here.queue()) >= WAITING_MOST:
            return NoPlace.FULL
        here.pool = pool
        if held is None:
            here.order += 1
            held = here.tickets[ticket.ref] = _Held(ticket, here.order, stream)
        held.ticket, held.stream, held.state, held.at_ms = ticket, stream, State.WAITING, now_ms
        here.held[ticket.account_id] += 1
        self._tell(pool.id)
        return here.status(held)

    async def refresh(self, pool_id: str, streams: Mapping[str, str], now_ms: int) -> dict[str, Status]:
        """See PoolStore."""
        await self._use()
        here = self._pool(pool_id)
        found = {ref: here.tickets[ref] for ref in streams if ref in here.tickets}
        for ref, held in found.items():
            if held.state is State.WAITING and held.stream == streams[ref]:
                held.at_ms = now_ms
        return {ref: here.status(held) for ref, held in found.items()}

    async def cancel(self, pool_id: str, ref: str, now_ms: int) -> Status:
        """See PoolStore."""
        await self._use()
        here = self._pool(pool_id)
        held = here.tickets.get(ref)
        if held is None:
            account_id, _, ticket_id = ref.partition("/")
            gone = Ticket(ticket_id, account_id, "", "")
            held = here.tickets[ref] = _Held(gone, 0, "", State.CANCELLED, at_ms=now_ms)
        elif held.state is State.WAITING:
            here.stop(held, State.CANCELLED, now_ms)
            self._tell(pool_id)
        elif held.state in (State.LEFT, State.SILENT):
            held.state = State.CANCELLED
            self._tell(pool_id)
        elif held.state in ASKED:
            here.dissolve(held.match_id, {ref: State.DECLINED}, now_ms)
            self._tell(pool_id)
        return here.status(held)

    async def leave(self, pool_id: str, ref: str, stream: str, now_ms: int) -> None:
        """See PoolStore."""
        await self._use()
        here = self._pool(pool_id)
        held = here.tickets.get(ref)
        if held is not None and held.state is State.WAITING and held.stream == stream:
            here.stop(held, State.LEFT, now_ms)
            self._tell(pool_id)

    async def lease(self, pool_id: str, holder: str, ms: int) -> int | None:
        """See PoolStore."""
        await self._use()
        here = self._pool(pool_id)
        now = self._clock()
        if here.holder not in ("", holder) and now < here.lease_ends:
            return None
        here.holder, here.lease_ends = holder, now + ms / 1000
        here.fence += 1
        return here.fence

    async def release(self, pool_id: str, holder: str) -> None:
        """See PoolStore."""
        await self._use()
        here = self._pool(pool_id)
        if here.holder == holder:
            here.holder = ""

    async def prune(self, pool_id: str, fence: int, silent_before_ms: int, ended_before_ms: int, now_ms: int) -> None:
        """See PoolStore."""
        await self._use()
        here = self._pool(pool_id)
        if fence != here.fence:
            return
        for ref, held in list(here.tickets.items()):
            if held.state is State.WAITING and held.at_ms < silent_before_ms:
                here.stop(held, State.SILENT, now_ms)
                self._tell(pool_id)
            elif held.state not in (State.WAITING, State.MATCHED, *ASKED) and held.at_ms < ended_before_ms:
                del here.tickets[ref]

    async def look(self, pool_id: str) -> Look:
        """See PoolStore."""
        await self._use()
        here = self._pool(pool_id)
        waiting = tuple(held.ticket for held in here.queue()[:LOOK_MOST])
        asked = {match: one.answer_by_ms for match, one in here.asked.items()}
        return Look(here.pool, waiting, tuple(here.offers.values()), dict(here.seats), asked)

    async def offer(
        self, pool_id: str, fence: int, match_id: str, refs: Sequence[str], now_ms: int, answer_by_ms: int = 0
    ) -> bool:
        """See PoolStore."""
        await self._use()
        here = self._pool(pool_id)
        if match_id in here.offers or match_id in here.asked:
            return True
        found = [here.tickets[ref] for ref in dict.fromkeys(refs) if ref in here.tickets]
        waiting = [held for held in found if held.state is State.WAITING]
        if fence != here.fence or len(waiting) != len(refs):
            return False
        state = State.OFFERED if answer_by_ms else State.MATCHED
        for seat, held in enumerate(waiting):
            held.state, held.match_id, held.seat, held.at_ms = state, match_id, seat, now_ms
        if answer_by_ms:
            here.asked[match_id] = _Asked(tuple(refs), answer_by_ms)
        else:
            here.offers[match_id] = Offer(match_id, tuple(held.ticket for held in waiting), now_ms)
        self._tell(pool_id)
        return True

    async def answer(self, pool_id: str, ref: str, match_id: str, accept: bool, now_ms: int) -> Status | None:
        """See PoolStore."""
        await self._use()
        here = self._pool(pool_id)
        held, asked = here.tickets.get(ref), here.asked.get(match_id)
        if held is None or held.match_id != match_id:
            return None
        if asked is None:  # a repeat, or over
            done = (State.MATCHED, State.READY) if accept else (State.DECLINED,)
            return here.status(held) if held.state in done else None
        if not accept:
            here.dissolve(match_id, {ref: State.DECLINED}, now_ms)
        elif held.state is State.OFFERED and now_ms > asked.answer_by_ms:
            return None
        else:
            held.state = State.ACCEPTED
            asked.accepted.add(ref)
            if len(asked.accepted) == len(asked.refs):
                self._agreed(here, match_id, now_ms)
        self._tell(pool_id)
        return here.status(held)

    def _agreed(self, here: _Pool, match_id: str, now_ms: int) -> None:
        members = [here.tickets[one] for one in here.asked.pop(match_id).refs]
        for held in members:
            held.state, held.at_ms = State.MATCHED, now_ms
        here.offers[match_id] = Offer(match_id, tuple(held.ticket for held in members), now_ms)

    async def expire(self, pool_id: str, match_id: str, now_ms: int) -> list[str]:
        """See PoolStore."""
        await self._use()
        here = self._pool(pool_id)
        asked = here.asked.get(match_id)
        if asked is None or now_ms <= asked.answer_by_ms:
            return []
        missed = [ref for ref in asked.refs if ref not in asked.accepted]
        here.dissolve(match_id, dict.fromkeys(missed, State.MISSED), now_ms)
        self._tell(pool_id)
        return missed

    async def waited(self, pool_id: str, waits_ms: Sequence[int]) -> None:
        """See PoolStore."""
        await self._use()
        self._pool(pool_id).waits.extend(waits_ms)

    async def waits(self, pool_id: str) -> list[int]:
        """See PoolStore."""
        await self._use()
        return list(self._pool(pool_id).waits)

    async def ready(self, pool_id: str, match_id: str, now_ms: int) -> None:
        """See PoolStore."""
        await self._use()
        here = self._pool(pool_id)
        offer = here.offers.pop(match_id, None)
        if offer is None:
            return
        for ticket in offer.tickets:
            held = here.tickets[ticket.ref]
            held.state, held.at_ms = State.READY, now_ms
        here.seats[match_id] = tuple(ticket.account_id for ticket in offer.tickets)
        self._tell(pool_id)

    async def free(self, pool_id: str, matches: Sequence[str]) -> None:
        """See PoolStore."""
        await self._use()
        here = self._pool(pool_id)
        for match_id in matches:
            here.held.subtract(here.seats.pop(match_id, ()))

    @asynccontextmanager
    async def news(self) -> AsyncIterator[AsyncIterator[str]]:
        """See PoolStore."""
        await self._use()
        heard: asyncio.Queue[str] = asyncio.Queue(_NEWS_MOST)
        self._listeners.add(heard)
        try:
            yield _messages(heard)
        finally:
            self._listeners.discard(heard)

    def _pool(self, pool_id: str) -> _Pool:
        return self._pools.setdefault(pool_id, _Pool())

    def _tell(self, pool_id: str) -> None:
        for heard in self._listeners:
            if heard.full():
                heard.get_nowait()
            heard.put_nowait(pool_id)

    async def _use(self) -> None:
        await asyncio.sleep(0)
        if not self.reached:
            raise StoreUnavailable("the pools in memory are switched off")


async def _messages(heard: asyncio.Queue[str]) -> AsyncIterator[str]:
    while True:
        yield await heard.get()
