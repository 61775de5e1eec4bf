"""How many tables an account may have open at a time."""

from __future__ import annotations

from .base import LobbyStore
from .table import Table, TableState

_NEW_MS = 60_000  # a table that is counted and not there may be about to be made


async def counted(store: LobbyStore, account_id: str, table_id: str, most: int, now_ms: int) -> bool:
    """Count a table to its opener, if there is room. Those that do not count any more make room."""
    if await store.hold(account_id, table_id, most, now_ms):
        return True
    held = await store.held(account_id)
    tables = await store.tables(list(held))
    gone = [
        one
        for (one, since_ms), table in zip(held.items(), tables, strict=True)
        if (now_ms - since_ms > _NEW_MS if table is None else not _counts(table, account_id))
    ]
    await store.release(account_id, gone)
    return bool(gone) and await store.hold(account_id, table_id, most, now_ms)


def _counts(table: Table, account_id: str) -> bool:
    """While it is open and nobody else's."""
    return table.state is TableState.OPEN and table.owner in ("", account_id)
