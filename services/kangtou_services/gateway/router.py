"""From a match to the actor that owns it, through takeovers. Followers and calls wait meanwhile and continue after.

READY    `route.conn` is set: calls go straight out
SEEKING  the route is in `_lost`: one task asks the log for the owners of all such routes together, every 50 ms,
         links to them, or has the match opened when it has no owner or nobody takes it over
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import Any

import structlog

from kangtou.internal.v1 import link_pb2 as lpb

from ..directory import Actor, Directory, DirectoryUnavailable, choose, place
from ..log.base import EventLog, LogUnavailable
from ..settings import Settings
from .links import Conn, Links
from .routes import Done, Pending, Route, Sink, Subscription, TableProblem, reply_to

log = structlog.get_logger(__name__)

LOOK_S = 0.05
TAKEOVER_S = 0.5  # then the gateway has the match opened itself; at once if the owner is certainly dead
TELL_S = 0.3  # a move that takes longer is told to clients
FULL_S = 1.5  # so long all actors say that they are full, which they may have been a heartbeat ago
GIVE_UP_S = 15.0
CALL_S = 25.0  # a unary call without a reply
OPEN_AGAIN_S = 0.25
RELAPSE_S = 1.0  # a route lost again so soon has not been found
IDLE_S = 30.0  # a match that nobody has asked for once or twice as long is forgotten; asking again is cheap
IDLE_ROUTES = 2_000  # so many are kept at least before those that nobody uses are forgotten at once


class Router:
    """Tables over links."""

    def __init__(self, settings: Settings, event_log: EventLog, directory: Directory, gateway_id: str) -> None:
        self._log = event_log
        self._directory = directory
        self._routes: dict[str, Route] = {}
        self._prune_at = IDLE_ROUTES
        self._lost: set[Route] = set()
        self._wake = asyncio.Event()
        self._placed: dict[str, tuple[int, int]] = {}  # by actor: tables it reported, matches sent there since
        self._tasks: list[asyncio.Task[None]] = []
        self.links = Links(settings, directory, gateway_id, self.lost, self._wake.set)

    async def start(self) -> None:
        """Begin to look for owners."""
        self._tasks = [
            self._spawn(self._seek(), "seek"),
            self._spawn(self._watch(), "watch-dead"),
            self._spawn(self.links.watch(), "watch-links"),
            self._spawn(self._forget(), "forget-routes"),
        ]

    async def stop(self) -> None:
        """End all links; what waits is told."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.links.close()
        for route in list(self._routes.values()):
            route.fail("table_unavailable")

    def _spawn(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        task = asyncio.create_task(work, name=name)

        def noted(done: asyncio.Task[None]) -> None:
            if not done.cancelled() and (error := done.exception()) is not None:
                log.error("task_failed", task=name, error=type(error).__name__)

        task.add_done_callback(noted)
        return task

    # ---- Tables ----

    async def open(self, match_id: str, prefer: str | None = None) -> bool:
        """See Tables."""
        route = self._route(match_id)
        if route.conn is not None:
            return True
        route.prefer = prefer
        try:
            await self.call(lpb.Call(match_id=match_id, open=lpb.Open()))
        except TableProblem:
            return False
        return True

    async def call(self, call: lpb.Call) -> lpb.Reply:
        """See Tables."""
        future: asyncio.Future[lpb.Reply] = asyncio.get_running_loop().create_future()
        pending = self.send(call, reply_to(future))
        try:
            async with asyncio.timeout(CALL_S):
                reply = await future
        except TimeoutError:
            raise TableProblem("table_unavailable") from None
        finally:
            pending.over = True
        if reply.HasField("problem"):
            raise TableProblem(reply.problem.code)
        return reply

    def send(self, call: lpb.Call, done: Done, through: Subscription | None = None) -> Pending:
        """See Tables."""
        route = self._route(call.match_id)
        pending = Pending(route, call, done, through)
        if route.conn is not None:
            route.conn.send(pending)
        else:
            route.waiting.append(pending)
            self._want(route)
        return pending

    def follow(self, match_id: str, account_id: str, sink: Sink) -> Subscription:
        """See Tables."""
        return Subscription(self._route(match_id), sink, account_id)

    def subscribe(self, sub: Subscription) -> None:
        """See Tables."""
        route = sub.route = self._route(sub.route.match)
        sub.over = False
        route.subs.add(sub)
        if route.conn is not None:
            route.conn.subscribe(sub)
        else:
            self._want(route)

    def unsubscribe(self, sub: Subscription) -> None:
        """See Tables."""
        sub.over = True
        sub.attached = False
        sub.route.subs.discard(sub)
        if sub.route.conn is not None:
            sub.route.conn.unsubscribe(sub)

    @property
    def seeking(self) -> int:
        """Tables whose owner is being looked for."""
        return len(self._lost)

    async def stats(self, actor: Actor) -> lpb.ActorStats | None:
        """An actor's counters, None if it cannot be reached at once."""
        conn = self.links.get(actor)
        if conn is None:
            await asyncio.sleep(LOOK_S)
            conn = self.links.get(actor)
        if conn is None:
            return None
        future: asyncio.Future[lpb.Reply] = asyncio.get_running_loop().create_future()
        conn.ask(lpb.Call(stats=lpb.Stats()), reply_to(future))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(2.0):
                reply = await future
                return reply.stats if reply.HasField("stats") else None
        return None

    # ---- routes ----

    def _route(self, match: str) -> Route:
        route = self._routes.get(match)
        if route is None:
            if len(self._routes) >= self._prune_at:
                self._prune()
            route = self._routes[match] = Route(match)
        route.used = True
        return route

    async def _forget(self) -> None:
        """Most matches that a gateway has served are over: what it knew of them is not kept until there are many."""
        while True:
            await asyncio.sleep(IDLE_S)
            self._prune(unused=True)

    def _prune(self, *, unused: bool = False) -> None:
        """Forget routes kept only because their owner is known; `unused`: but for those used since the last time."""
        for match, route in list(self._routes.items()):
            if route.idle and not (unused and route.used):
                del self._routes[match]
                if route.conn is not None:
                    route.conn.routes.discard(route)
            route.used = False
        self._prune_at = max(IDLE_ROUTES, 2 * len(self._routes))

    def _want(self, route: Route) -> None:
        if route.since:
            return
        loop = asyncio.get_running_loop()
        now = route.since = loop.time()
        since, until = route.before
        self._lost.add(route)
        if now - until < RELAPSE_S:
            route.since = since
            loop.call_later(LOOK_S, self._wake.set)
        else:
            self._wake.set()

    def lost(self, route: Route, conn: Conn, unanswered: list[Pending]) -> None:
        """An actor does not serve a match: look for the owner, if anybody waits. What was not answered goes first."""
        if route.conn is conn:
            route.conn = None
            conn.routes.discard(route)
            route.refused = conn.actor_id if conn.open else ""
        live = [pending for pending in unanswered if not pending.over]
        if route.conn is not None:  # found again already
            for pending in live:
                route.conn.send(pending)
            return
        route.take_back(live)
        if route.subs or route.waiting:
            self._want(route)

    # ---- looking for owners ----

    async def _watch(self) -> None:
        async for actor_id in self._directory.watch_dead():
            self.links.drop(actor_id)

    async def _seek(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            if not self._lost:
                continue
            await self._look()
            if self._lost:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(LOOK_S):
                        await self._wake.wait()
                self._wake.set()

    async def _look(self) -> None:
        routes = [route for route in self._lost if route.since]
        code = "table_unavailable"
        try:
            owners = await self._log.owners([route.match for route in routes])
            living = {actor.id: actor for actor in await self._directory.living()}
        except (LogUnavailable, DirectoryUnavailable):
            code = "log_unavailable"
        else:
            for route, owner in zip(routes, owners, strict=True):
                if route.since:
                    self._settle(route, owner, living)
        now = asyncio.get_running_loop().time()
        for route in routes:
            self._be_patient(route, now, code)
        self._lost = {route for route in self._lost if route.since}

    def _settle(self, route: Route, owner: str | None, living: dict[str, Actor]) -> None:
        """One step towards an owner."""
        if not route.subs and all(pending.over for pending in route.waiting):
            route.waiting.clear()
            route.since = 0.0
            return
        now = asyncio.get_running_loop().time()
        actor = living.get(owner) if owner is not None else None
        if actor is None:
            if owner is None or owner in self.links.dead or now - route.since >= TAKEOVER_S:
                self._open_somewhere(route, owner, living, now)
            return
        conn = self.links.get(actor)
        if conn is None:
            return
        if route.refused == actor.id:
            self._open_at(route, conn, now)
        else:
            route.found(conn, now)

    def _open_somewhere(self, route: Route, owner: str | None, living: dict[str, Actor], now: float) -> None:
        able = [actor for actor in living.values() if actor.id not in route.avoid]
        if not able and living:
            if set(route.avoid.values()) == {"full"}:
                route.fail("full")
            route.avoid.clear()
            return
        actor = living.get(route.prefer) if route.prefer and route.prefer not in route.avoid else None
        if actor is None:
            actor = choose(route.match, able, self._sent(living)) if owner is None else place(route.match, able)
        if actor is None:
            if able and now - route.since >= FULL_S:
                route.fail("full")
            return
        conn = self.links.get(actor)
        if conn is not None and self._open_at(route, conn, now):
            reported, sent = self._placed.get(actor.id, (actor.tables, 0))
            self._placed[actor.id] = (reported, sent + 1)

    def _sent(self, living: dict[str, Actor]) -> dict[str, int]:
        """Matches sent to each actor since its number of tables last changed."""
        self._placed = {
            name: placed for name, placed in self._placed.items() if name in living and living[name].tables == placed[0]
        }
        return {name: sent for name, (_, sent) in self._placed.items()}

    def _open_at(self, route: Route, conn: Conn, now: float) -> bool:
        if now < route.next_open:
            return False
        route.next_open = now + OPEN_AGAIN_S
        conn.ask(lpb.Call(match_id=route.match, open=lpb.Open()), lambda reply: self._opened(route, conn, reply))
        return True

    def _opened(self, route: Route, conn: Conn, reply: lpb.Reply) -> None:
        if not route.since:
            return
        code = reply.problem.code if reply.HasField("problem") else ""
        if not code:
            route.refused = ""
            route.found(conn, asyncio.get_running_loop().time())
        elif code in ("not_here", "full"):  # another actor's, or better at another: ask the log again
            route.refused = ""
            route.avoid[conn.actor_id] = code
            route.next_open = 0.0
        elif code != "log_unavailable":
            route.fail(code)
        self._wake.set()

    def _be_patient(self, route: Route, now: float, code: str) -> None:
        """Tell followers about a move that takes a while; give up in the end."""
        if not route.since:
            return
        waited = now - route.since
        if waited >= GIVE_UP_S:
            log.warning("table_not_reached", match=route.match, why=code)
            route.fail(code)
        elif waited >= TELL_S and not route.told:
            route.told = True
            for sub in route.subs:
                if sub.attached:
                    sub.sink.moving()
