"""Those who wait at one gateway: its calls, and the pools in which they wait."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace

from .base import Pool, State, Status, Ticket

_COUNT_S = 1.0  # how often a client is told of a mere change of the number that wait


@dataclass(eq=False, slots=True)
class Follower:
    """One call."""

    ticket: Ticket
    stream: str
    most: int
    status: Status
    told_at: float = 0.0
    news: asyncio.Event = field(default_factory=asyncio.Event)

    def tell(self, status: Status, now: float) -> None:
        """Unless only the number, or the estimate, has changed, and that a moment ago."""
        moved = replace(status, waiting=0, estimate_ms=0) != replace(self.status, waiting=0, estimate_ms=0)
        counted = status != self.status and status.state is State.WAITING
        if moved or (counted and now - self.told_at >= _COUNT_S):
            self.status, self.told_at = status, now
            self.news.set()


@dataclass(eq=False, slots=True)
class LocalPool:
    """One pool, with the task that looks after it."""

    pool: Pool
    followers: dict[str, Follower] = field(default_factory=dict)
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None
    estimate_ms: int = 0
    estimated_at: float = float("-inf")
