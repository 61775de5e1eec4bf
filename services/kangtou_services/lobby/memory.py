"""The lobby in memory: for practice and tests."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from ..identity import StoreUnavailable
from .base import Answer, Held, table_id_of
from .table import Table

_NOTICES_MOST = 10_000


@dataclass(slots=True)
class _Kept:
    table: Table
    commands: dict[str, Answer] = field(default_factory=dict)


class MemoryLobbyStore:
    """A LobbyStore. Everything fails while `reached` is False. `clock` in seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: dict[str, _Kept] = {}
        self._places: set[str] = set()
        self._codes: dict[str, str] = {}
        self._of: dict[str, dict[str, int]] = {}
        self._notices: deque[tuple[int, str]] = deque(maxlen=_NOTICES_MOST)
        self._number = 0
        self._news = asyncio.Event()
        self._leader = ("", 0.0)
        self.reached = True

    async def create(self, table: Table) -> bool:
        """See LobbyStore."""
        await self._use()
        if table.table_id in self._kept:
            return False
        self._kept[table.table_id] = _Kept(replace(table, version=1))
        self._places.add(table.place)
        if table.terms.code:
            self._codes[table.terms.code] = table.table_id
        self._notice(table.table_id)
        return True

    async def read(self, table_id: str, command: str) -> Held | None:
        """See LobbyStore."""
        await self._use()
        kept = self._kept.get(table_id)
        return None if kept is None else Held(kept.table, kept.commands.get(command), len(kept.commands))

    async def put(self, table: Table, changed: bool, command: str = "", answer: Answer | None = None) -> bool:
        """See LobbyStore."""
        await self._use()
        kept = self._kept.get(table.table_id)
        if kept is None or kept.table.version != table.version or command in kept.commands:
            return False
        if answer is not None:
            kept.commands[command] = answer
        if changed:
            kept.table = replace(table, version=table.version + 1)
            self._notice(table.table_id)
        return True

    async def tables(self, table_ids: Sequence[str]) -> list[Table | None]:
        """See LobbyStore."""
        await self._use()
        return [kept.table if (kept := self._kept.get(table_id)) else None for table_id in table_ids]

    async def forget(self, table: Table) -> bool:
        """See LobbyStore."""
        await self._use()
        kept = self._kept.get(table.table_id)
        if kept is not None and kept.table.version != table.version:
            return False
        self._kept.pop(table.table_id, None)
        self._codes.pop(table.terms.code, None)
        self._notice(table.table_id)
        return True

    async def places(self, after: str, size: int) -> list[str]:
        """See LobbyStore."""
        await self._use()
        return [place for place in sorted(self._places, reverse=True) if not after or place < after][:size]

    async def unlist(self, places: Iterable[str]) -> None:
        """See LobbyStore."""
        await self._use()
        for place in places:
            self._places.discard(place)
            self._notice(table_id_of(place))

    async def by_code(self, code: str) -> str | None:
        """See LobbyStore."""
        await self._use()
        return self._codes.get(code)

    async def hold(self, account_id: str, table_id: str, most: int, now_ms: int) -> bool:
        """See LobbyStore."""
        await self._use()
        held = self._of.setdefault(account_id, {})
        if table_id not in held and len(held) >= most:
            return False
        held.setdefault(table_id, now_ms)
        return True

    async def held(self, account_id: str) -> dict[str, int]:
        """See LobbyStore."""
        await self._use()
        return dict(self._of.get(account_id, {}))

    async def release(self, account_id: str, table_ids: Sequence[str]) -> None:
        """See LobbyStore."""
        await self._use()
        for table_id in table_ids:
            self._of.get(account_id, {}).pop(table_id, None)

    async def cursor(self) -> str:
        """See LobbyStore."""
        await self._use()
        return str(self._number)

    async def notices(self, cursor: str, most: int) -> tuple[list[str] | None, str]:
        """See LobbyStore."""
        await self._use()
        missed = self._number - int(cursor)
        if missed > min(most, len(self._notices)):
            return None, str(self._number)
        newer = [table_id for number, table_id in self._notices if number > int(cursor)]
        return list(dict.fromkeys(newer)), str(self._number)

    async def wait(self, cursor: str, ms: int) -> bool:
        """See LobbyStore."""
        await self._use()
        try:
            async with asyncio.timeout(ms / 1000):
                while str(self._number) == cursor:
                    await self._news.wait()
        except TimeoutError:
            return False
        return True

    async def lead(self, holder: str, ms: int) -> bool:
        """See LobbyStore."""
        await self._use()
        leader, until = self._leader
        if leader not in ("", holder) and self._clock() < until:
            return False
        self._leader = (holder, self._clock() + ms / 1000)
        return True

    def _notice(self, table_id: str) -> None:
        self._number += 1
        self._notices.append((self._number, table_id))
        self._news.set()
        self._news = asyncio.Event()

    async def _use(self) -> None:
        await asyncio.sleep(0)
        if not self.reached:
            raise StoreUnavailable("the lobby in memory is switched off")
