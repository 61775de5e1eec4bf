"""One link to each table actor: sends calls, brings replies and deliveries to whom they are due."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from itertools import count

import structlog

from kangtou.internal.v1 import link_pb2 as lpb

from ..directory import Actor, Directory, DirectoryUnavailable
from ..link import GatewayLink, LinkClosed, connect
from ..settings import Settings
from .routes import Done, Pending, Route, Subscription
from .strays import Strays

log = structlog.get_logger(__name__)

AGAIN_S = 0.1  # pause after a connection that failed
REFUSED_S = 2.0  # pause after a secret that was not accepted
TICK_S = 1.0
ASKED_TICKS = 2  # in which nothing was heard over a link: the actor is asked for something,
SILENT_TICKS = 6  # and if nothing is heard then either, the link is ended

_NUMBERS = count(1)  # of calls and subscriptions, in this process


class Conn:
    """The link to one actor. `lost` is told about a route that this actor does not serve (any more)."""

    def __init__(self, actor: Actor, lost: Callable[[Route, Conn, list[Pending]], None]) -> None:
        self.actor_id = actor.id
        self.routes: set[Route] = set()
        self.link: GatewayLink | None = None
        self._far = actor.address.startswith("tcp:")
        self._silent = 0  # ticks since something was heard
        self.ended: Callable[[Conn], None] = lambda conn: None
        self._lost = lost
        self._pending: dict[int, Pending] = {}
        self._asked: dict[int, Done] = {}
        self._subs: dict[int, Subscription] = {}
        self._strays = Strays()

    @property
    def open(self) -> bool:
        """Whether something can be sent."""
        return self.link is not None and not self.link.closed

    def _put(self, call: lpb.Call) -> None:
        try:
            assert self.link is not None
            self.link.send(call)
        except LinkClosed:
            return  # `end` follows and takes up whatever was not answered

    # ---- calls ----

    def send(self, pending: Pending) -> None:
        """Send a call about a match."""
        if pending.over:
            return
        ref = pending.call.ref = next(_NUMBERS)
        through, pending.answer = pending.through, None
        if through is not None:
            pending.call.sub, pending.call.unary = through.number, not through.number
        self._pending[ref] = pending
        self._put(pending.call)

    def ask(self, call: lpb.Call, done: Done) -> None:
        """A call to the actor itself; `not_here` is its reply when the link ends first."""
        call.ref = next(_NUMBERS)
        self._asked[call.ref] = done
        self._put(call)

    def subscribe(self, sub: Subscription) -> None:
        """Follow a match."""
        number = next(_NUMBERS)
        call = sub.call(number)
        self._subs[number] = sub
        self.ask(call, lambda reply: self._subscribed(sub, number, reply))

    def unsubscribe(self, sub: Subscription) -> None:
        """No longer."""
        number = sub.number
        if self._subs.pop(number, None) is not None:
            call = lpb.Call(match_id=sub.route.match, account_id=sub.account)
            call.unsubscribe.sub = number
            self._strays.let_go(sub)
            self.ask(call, lambda reply: self._strays.confirmed(number))

    def _subscribed(self, sub: Subscription, number: int, reply: lpb.Reply) -> None:
        if not reply.HasField("problem"):
            sub.attached = True
            return
        self._subs.pop(number, None)
        if sub.over or sub.number != number or sub.route.conn is not self:
            return
        code = reply.problem.code
        if code == "not_here":
            self._lost(sub.route, self, [])
            return
        sub.over = True
        sub.route.subs.discard(sub)
        sub.sink.refused(code)

    # ---- whether anything comes back ----

    def tick(self) -> None:
        """Called every TICK_S. End a link over a network if its other end is silent though it was asked.

        A network that swallows what is sent tells nobody. Ticks are counted, not time: when this process was held up,
        what has arrived meanwhile is heard before the next one.
        """
        if not self._far:
            return  # a socket of this machine ends with the process behind it
        self._silent += 1
        if self._silent == ASKED_TICKS:
            self.ask(lpb.Call(stats=lpb.Stats()), lambda reply: None)
        elif self._silent >= SILENT_TICKS:
            log.warning("link_silent", actor=self.actor_id)
            self.close()

    # ---- what comes back ----

    def received(self, down: lpb.Down) -> None:
        """A frame."""
        self._silent = 0
        subs = self._subs
        for deliver in down.delivers:
            payload, seq, last = deliver.payload, deliver.seq, deliver.last
            for number in deliver.subs:
                sub = subs.get(number)
                if sub is None:
                    self._strays.keep_answers(number, payload, self._pending.values())
                    continue
                if seq > sub.seq:
                    sub.seq = seq
                if last:
                    self._ended(sub, payload)
                else:
                    sub.sink.deliver(payload, last=False)
        for reply in down.replies:
            pending = self._pending.pop(reply.ref, None)
            if pending is not None:
                self._replied(pending, reply)
            elif (done := self._asked.pop(reply.ref, None)) is not None:
                done(reply)

    def _ended(self, sub: Subscription, payload: bytes) -> None:
        self._subs.pop(sub.number, None)
        if not payload:  # the table is somebody else's now
            if sub.route.conn is self:
                self._lost(sub.route, self, [])
            return
        sub.over = True
        sub.route.subs.discard(sub)
        sub.sink.deliver(payload, last=True)

    def _replied(self, pending: Pending, reply: lpb.Reply) -> None:
        if pending.over:
            return
        if reply.HasField("problem") and reply.problem.code == "not_here":
            self._lost(pending.route, self, [pending])
            return
        pending.over = True
        if pending.answer is not None and reply.WhichOneof("body") is None:
            reply.answer.CopyFrom(pending.answer)
        pending.done(reply)

    def end(self) -> None:
        """The link has ended: its routes look for their owners again, calls without a reply wait to be sent again."""
        routes, self.routes = self.routes, set()
        self._subs.clear()
        self._strays.clear()
        unanswered: dict[Route, list[Pending]] = {}
        pendings, self._pending = self._pending, {}
        for pending in pendings.values():
            unanswered.setdefault(pending.route, []).append(pending)
        for route in routes | unanswered.keys():
            self._lost(route, self, unanswered.get(route, []))
        asked, self._asked = self._asked, {}
        for ref, done in asked.items():
            done(lpb.Reply(ref=ref, problem=lpb.Problem(code="not_here")))
        self.ended(self)

    def close(self) -> None:
        """End the link."""
        if self.link is not None:
            self.link.close()


class Links:
    """The links of this gateway. `changed` is called when one has been made or could not be made."""

    def __init__(
        self,
        settings: Settings,
        directory: Directory,
        gateway_id: str,
        lost: Callable[[Route, Conn, list[Pending]], None],
        changed: Callable[[], None],
    ) -> None:
        self._settings = settings
        self._directory = directory
        self._gateway_id = gateway_id
        self._lost = lost
        self._changed = changed
        self._conns: dict[str, Conn] = {}
        self._making: dict[str, asyncio.Task[None]] = {}
        self._not_before: dict[str, float] = {}
        self.dead: set[str] = set()  # actors that are certainly dead, so that nobody need wait for them

    def __len__(self) -> int:
        return len(self._conns)

    @property
    def waiting(self) -> int:
        """Bytes that actors have not taken yet."""
        return sum(conn.link.waiting for conn in self._conns.values() if conn.link is not None)

    def get(self, actor: Actor) -> Conn | None:
        """The open link to an actor; None while one is being made or could not be made a moment ago."""
        conn = self._conns.get(actor.id)
        if conn is not None and conn.open:
            return conn
        now = asyncio.get_running_loop().time()
        if actor.id not in self._making and now >= self._not_before.get(actor.id, 0.0):
            task = asyncio.ensure_future(self._make(actor))
            self._making[actor.id] = task
            task.add_done_callback(lambda done: self._made(actor.id, done))
        return None

    async def _make(self, actor: Actor) -> None:
        conn = Conn(actor, self._lost)
        try:
            conn.link = await connect(actor.address, conn.received, conn.end)
        except LinkClosed as error:
            log.info("link_failed", actor=actor.id, reason=str(error))
            if isinstance(error.__cause__, ConnectionRefusedError):
                await self._dead(actor.id)
            return
        conn.ended = self._ended
        self._conns[actor.id] = conn
        hello = lpb.Call(hello=lpb.Hello(gateway_id=self._gateway_id, secret=self._settings.link_secret))
        conn.ask(hello, lambda reply: self._greeted(conn, reply))
        log.info("link_made", actor=actor.id)

    async def _dead(self, actor_id: str) -> None:
        """Nobody listens there: that is proof. The other actors take its tables at once."""
        self.dead.add(actor_id)
        try:
            await self._directory.declare_dead(actor_id)
        except DirectoryUnavailable:
            log.warning("death_not_declared", actor=actor_id)

    def _made(self, actor_id: str, task: asyncio.Task[None]) -> None:
        self._making.pop(actor_id, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("task_failed", error=type(error).__name__)
        if actor_id not in self._conns:
            self._not_before[actor_id] = asyncio.get_running_loop().time() + AGAIN_S
        self._changed()

    def _greeted(self, conn: Conn, reply: lpb.Reply) -> None:
        if reply.HasField("problem") and reply.problem.code == "bad_secret":
            log.error("link_secret_refused", actor=conn.actor_id)
            self._not_before[conn.actor_id] = asyncio.get_running_loop().time() + REFUSED_S
            conn.close()

    def _ended(self, conn: Conn) -> None:
        log.info("link_ended", actor=conn.actor_id)
        if self._conns.get(conn.actor_id) is conn:
            del self._conns[conn.actor_id]

    async def watch(self) -> None:
        """End links that have gone silent, for as long as this gateway lives."""
        while True:
            await asyncio.sleep(TICK_S)
            for conn in list(self._conns.values()):
                conn.tick()

    def drop(self, actor_id: str) -> None:
        """An actor is dead: do not wait for its link to notice."""
        self.dead.add(actor_id)
        conn = self._conns.get(actor_id)
        if conn is not None:
            conn.close()

    async def close(self) -> None:
        """End all links."""
        for task in list(self._making.values()):
            task.cancel()
        await asyncio.gather(*self._making.values(), return_exceptions=True)
        for conn in list(self._conns.values()):
            conn.close()
        await asyncio.sleep(0)
