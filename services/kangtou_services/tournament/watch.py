"""A match in which others than built-in bots play, followed to its end: whose fault it is if somebody does not play.

A look is: which processes have ended, then the log. So whoever had ended when the log had no end yet has left early,
whatever comes after; and whoever ended after the end was in the log is innocent. A seat that the clock played for has
faulted however the match ended. It is judged a while (Parts.settle_s) after the first fault, when whatever was lost is
known to be lost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from .commands import Process
from .events import Flight
from .evidence import STANDSTILL, UNKNOWN, Seen, Standstill, blame_for_time
from .model import Blame
from .parts import Parts

LOOK_S = 0.4  # how often the log is read; at once when a process ends


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a match has ended ("": it has not), who has faulted, by seat, and why that is nobody's fault ("": it is)."""

    cause: str
    blames: Mapping[int, Blame]
    why: str = ""


class Watch:
    """Of one flight. `built_in`: the seats of built-in bots, which are never at fault."""

    def __init__(self, parts: Parts, flight: Flight, built_in: Collection[int], standstill: Standstill) -> None:
        self._parts = parts
        self._flight = flight
        self._built_in = built_in
        self._standstill = standstill
        self._seen = Seen()
        self._ends: dict[int, asyncio.Task[int]] = {}
        self._blames: dict[int, Blame] = {}
        self._judged_at = 0.0
        self._cut = False

    def seated(self, seat: int, process: Process) -> None:
        """An entrant's process has been started."""
        self._ends[seat] = asyncio.create_task(process.wait(), name="entrant-end")

    def cut(self) -> None:
        """The store could not be reached during the match: entrants may have felt it too."""
        self._cut = True
        self._standstill.again()

    def stop(self) -> None:
        """No look will follow."""
        for task in self._ends.values():
            task.cancel()

    async def verdict(self) -> Verdict | None:
        """Until the match has ended or somebody's fault has settled. None: there is no such match any more.

        Raises StoreUnavailable and LogUnavailable; it may be called again then.
        """
        seen, clock = self._seen, self._parts.elapsed_s
        while True:
            ended = [seat for seat, task in self._ends.items() if task.done()]
            seen.read(await self._parts.log.read(self._flight.match, seen.seq + 1))
            if not seen.seq and await self._parts.matches.agreement(self._flight.match) is None:
                return None
            if not self._blames:
                self._judged_at = clock() + self._parts.settle_s
            await self._blame(ended)
            if not self._blames and seen.cause:
                return Verdict(seen.cause, {})
            if self._blames and clock() >= self._judged_at:
                return Verdict(seen.cause, dict(self._blames), await self._not_theirs())
            if self._standstill.over(seen.seq):
                return Verdict("", {}, STANDSTILL)
            await self._pause()

    async def _blame(self, ended: list[int]) -> None:
        for seat in ended if not self._seen.cause else ():
            self._blames.setdefault(seat, Blame.CRASH)
        for seat in self._seen.late:
            if seat not in self._blames:
                kind = await blame_for_time(self._parts.router, self._flight.match, seat)
                self._blames[seat] = Blame.CRASH if kind is Blame.DISCONNECTED and seat in ended else kind

    async def _pause(self) -> None:
        waiting = [task for task in self._ends.values() if not task.done()]
        if waiting:
            await asyncio.wait(waiting, timeout=LOOK_S, return_when=asyncio.FIRST_COMPLETED)
        else:
            await asyncio.sleep(LOOK_S)

    async def _not_theirs(self) -> str:
        """Why it is the infrastructure's fault; "" if it is not."""
        if any(seat in self._built_in for seat in self._blames):
            return "a built-in bot was not played"
        if self._seen.epochs > 1:
            return "the table was taken over"
        if self._cut:
            return "the store could not be reached"
        world = await self._parts.world.look()
        if world == UNKNOWN or world != self._flight.world:
            return "a gateway, an actor or the store was lost"
        return ""
