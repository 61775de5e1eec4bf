"""What a gateway keeps about the matches that it serves: who follows them, what was asked, over which link it goes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from kangtou.internal.v1 import link_pb2 as lpb
from kangtou.v1 import play_pb2 as play

if TYPE_CHECKING:
    from .links import Conn

Done = Callable[[lpb.Reply], None]


class TableProblem(Exception):
    """A call could not be carried out. `code` is a word of link.proto's Problem, or `table_unavailable`."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class Sink(Protocol):
    """Who gets what a subscription brings. None of it may block or raise."""

    def deliver(self, payload: bytes, *, last: bool) -> None:
        """Bytes of a PlayResponse; `last`: nothing follows."""
        ...

    def moving(self) -> None:
        """The table is being taken over; what follows continues where it stopped."""
        ...

    def refused(self, code: str) -> None:
        """It could not be subscribed, or not again; nothing follows."""
        ...


class Nobody:
    """The sink of a subscription that has been let go."""

    def deliver(self, payload: bytes, *, last: bool) -> None:
        """See Sink."""

    def moving(self) -> None:
        """See Sink."""

    def refused(self, code: str) -> None:
        """See Sink."""


NOBODY = Nobody()


class Pending:
    """A call that waits for its one reply. Sent again, under the same ids, when its table has moved.

    through  the subscription that is to bring the answer to its command, if the reply is not
    answer   that answer, if it came through a subscription that nobody listens to any more
    """

    __slots__ = ("answer", "call", "done", "over", "route", "through")

    def __init__(self, route: Route, call: lpb.Call, done: Done, through: Subscription | None = None) -> None:
        self.route = route
        self.call = call
        self.done = done
        self.over = False  # nobody waits any more
        self.through = through
        self.answer: play.Answer | None = None

    def fail(self, code: str) -> None:
        """Give a Problem as its reply."""
        if not self.over:
            self.over = True
            self.done(lpb.Reply(ref=self.call.ref, problem=lpb.Problem(code=code)))


class Subscription:
    """One follower of one match, across links. `seq` is the highest sequence number that it was brought."""

    __slots__ = (
        "account",
        "attached",
        "delegate",
        "entropy",
        "number",
        "over",
        "route",
        "seat",
        "seq",
        "since_ms",
        "sink",
        "spectate",
    )

    def __init__(self, route: Route, sink: Sink, account: str) -> None:
        self.route = route
        self.sink: Sink = sink
        self.account = account
        self.spectate = False
        self.delegate = False  # as the substitute of `seat`
        self.seat: int | None = None
        self.seq = 0
        self.entropy = b""
        self.since_ms = 0  # when the client attached
        self.number = 0  # on its link; 0: not yet on any
        self.attached = False
        self.over = False

    def call(self, number: int) -> lpb.Call:
        """What subscribes it, from where it stopped."""
        again, self.number = bool(self.number), number
        call = lpb.Call(match_id=self.route.match, account_id=self.account)
        body = call.subscribe
        body.sub, body.from_seq, body.entropy, body.spectate = number, self.seq, self.entropy, self.spectate
        body.delegate, body.since_ms, body.again = self.delegate, self.since_ms, again
        if self.seat is not None:
            body.seat = self.seat
        return call


class Route:
    """One match. With `conn` it has an owner that is reached; without it, what is asked waits until one is found.

    since      when it began to look for the owner (monotonic seconds), 0 while nothing waits
    before     (since, until) of the last search: one that is lost again at once goes on with the old one
    refused    the actor that does not host it though the log names it
    avoid      actors that would not open it, and why
    used       somebody has asked for it since routes were last looked through
    """

    __slots__ = (
        "avoid",
        "before",
        "conn",
        "match",
        "next_open",
        "prefer",
        "refused",
        "since",
        "subs",
        "told",
        "used",
        "waiting",
    )

    def __init__(self, match: str) -> None:
        self.match = match
        self.conn: Conn | None = None
        self.subs: set[Subscription] = set()
        self.waiting: list[Pending] = []
        self.since = 0.0
        self.before = (0.0, 0.0)
        self.refused = ""
        self.avoid: dict[str, str] = {}
        self.next_open = 0.0
        self.prefer: str | None = None
        self.told = False
        self.used = True

    def found(self, conn: Conn, now: float) -> None:
        """Its owner is reached: subscribe again, then send what waits, in order."""
        self.conn = conn
        self.before = (self.since, now)
        self.since = 0.0
        self.avoid.clear()
        self.prefer = None
        self.told = False
        conn.routes.add(self)
        waiting, self.waiting = self.waiting, []
        for sub in list(self.subs):
            conn.subscribe(sub)
        for pending in waiting:
            conn.send(pending)

    def take_back(self, unanswered: list[Pending]) -> None:
        """What was sent and not answered waits again, in the order in which it was first sent."""
        self.waiting = sorted((*unanswered, *self.waiting), key=lambda pending: pending.call.ref or 1 << 63)

    def fail(self, code: str) -> None:
        """Nobody can be found: whatever waits gets a problem, all subscriptions end."""
        self.since = 0.0
        self.avoid.clear()
        waiting, self.waiting = self.waiting, []
        subs, self.subs = self.subs, set()
        for pending in waiting:
            pending.fail(code)
        for sub in subs:
            sub.over = True
            sub.sink.refused(code)

    @property
    def idle(self) -> bool:
        """Whether it is kept only because its owner is known."""
        return not self.subs and not self.waiting and not self.since


def reply_to(future: asyncio.Future[lpb.Reply]) -> Done:
    """Give the reply to a future that may have been cancelled."""

    def done(reply: lpb.Reply) -> None:
        if not future.done():
            future.set_result(reply)

    return done
