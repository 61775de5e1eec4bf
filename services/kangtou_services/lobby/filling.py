"""Bots of the house at a table: which seats they may take, and what the house is told of it.

They come for somebody: the last free seat is left for an owner who does not sit yet, and without anybody who is not of
the house no bot is wanted, so house bots never play among themselves. They play unrated matches only.
"""

from __future__ import annotations

import structlog

from ..agreement import HUMAN
from ..house import Kind, Need, NeedStore
from ..identity import StoreUnavailable
from .table import Table, TableState

_log = structlog.get_logger(__name__)

AGAIN_MS = 5_000  # how often the house is told the same again, in case it did not hear it
_FORGOTTEN_MOST = 50_000


def may_be_filled(table: Table) -> bool:
    """Whether bots of the house may sit here at all."""
    return not table.choice.rated and table.terms.kind != HUMAN


def wanted(table: Table, now_ms: int) -> list[int]:
    """The seats that bots of the house may take now."""
    due = table.fill_ms and now_ms >= table.fill_ms
    if table.state is not TableState.OPEN or not due or not may_be_filled(table):
        return []
    free = [seat for seat, member in enumerate(table.members) if member is None]
    owner_comes = bool(table.owner) and table.owner not in table.guests
    if not table.guests and not owner_comes:
        return []
    return free[:-1] if owner_comes else free


def needs_of(table: Table, now_ms: int) -> list[Need]:
    """What a table needs of the house: bots for its free seats, and those that sit here to play."""
    game, place = table.choice.game, table.table_id
    needs = [Need(f"s:{place}:{seat}", Kind.SIT, game, place, seat) for seat in wanted(table, now_ms)]
    for account in table.house:
        seat = table.seat_of(account)
        if seat is not None:
            needs.append(Need(f"p:{place}:{account}", Kind.SEAT, game, place, seat, only=account))
    return needs


class Calls:
    """Tells the house what tables need: after each change, and again now and then by whoever sweeps."""

    def __init__(self, needs: NeedStore) -> None:
        self._needs = needs
        self._told: dict[str, tuple[int, int, int]] = {}  # by table: version and number of needs; when

    async def changed(self, table: Table, now_ms: int) -> None:
        """A table as it is now. Does not raise: a sweep says it again."""
        needs = needs_of(table, now_ms)
        known = self._told.get(table.table_id)
        if not needs and known is None and not table.fill_ms and not table.house:
            return
        if known is not None and known[:2] == (table.version, len(needs)) and now_ms - known[2] < AGAIN_MS:
            return
        try:
            await self._needs.put(f"t:{table.table_id}", table.version, needs, now_ms)
        except StoreUnavailable as no:
            _log.warning("house_not_told", match=table.table_id, reason=str(no))
            return
        if len(self._told) >= _FORGOTTEN_MOST:
            self._told.clear()
        self._told[table.table_id] = (table.version, len(needs), now_ms)

    async def forgotten(self, table: Table, now_ms: int) -> None:
        """A table is no more. Raises StoreUnavailable."""
        if table.house or table.table_id in self._told:
            await self._needs.end(f"t:{table.table_id}", now_ms)
            self._told.pop(table.table_id, None)
