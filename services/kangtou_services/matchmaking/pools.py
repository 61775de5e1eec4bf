"""The pools in which clients of this gateway wait.

Each has one task. It gives signs of life of the tickets, passes on how they stand and runs the matcher; it is woken by
arrivals and by news of other gateways, and ticks. All other pools are looked at now and then.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from dataclasses import replace

import structlog

from ..identity import StoreUnavailable
from .base import ASKED, NoPlace, Pool, PoolStore, State, Status, Ticket
from .followers import Follower, LocalPool
from .matcher import Matcher
from .settings import MatchmakingSettings

_log = structlog.get_logger(__name__)

LISTED_MS = 3_600_000
_LEAVE_S = 2.0
_AGAIN_S = 0.02  # after somebody else had the lease
_ESTIMATE_S = 2.0  # how often recent waits are looked up
_ESTIMATES_LEAST = 3  # of them, for an estimate


class Pools:
    """`start` it and `stop` it."""

    def __init__(
        self, store: PoolStore, matcher: Matcher, settings: MatchmakingSettings, wall_ms: Callable[[], int]
    ) -> None:
        self._store = store
        self._matcher = matcher
        self._settings = settings
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

    def follow(self, pool: Pool, follower: Follower) -> Follower:
        """Tell it from now on how its ticket stands; the same, for the caller to listen to."""
        local = self._pools.get(pool.id)
        if local is None:
            local = self._pools[pool.id] = LocalPool(pool)
            local.task = asyncio.create_task(self._attend(local), name=f"pool-{pool.id}")
        local.followers[follower.stream] = follower
        local.wake.set()
        return follower

    def unfollow(self, pool: Pool, ticket: Ticket, stream: str) -> None:
        """No longer; a ticket that waits gives its place up."""
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
                for pool_id in await self._store.pools(self._wall_ms() - LISTED_MS):
                    await self._matcher.run(pool_id, sweep=True)
            except StoreUnavailable as no:
                _log.warning("sweep_delayed", reason=str(no))
            await asyncio.sleep(self._settings.sweep_s)
