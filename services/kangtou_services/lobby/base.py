"""Tables of the lobby, and what a store of them does. Times are Unix ms."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Protocol

from ..agreement import Member
from ..opening import Choice

COMMANDS_MOST = 1_000  # remembered of one table; no more are taken


class TableState(StrEnum):
    """FULL: all seats are taken, the match is about to be made."""

    OPEN = "open"
    FULL = "full"
    PLAYING = "playing"
    OVER = "over"


@dataclass(frozen=True, slots=True)
class Table:
    """A table; its id is that of its match. `since_ms`: when it came into its state."""

    table_id: str
    choice: Choice
    state: TableState
    members: tuple[Member | None, ...]
    opened_ms: int
    since_ms: int

    @property
    def taken(self) -> tuple[Member, ...]:
        """Who has a seat."""
        return tuple(member for member in self.members if member is not None)


@dataclass(frozen=True, slots=True)
class Sitting:
    """What came of a command: "" or the code of a refusal; the seat that was taken or given back."""

    code: str = ""
    seat: int = -1


class LobbyStore(Protocol):
    """All methods raise StoreUnavailable. Each is one step, also among processes.

    A command of an account at a table is remembered with its content: a repeat gets the first answer, also a refusal;
    with other content it is refused `id_reused`.
    """

    async def create(self, table_id: str, choice: Choice, now_ms: int) -> None:
        """A new open table. A repeat changes nothing."""
        ...

    async def tables(self, table_ids: Sequence[str]) -> list[Table | None]:
        """As they stand; None for unknown ones."""
        ...

    async def sit(self, table_id: str, command_id: str, member: Member, seat: int | None, now_ms: int) -> Sitting:
        """Take a seat (None: the lowest that is free). With the last one the table is FULL.

        Refused: unknown_table, id_reused, too_many_commands, already_seated, table_full, bad_seat, seat_taken.
        """
        ...

    async def stand(self, table_id: str, command_id: str, account_id: str, now_ms: int) -> Sitting:
        """Give the seat back. Refused: unknown_table, id_reused, too_many_commands, not_seated, match_started."""
        ...

    async def move(self, table_id: str, state: TableState, now_ms: int) -> None:
        """FULL to PLAYING, PLAYING to OVER; nothing else."""
        ...

    async def remove(self, table_id: str, *, only_idle: bool) -> bool:
        """Forget a table (`only_idle`: unless somebody sits there). Whether it is gone; its place is still listed."""
        ...

    async def unlist(self, place: str, games: Iterable[str]) -> None:
        """Take a place off the list of all tables and off those of some games."""
        ...

    async def page(self, game: str, after: str, size: int) -> list[str]:
        """Places (`place_of`), the newest first, behind `after` ("": from the beginning). `game` "": of all games.

        A place whose table is gone, or was opened at another time, means nothing.
        """
        ...

    async def lead(self, holder: str, ms: int) -> bool:
        """Whether `holder` may sweep for so long; one at a time."""
        ...


def place_of(table_id: str, opened_ms: int) -> str:
    """A table's place in the list: sorts by time."""
    return f"{opened_ms:013d}:{table_id}"


def member_to_json(member: Member) -> str:
    """As it is stored."""
    return json.dumps(asdict(member), ensure_ascii=False)


def member_from_json(text: str) -> Member:
    """The same again; fields of newer versions are left out."""
    given = json.loads(text)
    return Member(**{name: given[name] for name in Member.__dataclass_fields__ if name in given})
