"""A command of a stream under way: where its one answer comes from."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

import structlog

from kangtou.internal.v1 import link_pb2 as lpb
from kangtou.tracing import Open

from ..table.commands import refused
from .followers import Follower
from .refused import refusal
from .routes import Pending

if TYPE_CHECKING:
    from .streams import PlayStream

log = structlog.get_logger(__name__)


class StreamCall:
    """A command under way: the callback of its reply."""

    __slots__ = ("at", "call", "command_id", "follower", "pending", "seat", "span", "stream")

    def __init__(self, stream: PlayStream, call: lpb.Call, seat: int | None, command_id: str) -> None:
        self.stream = stream
        self.call = call
        self.seat = seat
        self.command_id = command_id
        self.follower: Follower | None = None
        self.pending: Pending | None = None
        self.at = perf_counter()
        self.span: Open | None = None

    def send(self) -> None:
        """Send it."""
        self.call.unary = self.follower is None
        through = self.follower.sub if self.follower is not None else None
        self.pending = self.stream.tables.send(self.call, self, through)

    def give_up(self) -> None:
        """Nobody waits for its answer any more."""
        if self.pending is not None:
            self.pending.over = True
            self.pending = None

    def finished(self) -> None:
        """It is answered. It lets go of what holds it, so that no move leaves work for the garbage collector."""
        self.pending = None
        self.stream.calls.discard(self)
        self.stream.changed.set()

    def __call__(self, reply: lpb.Reply) -> None:
        """The reply."""
        what = reply.WhichOneof("body")
        self.finished()
        self.stream.meter.answered(self.at, reply.took_us)
        if self.span is not None:
            self.span.end(match=self.call.match_id, command=self.command_id, table_us=reply.took_us)
        if self.stream.verbose:
            _told(self, reply)
        if what == "answer":
            self.stream.answer(self.call.match_id, self.seat, reply.answer)
        elif what == "problem":
            self.stream.meter.refusals[reply.problem.code] += 1
            answer = refused(self.command_id, refusal(reply.problem.code))
            self.stream.answer(self.call.match_id, self.seat, answer)


def _told(call: StreamCall, reply: lpb.Reply) -> None:
    why = reply.problem.code if reply.HasField("problem") else ""
    took = round((perf_counter() - call.at) * 1000, 3)
    account = call.stream.account_id
    log.debug("command_answered", match=call.call.match_id, command=call.command_id, account=account, ms=took, why=why)


class QuietCall(StreamCall):
    """A request that is not answered."""

    __slots__ = ()

    def __call__(self, reply: lpb.Reply) -> None:
        """The reply."""
        self.finished()
