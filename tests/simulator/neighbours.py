"""Other matches of a host, as far as the log sees them: their appends share batches with those of the match in play.

Each is written by one process alone, which repeats an append until it is acknowledged: so none may ever be refused.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from kangtou_services.log.base import Entry, EventLog, Fenced, LogUnavailable
from kangtou_services.log.memory import MemoryServer

from .journal import Journal
from .loop import SimLoop

ENTRIES = 12
PAUSE_S = 0.3


@dataclass
class Neighbours:
    """All of one run; `acknowledged` by match."""

    loop: SimLoop
    journal: Journal
    acknowledged: dict[str, int] = field(default_factory=dict)

    async def write(self, match: str, log: EventLog) -> None:
        """One match of the running process."""
        self.acknowledged[match] = 0
        marker = Entry(1, 1, "claimed", "c1")
        while True:
            try:
                await log.claim(match, match, None, marker)
                break
            except LogUnavailable:
                await asyncio.sleep(0.2)
        for seq in range(2, ENTRIES + 2):
            await asyncio.sleep(PAUSE_S * self.loop.rng.random())
            if not await self._appended(match, log, Entry(1, seq, f"move {seq}", f"c{seq}", (1,))):
                return
            self.acknowledged[match] = seq

    async def _appended(self, match: str, log: EventLog, entry: Entry) -> bool:
        while True:
            try:
                await log.append(match, entry)
            except LogUnavailable:
                self.journal.count("append repeated")
                await asyncio.sleep(0.2)
            except Fenced as no:
                self.journal.violation(f"{match} has one writer, its append {entry.id} was fenced: {no}")
                return False
            else:
                return True

    def check(self, server: MemoryServer) -> None:
        """Each log is dense, and holds what was acknowledged."""
        for match, acknowledged in self.acknowledged.items():
            found = server.find(match)
            seqs = [entry.seq for entry in found.entries] if found is not None else []
            if seqs != list(range(1, len(seqs) + 1)) or len(seqs) < acknowledged:
                self.journal.violation(f"{match} was acknowledged up to {acknowledged}, its log is {seqs}")
