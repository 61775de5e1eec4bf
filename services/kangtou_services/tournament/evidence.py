"""Whose fault it is, by evidence. docs/duplicate.md, "Faults and forfeits".

what was seen                                                          whose
the process of an entrant ended before its match                       crash
the clock played for a seat (its time-out is in the log), and
    the seat had sent actions that a rule of the book refused          illegal
    the seat was not connected to the table                            disconnected
    else                                                               timeout
any of these while a gateway, a table actor, Redis or the runner was
lost, or the table was taken over during the match; the clock played
for a built-in bot                                                     infrastructure: nobody's
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from kangtou.internal.v1 import link_pb2 as lpb
from kangtou_engine.notation import Body, Step, read_body

from ..directory import Directory, DirectoryUnavailable
from ..gateway.router import Router
from ..gateway.routes import TableProblem
from ..log.base import Entry, EventLog, LogUnavailable
from .model import Blame

UNKNOWN = "?"
STANDSTILL = "the table stands still"  # a fault has stopped it, or it is in quarantine
SLACK_S = 60.0  # beyond the clocks, for takeovers and a busy machine
SETTLE_S = 3.5  # by then a gateway or actor that was lost is no longer listed (directory ALIVE_MS)


class World:
    """What the infrastructure is made of; equal texts mean that nothing was lost meanwhile."""

    def __init__(self, directory: Directory, log: EventLog) -> None:
        self._directory = directory
        self._log = log

    async def look(self) -> str:
        """Gateways, actors, and which life of Redis. Never raises: `?` if it cannot be seen, which is evidence too."""
        try:
            gateways = await self._directory.gateways()
            actors = await self._directory.living()
            life = await self._log.incarnation()
        except (DirectoryUnavailable, LogUnavailable):
            return UNKNOWN
        return " ".join([*sorted(one.id for one in gateways), *sorted(one.id for one in actors), life])


@dataclass(slots=True)
class Seen:
    """What a match's log says: how far it was read, the seats whose clock ran out, the cause of the end ("" yet)."""

    seq: int = 0
    epochs: int = 0
    late: tuple[int, ...] = ()
    cause: str = ""

    def read(self, entries: Iterable[Entry]) -> None:
        """Further entries."""
        for entry in entries:
            if entry.seq <= self.seq:
                continue
            body = read_body(entry.body)
            self.seq, self.epochs = entry.seq, max(self.epochs, entry.epoch)
            self.late += late_seats(body)
            if body.end is not None:
                self.cause = body.end


class Standstill:
    """Whether a match goes on, by the sequence numbers of its log. Else a clock plays: when the seats are awaited no
    longer, and after each turn. `most_s`: so long nothing may happen, by `clock` (seconds)."""

    def __init__(self, most_s: float, clock: Callable[[], float]) -> None:
        self._most_s = most_s
        self._clock = clock
        self._seq, self._since = -1, 0.0

    def over(self, seq: int) -> bool:
        """Whether the log has ended with this for too long."""
        if seq != self._seq:
            self._seq, self._since = seq, self._clock()
        return self._clock() - self._since > self._most_s

    def again(self) -> None:
        """There was a reason: from now on."""
        self._seq = -1


def late_seats(body: Body) -> tuple[int, ...]:
    """The seats that the clock played for in an entry."""
    steps = (item for item in body.items if isinstance(item, Step) and item.seat is None)
    return tuple(seat for step in steps if step.action.verb == "timeout" for seat in step.acted)


async def blame_for_time(router: Router, match: str, seat: int) -> Blame:
    """Why a seat did not answer in time, as its table saw it then."""
    try:
        reply = await router.call(lpb.Call(match_id=match, conduct=lpb.Conduct()))
    except TableProblem:
        return Blame.TIMEOUT
    known = reply.conduct
    kept = known.late[seat] if seat < len(known.late) else lpb.LATENESS_UNSPECIFIED
    if kept:
        return _KEPT.get(kept, Blame.TIMEOUT)
    if seat < len(known.illegal) and known.illegal[seat]:  # the table has not told of it yet
        return Blame.ILLEGAL
    return Blame.TIMEOUT if seat in known.connected else Blame.DISCONNECTED


_KEPT = {lpb.LATENESS_ILLEGAL: Blame.ILLEGAL, lpb.LATENESS_DISCONNECTED: Blame.DISCONNECTED}
