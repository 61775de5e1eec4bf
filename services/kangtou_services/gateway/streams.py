"""One play stream: a reader and a writer, and the matches that it follows.

    read    requests → calls to the router; whatever cannot be forwarded is answered here
    write   the only task that writes to the stream: what waits in the outbox leaves as one message
    end     the first reason counts; the call's handler then takes everything down

Every command gets exactly one answer: with a delivery of the table, or from the reply to its call, or from here.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections.abc import Callable
from itertools import chain, repeat

import grpc
from google.protobuf.message import DecodeError

from kangtou.internal.v1 import link_pb2 as lpb
from kangtou.tracing import Open
from kangtou.v1 import play_pb2 as play

from ..agreement import HUMAN
from ..house import House
from ..identity import Session, StoreUnavailable
from ..observe.gateway import GatewayMeter
from ..settings import Settings
from ..table.commands import refused
from ..tournament.ids import tournament_of
from .calls import CallError, Code, Context, garbage
from .commands import QuietCall, StreamCall
from .followers import Follower, Key
from .lag import LAST, Lag
from .outbox import Outbox, TooSlow
from .refused import refusal
from .tables import Tables
from .throttle import Rate

MATCH_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
COMMAND_BYTES = 4_096  # an action's text has at most 512 letters
CALLS_MOST = 8_192  # commands of one stream without an answer
FOLLOWERS_MOST = 8_192  # matches on one stream
ENTROPY_BYTES = 64
SEAT_MESSAGES_S = 250.0  # that each seat adds to its account's rate: more than a bot can play at one table
SEATS_MOST = 32  # that add to it: a program with hundreds of seats is held back by the server's pace anyway


def too_slow() -> CallError:
    """The client does not read."""
    return CallError(
        Code.RESOURCE_EXHAUSTED,
        "answers and prompts are not being read; connect again to resume",
        "应答与询问未被读取，请重新连接以继续",
    )


class PlayStream:
    """One call of Play."""

    def __init__(
        self,
        context: Context,
        session: Session,
        token: str,
        tables: Tables,
        settings: Settings,
        house: House,
        meter: GatewayMeter | None = None,
        rate: Rate | None = None,
    ) -> None:
        self.meter = meter or GatewayMeter()
        self._rate = rate
        self.verbose = settings.log_level.lower() == "debug"
        self.account_id = session.account.account_id
        self.token = token
        self.tables = tables
        self.outbox = Outbox(settings.queue_updates)
        self.followers: dict[Key, Follower] = {}
        self._found: dict[tuple[str, int], Follower] = {}  # attached without naming the seat, which is known by now
        self._seats = 0  # of the followers, those that are no spectators
        self.calls: set[StreamCall] = set()
        self.blocked_since = 0.0  # a write has not been taken since (loop time); 0: none is under way
        self.changed = asyncio.Event()  # less may be due than before
        self.lag = Lag(asyncio.get_running_loop().time)
        self._house = house
        self._ping_s = settings.ping_ms / 1000 if session.account.kind == HUMAN else 0.0
        self._asking: set[asyncio.Task[None]] = set()  # whether this account may play for a seat
        self._context = context
        self._behind: set[Follower] = set()
        self._end: asyncio.Future[CallError | None] = asyncio.get_running_loop().create_future()
        self._reader: asyncio.Task[None] | None = None
        self._requests: dict[str, Callable[[play.PlayRequest, int], None]] = {
            "command": self._command,
            "standing": self._standing,
            "attach": self._attach,
            "detach": self._detach,
            "entropy": self._entropy,
            "hand_over": self._hand_over,
            "take_back": self._take_back,
            "pong": lambda request, size: self.lag.pong(request.pong.nonce),
        }

    @property
    def seated(self) -> bool:
        """Whether it has a seat somewhere."""
        return self._seats > 0

    # ---- from beginning to end ----

    async def run(self) -> None:
        """Serve the stream. Raises CallError, the status that it ends with."""
        await self._context.send_initial_metadata(())
        self._reader = asyncio.create_task(self._read(), name="play-read")
        writer = asyncio.create_task(self._write(), name="play-write")
        tasks = [self._reader, writer]
        if self._ping_s:
            tasks.append(asyncio.create_task(self._ping(), name="play-ping"))
        for task in tasks:
            task.add_done_callback(self._task_ended)
        try:
            error = await self._end
        finally:
            self._take_down()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        if error is not None:
            raise error

    def end(self, error: CallError | None) -> None:
        """End the stream with a status (None: OK)."""
        if not self._end.done():
            self.meter.cut += error is not None and error.status is Code.RESOURCE_EXHAUSTED
            self._end.set_result(error)

    def _task_ended(self, task: asyncio.Task[None]) -> None:
        if task.cancelled() or self._end.done():
            return
        error = task.exception()
        if isinstance(error, CallError):
            self.end(error)
        elif error is not None:
            self._end.set_exception(error)

    def _take_down(self) -> None:
        for task in self._asking:
            task.cancel()
        for call in self.calls:
            if call.pending is not None:
                call.pending.over = True
        self.calls.clear()
        for follower in list(self.followers.values()):
            self.tables.unsubscribe(follower.sub)
        self.followers.clear()
        self._seats = 0
        self._found.clear()
        self._behind.clear()
        self.outbox.clear()

    async def drain(self, seconds: float) -> None:
        """This gateway stops: no more requests, the answers that are due, then UNAVAILABLE."""
        if self._reader is not None:
            self._reader.cancel()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._settled(followers=False)
        self.end(CallError(Code.UNAVAILABLE, "this gateway is stopping; connect again", "网关正在停止，请重新连接"))

    async def _settled(self, *, followers: bool) -> None:
        """Until nothing is due to the client (and, with `followers`, nothing can become due)."""
        while self.calls or not self.outbox.empty or self.blocked_since or (followers and self.followers):
            self.changed.clear()
            await self.changed.wait()

    # ---- writing ----

    async def _write(self) -> None:
        outbox, write, time = self.outbox, self._context.write, asyncio.get_running_loop().time
        while True:
            await outbox.wait()
            payload = outbox.take()
            self.blocked_since = time()
            await write(payload)
            self.blocked_since = 0.0
            self.changed.set()
            if self._behind:
                self._catch_up()

    async def _ping(self) -> None:
        """Measure the lag: at first more often, so that something is known of it."""
        for pause_s in chain((self._ping_s / 10,) * LAST, repeat(self._ping_s)):
            await asyncio.sleep(pause_s)
            self._put(self.lag.ping())

    def answer(self, match_id: str, seat: int | None, answer: play.Answer) -> None:
        """Give one answer."""
        update = play.Update(match_id=match_id, answer=answer)
        if seat is not None:
            update.seat = seat
        self._put(play.PlayResponse(updates=[update]).SerializeToString())

    def _put(self, payload: bytes) -> None:
        try:
            self.outbox.put(payload)
        except TooSlow:
            self.end(too_slow())

    def lagging(self, follower: Follower) -> None:
        """A subscription's queue is full: leave its backlog out, begin it anew when the client has caught up."""
        self.meter.lagging += 1
        self.tables.unsubscribe(follower.sub)
        self._behind.add(follower)
        try:
            self.outbox.lag(follower.queue, follower.lagging_notice())
        except TooSlow:
            self.end(too_slow())

    def _catch_up(self) -> None:
        for follower in [one for one in self._behind if not one.queue.ready]:
            self._behind.discard(follower)
            follower.queue.lagging = False
            follower.sub.seq = 0
            if self.followers.get(follower.key) is follower:
                self.tables.subscribe(follower.sub)

    def left(self, follower: Follower) -> None:
        """A subscription has ended."""
        if self.followers.get(follower.key) is follower:
            self._remove(follower)
            self.changed.set()

    def found(self, follower: Follower, seat: int) -> None:
        """The seat of a follower that named none."""
        self._found[follower.key[0], seat] = follower

    def _at(self, match_id: str, seat: int | None) -> Follower | None:
        named = self.followers.get((match_id, False, seat))
        return named if named is not None or seat is None else self._found.get((match_id, seat))

    def _remove(self, follower: Follower) -> None:
        del self.followers[follower.key]
        self._seats -= not follower.key[1]
        if follower.seat is not None and self._found.get((follower.key[0], follower.seat)) is follower:
            del self._found[follower.key[0], follower.seat]

    # ---- reading ----

    async def _read(self) -> None:
        read, parse, requests = self._context.read, play.PlayRequest.FromString, self._requests
        while True:
            raw = await read()
            if raw is grpc.aio.EOF:
                break
            if self._rate is not None and (owed := self._owed(self._rate)):
                await asyncio.sleep(owed)
            try:
                request = parse(raw)
            except DecodeError as error:
                raise garbage() from error
            what = request.WhichOneof("body")
            if what is None:
                self.answer("", None, refused("", refusal("malformed")))
            else:
                requests[what](request, len(raw))
        # The client sends no more: what it follows goes on until it ends.
        await self._settled(followers=True)
        self.end(None)

    def _owed(self, rate: Rate) -> float:
        """Seconds for which nothing more is read; the client's writes wait as soon as its window is full."""
        owed = rate.owed(self.account_id, SEAT_MESSAGES_S * min(self._seats, SEATS_MOST))
        self.meter.held += owed > 0
        return owed

    def _command(self, request: play.PlayRequest, size: int) -> None:
        body = request.command
        call = lpb.Call(match_id=body.match_id, account_id=self.account_id, command=body, lag_ms=self.lag.ms)
        tracing, span = self.meter.tracing, None
        if tracing is not None:
            span = tracing.begin("gateway.command", body.traceparent)
            call.traceparent = span.traceparent if span is not None else ""
        self._forward(call, body.seat if body.HasField("seat") else None, body.command_id, size, span)

    def _standing(self, request: play.PlayRequest, size: int) -> None:
        body = request.standing
        call = lpb.Call(match_id=body.match_id, account_id=self.account_id, standing=body)
        self._forward(call, body.seat if body.HasField("seat") else None, body.command_id, size)

    def _hand_over(self, request: play.PlayRequest, size: int) -> None:
        body = request.hand_over
        call = lpb.Call(match_id=body.match_id, account_id=self.account_id, hand_over=body)
        self._forward(call, body.seat if body.HasField("seat") else None, body.command_id, size)

    def _take_back(self, request: play.PlayRequest, size: int) -> None:
        body = request.take_back
        call = lpb.Call(match_id=body.match_id, account_id=self.account_id, take_back=body)
        self._forward(call, body.seat if body.HasField("seat") else None, body.command_id, size)

    def _forward(self, call: lpb.Call, seat: int | None, command_id: str, size: int, span: Open | None = None) -> None:
        problem = ""
        if size > COMMAND_BYTES:
            problem = "malformed"
        elif not MATCH_ID.fullmatch(call.match_id):
            problem = "unknown_match"
        elif len(self.calls) >= CALLS_MOST:
            problem = "rate_limited"
        if problem:
            self.meter.refusals[problem] += 1
            self.answer(call.match_id[:64], seat, refused(command_id[:64], refusal(problem)))
            return
        wanted = StreamCall(self, call, seat, command_id)
        wanted.span = span
        follower = self._at(call.match_id, seat)
        if follower is not None and follower.listening:
            wanted.follower = follower
        if follower is not None:
            call.delegate = follower.sub.delegate
        self.calls.add(wanted)
        wanted.send()

    def _attach(self, request: play.PlayRequest, size: int) -> None:
        body = request.attach
        seat = body.seat if body.HasField("seat") and not body.spectate else None
        key = (body.match_id, body.spectate, seat)
        problem = ""
        if not MATCH_ID.fullmatch(body.match_id):
            problem = "unknown_match"
        elif len(body.entropy) > ENTROPY_BYTES or (body.delegate and seat is None):
            problem = "malformed"
        elif body.spectate and tournament_of(body.match_id):
            problem = "withheld"
        elif len(self.followers) >= FOLLOWERS_MOST:
            problem = "rate_limited"
        if problem:
            self.meter.refusals[problem] += 1
            self.answer(body.match_id[:64], seat, refused("", refusal(problem)))
            return
        if not body.delegate:
            self._follow(key, body)
            return
        task = asyncio.create_task(self._follow_as_substitute(key, body), name="play-substitute")
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)
        task.add_done_callback(self._task_ended)

    async def _follow_as_substitute(self, key: Key, body: play.Attach) -> None:
        code = "not_allowed"
        try:
            allowed = await self._house.may_play(self.account_id, body.match_id, body.seat)
        except StoreUnavailable:
            allowed, code = False, "table_unavailable"
        if allowed:
            self._follow(key, body)
        else:
            self.answer(body.match_id, body.seat, refused("", refusal(code)))

    def _follow(self, key: Key, body: play.Attach) -> None:
        self._drop(key)
        follower = self.followers[key] = Follower(self, key)
        self._seats += not key[1]
        sub = follower.sub = self.tables.follow(body.match_id, self.account_id, follower)
        sub.spectate, sub.seat, sub.entropy, sub.delegate = body.spectate, key[2], body.entropy, body.delegate
        sub.since_ms = time.time_ns() // 1_000_000
        # What a spectator or a substitute has seen, nobody can know: closed tricks are not shown again (HS-13.3).
        sub.seq = 0 if body.spectate or body.delegate else body.from_seq
        self.tables.subscribe(sub)

    def _detach(self, request: play.PlayRequest, size: int) -> None:
        body = request.detach
        if body.spectate:
            self._drop((body.match_id, True, None))
        elif body.HasField("seat"):
            follower = self._at(body.match_id, body.seat)
            self._drop(follower.key if follower is not None else None)
        else:
            for key in [key for key in self.followers if key[0] == body.match_id and not key[1]]:
                self._drop(key)

    def _drop(self, key: Key | None) -> None:
        follower = self.followers.get(key) if key is not None else None
        if follower is not None:
            self._remove(follower)
            self._behind.discard(follower)
            self.tables.unsubscribe(follower.sub)

    def _entropy(self, request: play.PlayRequest, size: int) -> None:
        body = request.entropy
        if not MATCH_ID.fullmatch(body.match_id) or len(body.entropy) > ENTROPY_BYTES:
            self.answer(body.match_id[:64], None, refused("", refusal("malformed")))
            return
        call = lpb.Call(match_id=body.match_id, account_id=self.account_id, entropy=body)
        self._forward_quietly(call)

    def _forward_quietly(self, call: lpb.Call) -> None:
        quiet = QuietCall(self, call, None, "")
        if len(self.calls) < CALLS_MOST:
            self.calls.add(quiet)
            quiet.send()
