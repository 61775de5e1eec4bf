"""A table of the lobby: what is fixed at its opening, who is there, what was played. One immutable value, stored whole.

Times are Unix ms. What players do to it is in seating.py, what happens between its matches in rematch.py.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any

from ..agreement import Member
from ..company import NO_HANDS, Company
from ..opening import Choice


class TableState(StrEnum):
    """FULL: the match is about to be made. CLOSED: given up, to be forgotten."""

    OPEN = "open"
    FULL = "full"
    PLAYING = "playing"
    OVER = "over"
    CLOSED = "closed"


class StartRule(StrEnum):
    """What makes a match start: the last seat taken, everybody ready, or the owner when the others are ready."""

    SEATED = "seated"
    READY = "ready"
    OWNER = "owner"


@dataclass(frozen=True, slots=True)
class Terms:
    """What is fixed at the opening besides the choice. `kind`: who may sit ("": all). `code` "": public.

    `fill_after_ms`: how long after somebody has sat down house bots take the free seats; 0: when the owner asks.

    watch, watch_delay_ms   as in company.py
    scorer                  who may award penalties; "": see `Table.company`
    """

    start: StartRule = StartRule.SEATED
    code: str = ""
    kind: str = ""
    ready_ms: int = 30_000
    rematch_ms: int = 60_000
    fill_after_ms: int = 0
    watch: str = NO_HANDS
    watch_delay_ms: int = 0
    scorer: str = ""


@dataclass(frozen=True, slots=True)
class Played:
    """A match that was played here: accounts and names by seat; the result once it is known."""

    match_id: str
    accounts: tuple[str, ...]
    names: tuple[str, ...]
    cause: str = ""
    scores: tuple[int, ...] = ()
    places: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """A table. Its id is that of its first match.

    members     by seat
    since_ms    when it came into its state
    empty_ms    when the last one left, or it was opened
    match_id    of the match that is played now, or comes next
    owner       an account; "": whoever sits down next
    opener      the account whose table it counts as while it is open
    arrived     accounts with seats, in order of their coming
    ready       accounts that are ready
    removed     accounts that may not sit here
    ready_until_ms, rematch_until_ms   0: nothing is waited for
    wants       accounts that agreed to another match
    house       accounts with seats that are bots of the house: always ready, and they agree to whatever people do
    fill_ms     from when on bots of the house may take free seats; 0: they may not
    version     grows with every change
    """

    table_id: str
    choice: Choice
    state: TableState
    members: tuple[Member | None, ...]
    opened_ms: int
    since_ms: int
    empty_ms: int = 0
    terms: Terms = field(default_factory=Terms)
    match_id: str = ""
    owner: str = ""
    opener: str = ""
    arrived: tuple[str, ...] = ()
    ready: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    ready_until_ms: int = 0
    rematch_until_ms: int = 0
    wants: tuple[str, ...] = ()
    house: tuple[str, ...] = ()
    fill_ms: int = 0
    matches: tuple[Played, ...] = ()
    version: int = 1

    @property
    def taken(self) -> tuple[Member, ...]:
        """Who has a seat."""
        return tuple(member for member in self.members if member is not None)

    @property
    def free(self) -> int:
        """How many seats nobody has."""
        return sum(member is None for member in self.members)

    @property
    def place(self) -> str:
        """Its place in the list: sorts by time."""
        return f"{self.opened_ms:013d}:{self.table_id}"

    @property
    def company(self) -> Company:
        """Who is there beside the players. If none was named the owner keeps the score (HS-11.3), if unrated."""
        terms = self.terms
        scorer = terms.scorer or ("" if self.choice.rated else self.owner)
        return Company(terms.watch, terms.watch_delay_ms, self.owner, scorer)

    def seat_of(self, account_id: str) -> int | None:
        """The seat of an account."""
        for seat, member in enumerate(self.members):
            if member is not None and member.account_id == account_id:
                return seat
        return None

    @property
    def guests(self) -> tuple[str, ...]:
        """Accounts with seats that are not of the house, in order of coming."""
        return without(self.arrived, *self.house)

    def is_ready(self, account_id: str) -> bool:
        """Whether somebody with a seat is ready."""
        return account_id in self.ready or account_id in self.house

    def knows(self, account_id: str) -> bool:
        """Whether an account belongs to it: sits there, or owns it."""
        return account_id == self.owner or self.seat_of(account_id) is not None

    def put(self, seat: int, member: Member | None) -> Table:
        """With somebody on a seat, or nobody."""
        members = list(self.members)
        members[seat] = member
        return replace(self, members=tuple(members))

    def to_json(self) -> str:
        """As it is stored; without the version, which the store keeps."""
        given = asdict(self)
        del given["version"]
        return json.dumps(given, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str, version: int) -> Table:
        """The same again; fields of newer versions are left out. Raises ValueError."""
        given: dict[str, Any] = json.loads(text)
        given["choice"] = _made(Choice, given["choice"])
        given["terms"] = _made(Terms, given["terms"])
        given["terms"] = replace(given["terms"], start=StartRule(given["terms"].start))
        given["state"] = TableState(given["state"])
        given["members"] = tuple(one and _made(Member, one) for one in given["members"])
        given["matches"] = tuple(_made(Played, one) for one in given["matches"])
        given["version"] = version
        return _made(cls, given)  # type: ignore[no-any-return]


def _made(kind: Any, given: dict[str, Any]) -> Any:
    """A frozen value from a mapping: lists become tuples, unknown names are left out."""
    names = kind.__dataclass_fields__
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    return kind(**{name: value for name, value in values.items() if name in names})


def new_table(table_id: str, choice: Choice, terms: Terms, owner: str, now_ms: int) -> Table:
    """An open table where nobody sits."""
    return Table(
        table_id=table_id,
        choice=choice,
        state=TableState.OPEN,
        members=(None,) * choice.seats,
        opened_ms=now_ms,
        since_ms=now_ms,
        empty_ms=now_ms,
        terms=terms,
        match_id=table_id,
        owner=owner,
        opener=owner,
    )


def without(accounts: Iterable[str], *gone: str) -> tuple[str, ...]:
    """Accounts but for some."""
    return tuple(account for account in accounts if account not in gone)
