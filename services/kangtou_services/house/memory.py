"""Needs in this process: for practice and tests, and the twin of redis.py."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from .needs import KEEP_MS, OPEN_MOST, Kind, Look, Need, Outcome, Worker


@dataclass(slots=True)
class _Group:
    number: int = -1
    at_ms: int = 0
    ids: list[str] = field(default_factory=list)


class MemoryNeeds:
    """A NeedStore."""

    def __init__(self) -> None:
        self._groups: dict[str, _Group] = {}
        self._needs: dict[str, Need] = {}  # in order of coming
        self._claims: dict[str, tuple[Worker, int]] = {}  # by need: whose, until when
        self._declined: dict[tuple[str, str], int] = {}  # by need and account: when
        self._bound: dict[tuple[str, str], tuple[int, int]] = {}  # by match and account: seat and when

    async def put(self, group: str, number: int, needs: Sequence[Need], now_ms: int) -> bool:
        """See NeedStore."""
        await asyncio.sleep(0)
        self._groups = {name: one for name, one in self._groups.items() if one.ids or one.at_ms > now_ms - KEEP_MS}
        held = self._groups.setdefault(group, _Group())
        if number < held.number:
            return False
        held.number, held.at_ms = number, now_ms
        for need_id in held.ids:
            if need_id not in {need.need_id for need in needs}:
                self._drop(need_id)
        held.ids = [need.need_id for need in needs]
        self._needs.update((need.need_id, need) for need in needs)
        return True

    async def end(self, group: str, now_ms: int) -> None:
        """See NeedStore."""
        await asyncio.sleep(0)
        held = self._groups.get(group)
        if held is not None and held.ids:
            for need_id in held.ids:
                self._drop(need_id)
            held.ids, held.at_ms, held.number = [], now_ms, held.number + 1

    async def look(self, workers: Sequence[Worker], now_ms: int, lease_ms: int) -> Look:
        """See NeedStore."""
        await asyncio.sleep(0)
        self._tidy(now_ms)
        for need_id, (worker, _) in self._claims.items():
            if worker in workers:
                self._claims[need_id] = (worker, now_ms + lease_ms)
        accounts = {worker.account_id for worker in workers}
        unclaimed = [need for name, need in self._needs.items() if name not in self._claims]
        anybodys = [need for need in unclaimed if not need.only][:OPEN_MOST]
        mine = [need for need in unclaimed if need.only in accounts]
        held = {
            worker.key: tuple(self._needs[name] for name, (whose, _) in self._claims.items() if whose == worker)
            for worker in workers
        }
        return Look((*mine, *anybodys), held)

    async def claim(self, need: Need, worker: Worker, now_ms: int, lease_ms: int) -> bool:
        """See NeedStore."""
        await asyncio.sleep(0)
        self._tidy(now_ms)
        known, account = self._needs.get(need.need_id), worker.account_id
        if known is None or known.only not in ("", account) or (need.need_id, account) in self._declined:
            return False
        if need.need_id in self._claims:
            return self._claims[need.need_id][0] == worker
        if known.kind is Kind.DELEGATE:
            if self._bound.get((known.place, account), (known.seat, 0))[0] != known.seat:
                return False
            self._bound[known.place, account] = (known.seat, now_ms)
        self._claims[need.need_id] = (worker, now_ms + lease_ms)
        return True

    async def settle(self, need_id: str, worker: Worker, outcome: Outcome, now_ms: int, number: int = -1) -> bool:
        """See NeedStore."""
        await asyncio.sleep(0)
        if self._claims.get(need_id, (None, 0))[0] != worker:
            return False
        if outcome is Outcome.DONE and self._needs[need_id].number == number:
            self._drop(need_id)
            for group in self._groups.values():
                if need_id in group.ids:
                    group.ids.remove(need_id)
            return True
        del self._claims[need_id]
        if outcome is Outcome.DECLINED:
            self._declined[need_id, worker.account_id] = now_ms
        return True

    async def linger(self, worker: Worker, now_ms: int, ms: int) -> None:
        """See NeedStore."""
        await asyncio.sleep(0)
        for need_id, (whose, until_ms) in self._claims.items():
            if whose == worker:
                self._claims[need_id] = (whose, min(until_ms, now_ms + ms))

    async def account_of(self, need_id: str, now_ms: int) -> str:
        """See NeedStore."""
        await asyncio.sleep(0)
        self._tidy(now_ms)
        claim = self._claims.get(need_id)
        return claim[0].account_id if claim is not None else ""

    def _tidy(self, now_ms: int) -> None:
        for need_id in [name for name, (_, until_ms) in self._claims.items() if until_ms <= now_ms]:
            del self._claims[need_id]
        for need_id in [name for name, need in self._needs.items() if 0 < need.until_ms <= now_ms]:
            self._drop(need_id)
        self._bound = {key: held for key, held in self._bound.items() if held[1] > now_ms - KEEP_MS}
        self._declined = {key: at_ms for key, at_ms in self._declined.items() if at_ms > now_ms - KEEP_MS}

    def _drop(self, need_id: str) -> None:
        self._needs.pop(need_id, None)
        self._claims.pop(need_id, None)
