"""The lobby in memory: for practice and tests."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from ..agreement import Member
from ..identity import StoreUnavailable
from ..opening import Choice
from .base import COMMANDS_MOST, Sitting, Table, TableState, place_of

_BEFORE = {TableState.PLAYING: TableState.FULL, TableState.OVER: TableState.PLAYING}


@dataclass(slots=True)
class _Held:
    table: Table
    commands: dict[str, tuple[str, Sitting]] = field(default_factory=dict)

    def seat_of(self, account_id: str) -> int | None:
        for seat, member in enumerate(self.table.members):
            if member is not None and member.account_id == account_id:
                return seat
        return None

    def put(self, seat: int, member: Member | None) -> None:
        members = list(self.table.members)
        members[seat] = member
        self.table = replace(self.table, members=tuple(members))

    def before(self, command: str, content: str) -> Sitting | None:
        if (known := self.commands.get(command)) is not None:
            return known[1] if known[0] == content else Sitting("id_reused")
        return Sitting("too_many_commands") if len(self.commands) >= COMMANDS_MOST else None

    def answer(self, command: str, content: str, sitting: Sitting) -> Sitting:
        self.commands[command] = (content, sitting)
        return sitting


class MemoryLobbyStore:
    """A LobbyStore. Everything fails while `reached` is False. `clock` in seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._held: dict[str, _Held] = {}
        self._listed: dict[str, str] = {}  # games by place
        self._leader = ("", 0.0)
        self.reached = True

    async def create(self, table_id: str, choice: Choice, now_ms: int) -> None:
        """See LobbyStore."""
        await self._use()
        if table_id in self._held:
            return
        empty = (None,) * choice.seats
        self._listed[place_of(table_id, now_ms)] = choice.game
        self._held[table_id] = _Held(Table(table_id, choice, TableState.OPEN, empty, now_ms, now_ms))

    async def tables(self, table_ids: Sequence[str]) -> list[Table | None]:
        """See LobbyStore."""
        await self._use()
        return [held.table if (held := self._held.get(table_id)) else None for table_id in table_ids]

    async def sit(self, table_id: str, command_id: str, member: Member, seat: int | None, now_ms: int) -> Sitting:
        """See LobbyStore."""
        await self._use()
        held = self._held.get(table_id)
        if held is None:
            return Sitting("unknown_table")
        command, content = f"{member.account_id}/{command_id}", f"sit {seat} {member.commitment}"
        if (before := held.before(command, content)) is not None:
            return before
        found = self._free(held, member.account_id, seat)
        if not found.code:
            held.put(found.seat, member)
            if len(held.table.taken) == held.table.choice.seats:
                held.table = replace(held.table, state=TableState.FULL, since_ms=now_ms)
        return held.answer(command, content, found)

    @staticmethod
    def _free(held: _Held, account_id: str, seat: int | None) -> Sitting:
        members = held.table.members
        if held.seat_of(account_id) is not None:
            return Sitting("already_seated")
        if held.table.state is not TableState.OPEN:
            return Sitting("table_full")
        if seat is None:
            return Sitting("", members.index(None))
        if seat >= len(members):
            return Sitting("bad_seat")
        return Sitting("" if members[seat] is None else "seat_taken", seat)

    async def stand(self, table_id: str, command_id: str, account_id: str, now_ms: int) -> Sitting:
        """See LobbyStore."""
        await self._use()
        held = self._held.get(table_id)
        if held is None:
            return Sitting("unknown_table")
        command = f"{account_id}/{command_id}"
        if (before := held.before(command, "stand")) is not None:
            return before
        seat = held.seat_of(account_id)
        if seat is None:
            return held.answer(command, "stand", Sitting("not_seated"))
        if held.table.state is not TableState.OPEN:
            return held.answer(command, "stand", Sitting("match_started", seat))
        held.put(seat, None)
        return held.answer(command, "stand", Sitting("", seat))

    async def move(self, table_id: str, state: TableState, now_ms: int) -> None:
        """See LobbyStore."""
        await self._use()
        held = self._held.get(table_id)
        if held is not None and held.table.state is _BEFORE.get(state):
            held.table = replace(held.table, state=state, since_ms=now_ms)

    async def remove(self, table_id: str, *, only_idle: bool) -> bool:
        """See LobbyStore."""
        await self._use()
        held = self._held.get(table_id)
        if only_idle and held is not None and held.table.taken:
            return False
        self._held.pop(table_id, None)
        return True

    async def unlist(self, place: str, games: Iterable[str]) -> None:
        """See LobbyStore."""
        await self._use()
        self._listed.pop(place, None)

    async def page(self, game: str, after: str, size: int) -> list[str]:
        """See LobbyStore."""
        await self._use()
        places = sorted((place for place, of in self._listed.items() if game in ("", of)), reverse=True)
        return [place for place in places if not after or place < after][:size]

    async def lead(self, holder: str, ms: int) -> bool:
        """See LobbyStore."""
        await self._use()
        leader, until = self._leader
        if leader not in ("", holder) and self._clock() < until:
            return False
        self._leader = (holder, self._clock() + ms / 1000)
        return True

    async def _use(self) -> None:
        await asyncio.sleep(0)
        if not self.reached:
            raise StoreUnavailable("the lobby in memory is switched off")
