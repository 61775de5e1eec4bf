"""What house bots are needed for, and what a store of it does. Times are Unix ms by the callers' clocks.

A *need* is one thing for one bot. Needs come in groups, which are replaced as a whole: the seats of a table that bots
may take, the bots that a pool wants, a seat whose owner is away. A worker, which is one account of one process that
serves, claims a need under a lease; when the process dies the lease runs out and the need is open again
(docs/house-bots.md).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Protocol

OPEN_MOST = 500  # needs that are looked at together, oldest first
KEEP_MS = 24 * 3_600_000  # how long the number of a group, and which seat an account has played for, is remembered


class Kind(StrEnum):
    """SIT: take a free seat of a table. QUEUE: queue in a pool. SEAT: play at a table where one sits, match after
    match. MATCH: play one's seat in one match. DELEGATE: stand in for the owner of a seat.
    """

    SIT = "sit"
    QUEUE = "queue"
    SEAT = "seat"
    MATCH = "match"
    DELEGATE = "delegate"


class Outcome(StrEnum):
    """DONE: it is needed no more. DECLINED: not by this account. GIVEN_BACK: by another worker, or this one later."""

    DONE = "done"
    DECLINED = "declined"
    GIVEN_BACK = "given_back"


@dataclass(frozen=True, slots=True)
class Need:
    """One thing for one bot.

    place     a table (SIT, SEAT), a match (MATCH, DELEGATE) or a pool's id (QUEUE)
    seat      -1 for QUEUE
    number    DELEGATE: of the hand-over, so that whoever is done with an older one ends no newer one; else -1
    only      the one account that can do it; "": any
    until_ms  when it is over if it is not said again; 0: never
    pool      QUEUE: what to queue for (matchmaking.Pool as JSON)
    """

    need_id: str
    kind: Kind
    game: str
    place: str
    seat: int = -1
    number: int = -1
    only: str = ""
    until_ms: int = 0
    pool: str = ""

    def to_json(self) -> str:
        """As it is stored."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Need:
        """The same again; fields of newer versions are left out. Raises ValueError."""
        given: dict[str, Any] = json.loads(text)
        known = {name: given[name] for name in cls.__dataclass_fields__ if name in given}
        return cls(**{**known, "kind": Kind(given["kind"])})


@dataclass(frozen=True, slots=True)
class Worker:
    """One account of one process. `process` is chosen by it at random, so that it may come back by another gateway."""

    account_id: str
    process: str

    @property
    def key(self) -> str:
        """Unique among all."""
        return f"{self.account_id}/{self.process}"


@dataclass(frozen=True, slots=True)
class Look:
    """What a gateway sees: needs that nobody has claimed, by account those for it alone, and what its workers hold."""

    open: tuple[Need, ...]
    held: Mapping[str, tuple[Need, ...]]  # by worker's key


class NeedStore(Protocol):
    """All methods raise StoreUnavailable. Each is one step, also among processes; each may be repeated."""

    async def put(self, group: str, number: int, needs: Sequence[Need], now_ms: int) -> bool:
        """These are the needs of a group now: claims of those that stay go on, the others end. False, and nothing
        changes, if a greater number has been put before.
        """
        ...

    async def end(self, group: str, now_ms: int) -> None:
        """The group has no needs any more; what was put with its number or an older one is late from now on."""
        ...

    async def look(self, workers: Sequence[Worker], now_ms: int, lease_ms: int) -> Look:
        """Renew the leases of all that these workers hold; what is open (OPEN_MOST at most) and what they hold."""
        ...

    async def claim(self, need: Need, worker: Worker, now_ms: int, lease_ms: int) -> bool:
        """Take a need for a worker, or find that it has it. False if somebody else has it, it is over, or it is not
        for this account: one that declined it, or that has played for another seat of the match.
        """
        ...

    async def settle(self, need_id: str, worker: Worker, outcome: Outcome, now_ms: int, number: int = -1) -> bool:
        """End a claim. False if the worker had it no more. DONE with another number than the need's is GIVEN_BACK."""
        ...

    async def linger(self, worker: Worker, now_ms: int, ms: int) -> None:
        """The worker's stream has ended: its claims end so long after now unless it comes back."""
        ...

    async def account_of(self, need_id: str, now_ms: int) -> str:
        """The account that has a need; "": nobody."""
        ...


def delegate_group(match_id: str, seat: int) -> str:
    """The group, and the one need in it, of a seat whose owner is away."""
    return f"d:{match_id}:{seat}"
