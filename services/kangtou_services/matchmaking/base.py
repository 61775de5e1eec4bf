"""Pools, tickets and offers, and what a store of them does. Times are Unix ms by the callers' clocks."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Protocol

from ..agreement import Member
from ..opening import Choice

WAITING_MOST = 10_000  # tickets in one pool
WAITS_MOST = 50  # of a pool, remembered
LOOK_MOST = 512  # of them are looked at together, oldest first


class State(StrEnum):
    """Of a ticket. LEFT (its call ended) and SILENT (its gateway fell silent) may come back to their place.

    In pools that ask, a match that was found is OFFERED; who takes it is ACCEPTED until all have, then MATCHED. Who did
    not is DECLINED or MISSED, the others are WAITING again at their places.
    """

    WAITING = "waiting"
    OFFERED = "offered"
    ACCEPTED = "accepted"
    MATCHED = "matched"
    READY = "ready"
    CANCELLED = "cancelled"
    LEFT = "left"
    SILENT = "silent"
    DECLINED = "declined"
    MISSED = "missed"


ASKED = (State.OFFERED, State.ACCEPTED)
OVER = (State.READY, State.CANCELLED, State.DECLINED, State.MISSED)


class NoPlace(StrEnum):
    """Why a ticket cannot wait."""

    HELD = "held"  # its account has all the tickets and seats it may have
    FULL = "full"  # the pool is full


@dataclass(frozen=True, slots=True)
class Pool:
    """Tickets that can be matched. Rated ones of people and of bots are apart: `kind` is "" where both may meet."""

    name: str
    choice: Choice
    kind: str = ""

    @property
    def id(self) -> str:
        """A hash of all that must be equal."""
        return hashlib.sha256(f"{self.name}\n{self.kind}\n{self.choice.key}".encode()).hexdigest()[:24]

    def to_json(self) -> str:
        """As it is stored."""
        return json.dumps({"name": self.name, "kind": self.kind, "choice": self.choice.to_json()})

    @classmethod
    def from_json(cls, text: str) -> Pool:
        """The same again. Raises ValueError."""
        given = json.loads(text)
        return cls(given["name"], Choice.from_json(given["choice"]), given["kind"])


@dataclass(frozen=True, slots=True)
class Ticket:
    """Somebody who waits. `ticket_id` is the client's, unique for its account.

    since_ms       when it came
    rating         as people see it, in pools that pair by it
    party          the code that its partner's ticket has too
    blocks         accounts that its own does not want to meet
    fill_after_ms  how long until bots may take the free seats; 0: never, less: at once
    house          it is a bot of the house: it only fills up, and house bots do not meet among themselves
    """

    ticket_id: str
    account_id: str
    kind: str
    name: str
    commitment: str = ""
    since_ms: int = 0
    rating: int | None = None
    party: str = ""
    blocks: tuple[str, ...] = ()
    fill_after_ms: int = 0
    house: bool = False

    @property
    def ref(self) -> str:
        """Unique in a pool."""
        return f"{self.account_id}/{self.ticket_id}"

    @property
    def member(self) -> Member:
        """As the match will know it."""
        return Member(self.account_id, self.name, self.kind, self.commitment)

    def to_json(self) -> str:
        """As it is stored."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Ticket:
        """The same again; fields of newer versions are left out."""
        given = json.loads(text)
        known = {name: given[name] for name in cls.__dataclass_fields__ if name in given}
        return cls(**{**known, "blocks": tuple(known.get("blocks", ()))})


@dataclass(frozen=True, slots=True)
class Status:
    """How a ticket stands; `waiting` counts the pool's tickets that wait.

    answer_by_ms  of a match that is OFFERED or ACCEPTED
    accepted      how many have taken it
    estimate_ms   how long tickets of this pool waited lately (median); 0 if that is not known
    """

    state: State
    match_id: str = ""
    seat: int = -1
    waiting: int = 0
    answer_by_ms: int = 0
    accepted: int = 0
    estimate_ms: int = 0


@dataclass(frozen=True, slots=True)
class Offer:
    """A group that was formed and a match that may not have been made yet. Tickets by seat."""

    match_id: str
    tickets: tuple[Ticket, ...]
    at_ms: int


@dataclass(frozen=True, slots=True)
class Look:
    """What a matcher sees: who waits (oldest first), what is to be opened, which accounts still have seats.

    `asked`: matches whose players have not all answered, by id, and until when they may (Unix ms).
    """

    pool: Pool | None
    waiting: tuple[Ticket, ...]
    offers: tuple[Offer, ...]
    seats: Mapping[str, tuple[str, ...]]
    asked: Mapping[str, int]


class PoolStore(Protocol):
    """All methods raise StoreUnavailable. Each is one step, also among processes; each may be repeated."""

    async def pools(self, since_ms: int) -> list[str]:
        """Ids of pools that were touched since then; older ones are taken off the list."""
        ...

    async def touch(self, pool_id: str, now_ms: int) -> None:
        """Keep a pool on the list."""
        ...

    async def enqueue(self, pool: Pool, ticket: Ticket, stream: str, most: int, now_ms: int) -> Status | NoPlace:
        """Let a ticket wait, or join it if it is known: the newest stream keeps it alive. A ticket that LEFT or fell
        SILENT takes its place again. `most` tickets and seats may one account have.
        """
        ...

    async def refresh(self, pool_id: str, streams: Mapping[str, str], now_ms: int) -> dict[str, Status]:
        """Signs of life of tickets by ref, with their streams; how those that are known stand."""
        ...

    async def cancel(self, pool_id: str, ref: str, now_ms: int) -> Status:
        """Take a ticket back unless it has been matched; one that is unknown cannot come any more. How it stands.

        One that was OFFERED or ACCEPTED is DECLINED.
        """
        ...

    async def leave(self, pool_id: str, ref: str, stream: str, now_ms: int) -> None:
        """A ticket's call has ended: it LEFT, if it waits and no newer stream has joined it."""
        ...

    async def lease(self, pool_id: str, holder: str, ms: int) -> int | None:
        """Become the pool's matcher for a while; a number greater than all before. None if somebody else is."""
        ...

    async def release(self, pool_id: str, holder: str) -> None:
        """Give the lease back if it is still one's own."""
        ...

    async def prune(self, pool_id: str, fence: int, silent_before_ms: int, ended_before_ms: int, now_ms: int) -> None:
        """Tickets without a sign of life since then fall SILENT; those that ended before are forgotten."""
        ...

    async def look(self, pool_id: str) -> Look:
        """See Look; at most LOOK_MOST tickets."""
        ...

    async def offer(
        self, pool_id: str, fence: int, match_id: str, refs: Sequence[str], now_ms: int, answer_by_ms: int = 0
    ) -> bool:
        """Take tickets (by seat) out of the queue into an offer. False, and nothing has changed, if one of them does
        not wait any more or the lease has passed to somebody else. With `answer_by_ms` their accounts are asked first.
        """
        ...

    async def answer(self, pool_id: str, ref: str, match_id: str, accept: bool, now_ms: int) -> Status | None:
        """Take or decline a match that a ticket is OFFERED. When the last one takes it, it is an offer to be opened.

        How the ticket stands; None if that match is not, or no longer, offered to it or the time is up.
        """
        ...

    async def expire(self, pool_id: str, match_id: str, now_ms: int) -> list[str]:
        """The time to answer is up, if it is: tickets that have not are MISSED. Their refs."""
        ...

    async def waited(self, pool_id: str, waits_ms: Sequence[int]) -> None:
        """So long did tickets wait until a group was found; the last WAITS_MOST are remembered."""
        ...

    async def waits(self, pool_id: str) -> list[int]:
        """What is remembered of that."""
        ...

    async def ready(self, pool_id: str, match_id: str, now_ms: int) -> None:
        """The offer's match has been made: its tickets are READY, its accounts have seats."""
        ...

    async def free(self, pool_id: str, matches: Sequence[str]) -> None:
        """Matches that have ended: their seats count no more."""
        ...

    def news(self) -> AbstractAsyncContextManager[AsyncIterator[str]]:
        """Ids of pools in which something has changed from now on. A hint: some may be missed."""
        ...
