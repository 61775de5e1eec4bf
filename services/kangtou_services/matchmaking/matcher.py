"""Forming groups in a pool and having their tables opened. Any gateway does it; a lease lets one at a time.

A group is first a durable offer with the id of its match. Making the match is a second step that may be repeated, so an
offer whose matcher has died is finished by the next one that looks.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import structlog

from kangtou_engine.errors import BadOptions

from ..agreement import new_id
from ..identity import StoreUnavailable
from ..opening import Games, LiveMatches, Opening
from .base import LOOK_MOST, Look, Offer, Pool, PoolStore, Ticket

_log = structlog.get_logger(__name__)

_OPENING_MOST = 32  # tables that one matcher has opened at a time; the others wait
_PRUNES = 10  # in the time that a ticket may be silent
_PRUNED_MOST = 10_000
_RACES_MOST = 5  # groups that may come to nothing, as a ticket was taken back, before the next run


@dataclass(frozen=True, slots=True)
class MatcherSettings:
    """silent_ms without a sign of life and a ticket drops out; remember_ms: how long one that has ended is known;
    orphan_ms: an offer as old as this is finished by whoever sees it.
    """

    silent_ms: int = 6_000
    remember_ms: int = 3_600_000
    lease_ms: int = 5_000
    orphan_ms: int = 2_000


def groups(waiting: Sequence[Ticket], size: int, *, distinct: bool) -> list[tuple[Ticket, ...]]:
    """Full groups in order of waiting; with `distinct`, of different accounts."""
    left = list(waiting)
    formed: list[tuple[Ticket, ...]] = []
    while len(left) >= size:
        chosen: list[Ticket] = []
        accounts: set[str] = set()
        for ticket in left:
            if not distinct or ticket.account_id not in accounts:
                chosen.append(ticket)
                accounts.add(ticket.account_id)
            if len(chosen) == size:
                break
        else:
            break  # too few accounts, then for whatever comes after too
        formed.append(tuple(chosen))
        taken = {ticket.ref for ticket in chosen}
        left = [ticket for ticket in left if ticket.ref not in taken]
    return formed


class Matcher:
    """One process's part in matching. `wall_ms`: Unix ms."""

    def __init__(
        self,
        store: PoolStore,
        games: Games,
        opening: Opening,
        live: LiveMatches,
        settings: MatcherSettings | None = None,
        wall_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
    ) -> None:
        self._store = store
        self._games = games
        self._opening = opening
        self._live = live
        self._settings = settings or MatcherSettings()
        self._wall_ms = wall_ms
        self._holder = new_id()
        self._slots = asyncio.Semaphore(_OPENING_MOST)
        self._pruned: dict[str, int] = {}  # by pool: when
        self._finishing: dict[str, asyncio.Task[None]] = {}

    async def run(self, pool_id: str, *, sweep: bool = False) -> bool:
        """Form what groups there are. False if somebody else is at it just now. Raises StoreUnavailable.

        Tables are opened behind this, by tasks of this matcher. `sweep` also lets go of seats in ended matches.
        """
        fence = await self._store.lease(pool_id, self._holder, self._settings.lease_ms)
        if fence is None:
            return False
        try:
            look = await self._tidy(pool_id, fence, sweep=sweep)
            formed = await self._form(pool_id, fence, look)
            old = self._wall_ms() - self._settings.orphan_ms
            orphans = [offer for offer in look.offers if offer.at_ms <= old]
            if look.pool is not None:
                for offer in (*orphans, *formed):
                    self._finish_later(look.pool, offer)
        finally:
            with contextlib.suppress(StoreUnavailable):  # the lease ends by itself
                await self._store.release(pool_id, self._holder)
        return True

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
        if sweep and look.seats and (over := await self._live.ended(look.seats)):
            await self._store.free(pool_id, sorted(over))
        return look

    async def _form(self, pool_id: str, fence: int, look: Look) -> list[Offer]:
        formed: list[Offer] = []
        races = 0
        while look.pool is not None and races < _RACES_MOST:
            choice = look.pool.choice
            found = groups(look.waiting, choice.seats, distinct=choice.rated)
            for group in found:
                offer = Offer(new_id(), _seated(group), self._wall_ms())
                refs = [ticket.ref for ticket in offer.tickets]
                if await self._store.offer(pool_id, fence, offer.match_id, refs, offer.at_ms):
                    formed.append(offer)
                else:
                    races += 1
            if not found or (not races and len(look.waiting) < LOOK_MOST):
                break
            look = await self._store.look(pool_id)
        return formed

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
                await self._store.ready(pool.id, offer.match_id, self._wall_ms())
        except StoreUnavailable as no:
            _log.warning("offer_delayed", match=offer.match_id, reason=str(no))


def _seated(group: Sequence[Ticket]) -> tuple[Ticket, ...]:
    """Who sits where: drawn, so that the order of waiting tells nothing."""
    left = list(group)
    return tuple(left.pop(secrets.randbelow(len(left))) for _ in group)
