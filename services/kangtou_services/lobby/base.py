"""What a store of tables does. It knows nothing of the rules of a lobby: it keeps tables whole, each with a version.

A table changes by compare-and-set: whoever read the version that is still there writes the next one, everybody else
reads again. With the change the store remembers the command that made it, so that a repeat gets the first answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from .table import Table

COMMANDS_MOST = 1_000  # remembered of one table; no more are taken
DAY_MS = 24 * 3_600_000


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a command: "" or the code of a refusal; the seat that it was about. `content` is the command's."""

    content: str
    code: str = ""
    seat: int = -1


@dataclass(frozen=True, slots=True)
class Held:
    """A table, what a command got before (None: it is new), and how many commands are remembered."""

    table: Table
    answer: Answer | None
    commands: int


class LobbyStore(Protocol):
    """All methods raise StoreUnavailable. Each is one step on one table, also among processes; each may be repeated.

    Every change of a table is followed by a notice with its id; notices are in one order. A cursor is a place in it.
    """

    async def create(self, table: Table) -> bool:
        """Keep a new table and list it; its code leads to it. False, and nothing changes, if the id is known."""
        ...

    async def read(self, table_id: str, command: str) -> Held | None:
        """A table and what a command (`account/id`) got there."""
        ...

    async def put(self, table: Table, changed: bool, command: str = "", answer: Answer | None = None) -> bool:
        """Keep a table in place of the one with its version, with the next version, unless it is not `changed`; and
        remember a command's answer. False, and nothing changes, if the version has passed or the command is known.
        """
        ...

    async def tables(self, table_ids: Sequence[str]) -> list[Table | None]:
        """As they stand; None for unknown ones."""
        ...

    async def forget(self, table: Table) -> bool:
        """Forget a table, unless it has changed since this version; its place is still listed."""
        ...

    async def places(self, after: str, size: int) -> list[str]:
        """Places (`time:id`) of all tables, the newest first, behind `after` ("": from the beginning)."""
        ...

    async def unlist(self, places: Iterable[str]) -> None:
        """Take places off the list."""
        ...

    async def by_code(self, code: str) -> str | None:
        """The id of a private table."""
        ...

    async def hold(self, account_id: str, table_id: str, most: int, now_ms: int) -> bool:
        """Count a table to an account, unless it has `most` already."""
        ...

    async def held(self, account_id: str) -> dict[str, int]:
        """The tables that count to an account, and since when."""
        ...

    async def release(self, account_id: str, table_ids: Sequence[str]) -> None:
        """They count no more."""
        ...

    async def cursor(self) -> str:
        """The place of the newest notice."""
        ...

    async def notices(self, cursor: str, most: int) -> tuple[list[str] | None, str]:
        """Ids of tables that were changed after a cursor, and the cursor behind them. None: too many, or forgotten."""
        ...

    async def wait(self, cursor: str, ms: int) -> bool:
        """Until there is a newer notice; False if there is none in that time."""
        ...

    async def lead(self, holder: str, ms: int) -> bool:
        """Whether `holder` may sweep for so long; one at a time."""
        ...


def table_id_of(place: str) -> str:
    """The table of a place in the list."""
    return place.partition(":")[2]


def opened_ms_of(place: str) -> int:
    """When it was opened."""
    return int(place.partition(":")[0])
