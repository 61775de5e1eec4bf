"""Forming groups in a pool and having their tables opened. Any gateway does it; a lease lets one at a time.

A group is first a durable offer with the id of its match. Making the match is a second step that may be repeated, so an
offer whose matcher has died is finished by the next one that looks.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import structlog

from kangtou_engine.errors import BadOptions

from ..agreement import HUMAN, new_id
from ..identity import StoreUnavailable
from ..observe.gateway import QueueMeter
from ..opening import Games, LiveMatches, Opening
from .base import LOOK_MOST, Look, Offer, Pool, PoolStore
from .grouping import Shape, Windows, groups, lacking, seated
from .penalties import MemoryPenalties, Penalties

_log = structlog.get_logger(__name__)

_OPENING_MOST = 32  # tables that one matcher has opened at a time; the others wait
_PRUNES = 10  # in the time that a ticket may be silent
_PRUNED_MOST = 10_000
_RACES_MOST = 5  # groups that may come to nothing, as a ticket was taken back, before the next run


@dataclass(frozen=True, slots=True)
class MatcherSettings:
    """silent_ms without a sign of life and a ticket drops out; remember_ms: how long one that has ended is known;
    orphan_ms: an offer as old as this is finished by whoever sees it.

    accept_ms: how long people in rated pools have to take a match that was found; 0: they are not asked
    """

    silent_ms: int = 6_000
    remember_ms: int = 3_600_000
    lease_ms: int = 5_000
    orphan_ms: int = 2_000
    accept_ms: int = 0
    windows: Windows = field(default_factory=Windows)


class Fillers(Protocol):
    """What sends bots of the house into a pool: they queue there like anybody else."""

    async def come(self, pool: Pool, wanted: int) -> None:
        """So many are wanted there, with those who have come. A hint, given again while they are; it may not raise."""
        ...

    async def placed(self, match_id: str, game: str, seats: Mapping[int, str]) -> None:
        """These accounts of the house have seats in a match. May be repeated. Raises StoreUnavailable."""
        ...


class Matcher:
    """One process's part in matching. `wall_ms`: Unix ms."""

    def __init__(
        self,
        store: PoolStore,
        games: Games,
        opening: Opening,
        live: LiveMatches,
        settings: MatcherSettings | None = None,
        penalties: Penalties | None = None,
        fillers: Fillers | None = None,
        wall_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
        meter: QueueMeter | None = None,
    ) -> None:
        self._meter = meter or QueueMeter()
        self._store = store
        self._games = games
        self._opening = opening
        self._live = live
        self._settings = settings or MatcherSettings()
        self._penalties = penalties or MemoryPenalties()
        self._fillers = fillers
        self._wall_ms = wall_ms
        self._holder = new_id()
        self._slots = asyncio.Semaphore(_OPENING_MOST)
        self._pruned: dict[str, int] = {}  # by pool: when
        self._finishing: dict[str, asyncio.Task[None]] = {}
        self.paused: Callable[[], bool] = lambda: False  # under maintenance no groups are formed

    def asks(self, pool: Pool) -> bool:
        """Whether those who were found for a match are asked first: people in their rated pools."""
        return self._settings.accept_ms > 0 and pool.kind == HUMAN

    async def run(self, pool_id: str, *, sweep: bool = False) -> bool:
        """Form what groups there are. False if somebody else is at it just now. Raises StoreUnavailable.

        Tables are opened behind this, by tasks of this matcher. `sweep` also lets go of seats in ended matches.
        """
        fence = await self._store.lease(pool_id, self._holder, self._settings.lease_ms)
        if fence is None:
            return False
        try:
            look = await self._tidy(pool_id, fence, sweep=sweep)
            formed = [] if self.paused() else await self._form(pool_id, fence, look)
            old = self._wall_ms() - self._settings.orphan_ms
            orphans = [offer for offer in look.offers if offer.at_ms <= old]
            if look.pool is not None:
                self._note(look.pool, look, formed)
                for offer in (*orphans, *formed):
                    self._finish_later(look.pool, offer)
                if not self.paused():
                    await self._fill(look.pool, look, formed)
        finally:
            with contextlib.suppress(StoreUnavailable):  # the lease ends by itself
                await self._store.release(pool_id, self._holder)
        return True

    def _note(self, pool: Pool, look: Look, formed: Sequence[Offer]) -> None:
        gone = {ticket.ref for offer in formed for ticket in offer.tickets}
        waiting = sum(ticket.ref not in gone for ticket in look.waiting)
        self._meter.looked(pool.id, pool.choice.game, pool.kind or "any", waiting)

    async def finish(self, pool_id: str, match_id: str) -> None:
        """All have taken a match: open it now. Whoever sees the offer does it, if this is not done."""
        look = await self._store.look(pool_id)
        for offer in look.offers:
            if offer.match_id == match_id and look.pool is not None:
                self._finish_later(look.pool, offer)

    async def stop(self) -> None:
        """Leave what is not yet finished to the others."""
        for task in self._finishing.values():
            task.cancel()
        await asyncio.gather(*self._finishing.values(), return_exceptions=True)

    async def _tidy(self, pool_id: str, fence: int, *, sweep: bool) -> Look:
        now = self._wall_ms()
        if sweep or now - self._pruned.get(pool_id, 0) >= self._settings.silent_ms // _PRUNES:
            silent, ended = now - self._settings.silent_ms, now - self._settings.remember_ms
            await self._store.prune(pool_id, fence, silent, ended, now)
            if len(self._pruned) >= _PRUNED_MOST:
                self._pruned.clear()
            self._pruned[pool_id] = now
        look = await self._store.look(pool_id)
        late = [match_id for match_id, until in look.asked.items() if now > until]
        for match_id in late:
            for ref in await self._store.expire(pool_id, match_id, now):
                await self._penalties.declined(ref.partition("/")[0], match_id, now)
        if late:
            look = await self._store.look(pool_id)
        if sweep and look.seats and (over := await self._live.ended(look.seats)):
            await self._store.free(pool_id, sorted(over))
        return look

    async def _form(self, pool_id: str, fence: int, look: Look) -> list[Offer]:
        formed: list[Offer] = []
        races = 0
        while look.pool is not None and races < _RACES_MOST:
            shape = self._shape(look.pool)
            found = groups(look.waiting, shape, self._wall_ms(), self._settings.windows)
            for group in found:
                offer = Offer(new_id(), seated(group, shape.sides), self._wall_ms())
                if not await self._offer(look.pool, fence, offer):
                    races += 1
                elif not self.asks(look.pool):
                    formed.append(offer)
            if not found or (not races and len(look.waiting) < LOOK_MOST):
                break
            look = await self._store.look(pool_id)
        return formed

    def _shape(self, pool: Pool) -> Shape:
        choice = pool.choice
        try:
            game = self._games.game(choice.game, choice.version)
            sides = game.spec.sides(game.config(choice.options, choice.seats))
        except BadOptions:
            sides = ()  # a game of another release: its parties wait for a gateway of that
        return Shape(choice.seats, choice.rated, sides)

    async def _offer(self, pool: Pool, fence: int, offer: Offer) -> bool:
        refs = [ticket.ref for ticket in offer.tickets]
        until = offer.at_ms + self._settings.accept_ms if self.asks(pool) else 0
        done = await self._store.offer(pool.id, fence, offer.match_id, refs, offer.at_ms, until)
        waits = [max(0, offer.at_ms - ticket.since_ms) for ticket in offer.tickets if ticket.kind == HUMAN]
        if done:
            since = [max(0, offer.at_ms - ticket.since_ms) for ticket in offer.tickets]
            self._meter.matched(pool.choice.game, pool.kind or "any", since)
        if done and waits:  # bots do not ask how long it takes
            await self._store.waited(pool.id, waits)
        return done

    async def _fill(self, pool: Pool, look: Look, formed: Sequence[Offer]) -> None:
        """Call for bots if somebody has waited long enough for them; rated pools of people admit none."""
        if self._fillers is None or pool.kind == HUMAN:
            return
        gone = {ticket.ref for offer in formed for ticket in offer.tickets}
        waiting = [ticket for ticket in look.waiting if ticket.ref not in gone]
        missing = lacking(waiting, self._shape(pool), self._wall_ms(), self._settings.windows)
        if missing:
            await self._fillers.come(pool, missing)

    def _finish_later(self, pool: Pool, offer: Offer) -> None:
        if offer.match_id not in self._finishing:
            task = asyncio.create_task(self._finish(pool, offer), name=f"open-{offer.match_id}")
            self._finishing[offer.match_id] = task
            task.add_done_callback(lambda done: self._finished(offer.match_id, done))

    def _finished(self, match_id: str, task: asyncio.Task[None]) -> None:
        del self._finishing[match_id]
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("offer_failed", match=match_id, error=type(error).__name__, text=str(error))

    async def _finish(self, pool: Pool, offer: Offer) -> None:
        choice = pool.choice
        try:
            self._games.game(choice.game, choice.version)
        except BadOptions:
            _log.warning("offer_of_unknown_game", match=offer.match_id, game=choice.game, version=choice.version)
            return  # for a gateway of the release that took the tickets
        try:
            async with self._slots:
                members = [ticket.member for ticket in offer.tickets]
                await self._opening.start(offer.match_id, choice, members, pool.name)
                if self._fillers is not None and any(ticket.house for ticket in offer.tickets):
                    house = {seat: ticket.account_id for seat, ticket in enumerate(offer.tickets) if ticket.house}
                    await self._fillers.placed(offer.match_id, choice.game, house)
                await self._store.ready(pool.id, offer.match_id, self._wall_ms())
        except StoreUnavailable as no:
            _log.warning("offer_delayed", match=offer.match_id, reason=str(no))
