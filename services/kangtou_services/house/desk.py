"""A gateway's desk for house bots: gives needs to the workers whose calls are open here, and keeps their leases.

One task looks at the store a few times a second while anybody serves here; nobody else is troubled. Workers of other
gateways look too: who claims first has the need.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass, field

import structlog

from ..agreement import Agreement
from ..identity import StoreUnavailable
from ..log.base import LogUnavailable, MatchStore
from .needs import Kind, Need, NeedStore, Outcome, Worker

_log = structlog.get_logger(__name__)

_FORGET_S = 0.5  # after which an account is tried again for a need that it could not have; others may lose it
_MEMBERS_MOST = 2_000  # matches whose players are remembered


@dataclass(frozen=True, slots=True)
class DeskSettings:
    """tick_s: how often the store is looked at. lease_ms: how long a claim lives without its gateway.

    linger_ms: how long it lives without its worker's call, so that the worker may come back.
    """

    tick_s: float = 0.2
    lease_ms: int = 2_000
    linger_ms: int = 600


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """A need is no longer the worker's."""

    need_id: str


@dataclass(slots=True, eq=False)
class _Serving:
    """A worker whose call is open here.

    told     the needs that it knows to be its own
    settled  those that it has settled while the store was being looked at
    """

    worker: Worker
    capacity: Mapping[str, int]
    told: dict[str, Need] = field(default_factory=dict)
    settled: set[str] = field(default_factory=set)
    news: asyncio.Queue[Need | Withdrawn] = field(default_factory=asyncio.Queue)

    def free(self, game: str) -> int:
        """How many more of a game it takes."""
        return self.capacity.get(game, 0) - sum(need.game == game for need in self.told.values())

    def can(self, need: Need) -> bool:
        """Whether it may be asked: an account has one seat at a table and one ticket in a pool."""
        if need.only:
            return need.only == self.worker.account_id  # it has the seat already
        return self.free(need.game) > 0 and all(one.place != need.place for one in self.told.values())


class Desk:
    """`start` it and `stop` it. `wall_ms`: Unix ms."""

    def __init__(
        self,
        needs: NeedStore,
        matches: MatchStore,
        settings: DeskSettings | None = None,
        wall_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
    ) -> None:
        self._needs = needs
        self._matches = matches
        self._settings = settings or DeskSettings()
        self._wall_ms = wall_ms
        self._serving: dict[str, _Serving] = {}  # by worker's key
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._members: dict[str, frozenset[str]] = {}  # by match: who has a seat
        self._not: dict[tuple[str, str], float] = {}  # by need and account: since when it is no use to try

    def start(self) -> None:
        """Look after whoever serves here."""
        self._task = asyncio.create_task(self._forever(), name="house-desk")

    async def stop(self) -> None:
        """Workers go to other gateways; their claims last until then."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def serve(self, worker: Worker, capacity: Mapping[str, int]) -> AsyncGenerator[Need | Withdrawn, None]:
        """What a worker is needed for, until its call ends. A newer call of the same worker takes over."""
        serving = self._serving[worker.key] = _Serving(worker, capacity)
        self._wake.set()
        try:
            while True:
                yield await serving.news.get()
        finally:
            if self._serving.get(worker.key) is serving:
                del self._serving[worker.key]
                try:
                    await self._needs.linger(worker, self._wall_ms(), self._settings.linger_ms)
                except StoreUnavailable as no:
                    _log.warning("house_claims_linger", reason=str(no))  # their leases run out

    async def settle(self, worker: Worker, need_id: str, outcome: Outcome, number: int = -1) -> bool:
        """A worker is done with a need. False if it was not its own any more. Raises StoreUnavailable."""
        held = await self._needs.settle(need_id, worker, outcome, self._wall_ms(), number)
        serving = self._serving.get(worker.key)
        if serving is not None:
            serving.told.pop(need_id, None)
            serving.settled.add(need_id)
        if outcome is Outcome.DECLINED:
            self._not[need_id, worker.account_id] = time.monotonic()
        self._wake.set()
        return held

    # ---- looking ----

    async def _forever(self) -> None:
        while True:
            if not self._serving:
                self._wake.clear()
                await self._wake.wait()
            try:
                await self._tick()
            except (StoreUnavailable, LogUnavailable) as no:
                _log.warning("house_desk_delayed", reason=str(no))
            except Exception as error:  # noqa: BLE001 - whatever it is, the workers of this gateway still serve
                _log.error("house_desk_failed", error=type(error).__name__, text=str(error))
            await asyncio.sleep(self._settings.tick_s)

    async def _tick(self) -> None:
        workers = {serving.worker: serving for serving in self._serving.values()}
        known = {worker: set(serving.told) for worker, serving in workers.items()}
        for serving in workers.values():
            serving.settled.clear()
        look = await self._needs.look(list(workers), self._wall_ms(), self._settings.lease_ms)
        for worker, serving in workers.items():
            held = {need.need_id: need for need in look.held[worker.key]}
            for need_id in known[worker] - held.keys():
                if serving.told.pop(need_id, None) is not None:
                    serving.news.put_nowait(Withdrawn(need_id))
            for need in held.values():
                if need.need_id not in serving.told.keys() | serving.settled:  # it has come back, or this gateway has
                    self._give(serving, need)
        now = time.monotonic()
        self._not = {key: since for key, since in self._not.items() if now - since < _FORGET_S}
        for need in look.open:
            await self._place(need)

    async def _place(self, need: Need) -> None:
        """Have somebody here claim a need; the least busy first."""
        able = [one for one in self._serving.values() if one.can(need) and self._worth(need, one)]
        for serving in sorted(able, key=lambda one: len(one.told)):
            account = serving.worker.account_id
            if need.kind is Kind.DELEGATE and account in await self._seated(need.place):
                self._not[need.need_id, account] = time.monotonic()
            elif await self._needs.claim(need, serving.worker, self._wall_ms(), self._settings.lease_ms):
                self._give(serving, need)
                return
            else:
                self._not[need.need_id, account] = time.monotonic()

    def _worth(self, need: Need, serving: _Serving) -> bool:
        return (need.need_id, serving.worker.account_id) not in self._not

    def _give(self, serving: _Serving, need: Need) -> None:
        serving.told[need.need_id] = need
        serving.news.put_nowait(need)

    async def _seated(self, match_id: str) -> frozenset[str]:
        """The accounts that have seats in a match: they know cards, and cannot stand in."""
        if match_id not in self._members:
            text = await self._matches.agreement(match_id)
            if text is None:
                return frozenset()
            if len(self._members) >= _MEMBERS_MOST:
                self._members.clear()
            self._members[match_id] = frozenset(member.account_id for member in Agreement.from_json(text).members)
        return self._members[match_id]
