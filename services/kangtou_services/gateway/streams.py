"""One play stream: a reader and a writer, and the matches that it follows.

read    requests → calls to the router (requests.py), no faster than the account may
write   the only task that writes to the stream: what waits in the outbox leaves as one message
end     the first reason counts; the call's handler then takes everything down
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from itertools import chain, repeat

import grpc

from kangtou.v1 import play_pb2 as play

from ..agreement import HUMAN
from ..house import House
from ..identity import Session
from ..observe.gateway import GatewayMeter
from ..settings import Settings
from .calls import CallError, Code, Context
from .commands import StreamCall
from .followers import Follower, Key
from .lag import LAST, Lag
from .outbox import Outbox, TooSlow
from .requests import Requests
from .tables import Tables
from .throttle import Rate

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
        self._ping_s = settings.ping_ms / 1000 if session.account.kind == HUMAN else 0.0
        self._context = context
        self._behind: set[Follower] = set()
        self._end: asyncio.Future[CallError | None] = asyncio.get_running_loop().create_future()
        self._reader: asyncio.Task[None] | None = None
        self._house = house

    @property
    def seated(self) -> bool:
        """Whether it has a seat somewhere."""
        return self._seats > 0

    # ---- from beginning to end ----

    async def run(self) -> None:
        """Serve the stream. Raises CallError, the status that it ends with."""
        error = await self._served()
        try:
            if error is not None:
                raise error
        finally:
            del error  # its traceback holds this frame, which would hold it, and the whole call

    async def _served(self) -> BaseException | None:
        """Serve it until its end; the reason. Nothing then holds it, or what gRPC has of it, in a circle."""
        await self._context.send_initial_metadata(())
        requests = Requests(self, self._house)
        self._reader = asyncio.create_task(self._read(requests.take), name="play-read")
        tasks = [self._reader, asyncio.create_task(self._write(), name="play-write")]
        if self._ping_s:
            tasks.append(asyncio.create_task(self._ping(), name="play-ping"))
        for task in tasks:
            task.add_done_callback(self.task_ended)
        try:
            await asyncio.wait([self._end])
            return self._end.exception() or self._end.result()
        finally:
            self._end.cancel()  # unless there is a reason, the client has gone: none is to be found any more
            requests.stop()
            self._take_down()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self._reader = None
            self._end = asyncio.get_running_loop().create_future()
            self._end.cancel()  # it is over, and has no reason any more

    def end(self, error: CallError | None) -> None:
        """End the stream with a status (None: OK)."""
        if not self._end.done():
            self.meter.cut += error is not None and error.status is Code.RESOURCE_EXHAUSTED
            self._end.set_result(error)

    def task_ended(self, task: asyncio.Task[None]) -> None:
        """A task of this stream has ended; with what it raised, the stream does too."""
        if task.cancelled() or self._end.done():
            return
        error = task.exception()
        if isinstance(error, CallError):
            self.end(error)
        elif error is not None:
            self._end.set_exception(error)

    def _take_down(self) -> None:
        for call in self.calls:
            call.give_up()
        self.calls.clear()
        for follower in list(self.followers.values()):
            self.tables.unsubscribe(follower.sub)
            follower.let_go()
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

    # ---- following ----

    def follow(self, key: Key, body: play.Attach) -> None:
        """Begin to, or anew."""
        self.drop(key)
        follower = self.followers[key] = Follower(self, key)
        self._seats += not key[1]
        sub = follower.sub = self.tables.follow(body.match_id, self.account_id, follower)
        sub.spectate, sub.seat, sub.entropy, sub.delegate = body.spectate, key[2], body.entropy, body.delegate
        sub.since_ms = time.time_ns() // 1_000_000
        # What a spectator or a substitute has seen, nobody can know: closed tricks are not shown again (HS-13.3).
        sub.seq = 0 if body.spectate or body.delegate else body.from_seq
        self.tables.subscribe(sub)

    def drop(self, key: Key | None) -> None:
        """Follow it no longer."""
        follower = self.followers.get(key) if key is not None else None
        if follower is not None:
            self._remove(follower)
            self._behind.discard(follower)
            self.tables.unsubscribe(follower.sub)

    def left(self, follower: Follower) -> None:
        """A subscription has ended."""
        if self.followers.get(follower.key) is follower:
            self._remove(follower)
            self.changed.set()

    def found(self, follower: Follower, seat: int) -> None:
        """The seat of a follower that named none."""
        self._found[follower.key[0], seat] = follower

    def at(self, match_id: str, seat: int | None) -> Follower | None:
        """The follower of a seat, be it named or known by now."""
        named = self.followers.get((match_id, False, seat))
        return named if named is not None or seat is None else self._found.get((match_id, seat))

    def _remove(self, follower: Follower) -> None:
        del self.followers[follower.key]
        follower.let_go()
        self._seats -= not follower.key[1]
        if follower.seat is not None and self._found.get((follower.key[0], follower.seat)) is follower:
            del self._found[follower.key[0], follower.seat]

    # ---- reading ----

    async def _read(self, take: Callable[[bytes], None]) -> None:
        read = self._context.read
        while True:
            raw = await read()
            if raw is grpc.aio.EOF:
                break
            if self._rate is not None and (owed := self._owed(self._rate)):
                await asyncio.sleep(owed)
            take(raw)
        # The client sends no more: what it follows goes on until it ends.
        await self._settled(followers=True)
        self.end(None)

    def _owed(self, rate: Rate) -> float:
        """Seconds for which nothing more is read; the client's writes wait as soon as its window is full."""
        owed = rate.owed(self.account_id, SEAT_MESSAGES_S * min(self._seats, SEATS_MOST))
        self.meter.held += owed > 0
        return owed
