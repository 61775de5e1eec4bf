"""The table host: routes calls to tables, appends what they draft, tells who follows them.

The course of a move: `_command` → `Table.draft` → `EventLog.append` → `Table.commit` → `Slot.publish`. Nothing is told
before the log has it. One table's trouble stays its own: an unexpected exception stops that table alone.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

import structlog

from kangtou.internal.v1 import link_pb2 as lpb
from kangtou.wire import action_from_pb
from kangtou_engine.cards import Seat
from kangtou_engine.errors import IllegalAction
from kangtou_engine.registry import Registry

from ..link import ActorLink
from ..log.base import Entry, EventLog, Fenced, LogError, LogUnavailable, MatchStore, TailLost
from ..settings import Settings
from ..table.audience import Audiences
from ..table.commands import Command, platform_refusal, refused, refused_by
from ..table.core import Draft, Table
from . import queries
from .marker import Marker
from .slot import Ref, Slot, reply

log = structlog.get_logger(__name__)


class Archiver(Protocol):
    """Writes the record of an ended match. Idempotent; returns only when it is safe."""

    async def archive(self, match: str) -> None:
        """Write the record of this match from its log."""
        ...


def now_ms() -> int:
    """Unix time in milliseconds."""
    return time.time_ns() // 1_000_000


def human_delay_ms() -> int:
    """How long a person's standing answer takes: drawn without looking at anything. Design §5."""
    return random.randint(300, 1500)


class Host:
    """Many tables in one process. All methods run on its event loop."""

    def __init__(
        self,
        settings: Settings,
        registry: Registry,
        event_log: EventLog,
        store: MatchStore,
        archiver: Archiver,
        actor_id: str,
        clock: Callable[[], int] = now_ms,
    ) -> None:
        self.settings = settings
        self.registry = registry
        self.log = event_log
        self.store = store
        self.archiver = archiver
        self.actor_id = actor_id
        self.now_ms = clock
        self.slots: dict[str, Slot] = {}
        self.down_since: int | None = None  # the log takes no writes since (Unix ms)
        self.up = asyncio.Event()
        self.up.set()
        self.marker = Marker(settings.run_dir / "handling", actor_id)
        self.opener: Callable[[str], asyncio.Task[str]] | None = None
        self.moves = self.takeovers = self.hosted = 0
        self._peers: set[ActorLink] = set()
        self._touched: dict[str, Slot] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    # ---- the link ----

    def received(self, peer: ActorLink, up: lpb.Up) -> None:
        """A frame from a gateway."""
        for call in up.calls:
            if call.HasField("hello"):
                self._hello(peer, call)
            elif not peer.known:
                peer.close()
                return
            else:
                self._call(peer, call)
        touched, self._touched = self._touched, {}
        for slot in touched.values():
            self.pump(slot)

    def ended(self, peer: ActorLink) -> None:
        """A gateway's link has ended."""
        self._peers.discard(peer)
        for slot in self.slots.values():
            slot.drop_peer(peer)

    def _hello(self, peer: ActorLink, call: lpb.Call) -> None:
        peer.known = call.hello.secret == self.settings.link_secret
        self._peers.add(peer)
        if not peer.known:
            reply(peer, lpb.Reply(ref=call.ref, problem=lpb.Problem(code="bad_secret")))
        elif call.ref:
            reply(peer, lpb.Reply(ref=call.ref))

    def _call(self, peer: ActorLink, call: lpb.Call) -> None:
        what = call.WhichOneof("body")
        if what == "open":
            self._open(peer, call)
            return
        if what == "stats":
            reply(peer, lpb.Reply(ref=call.ref, stats=self.stats()))
            return
        slot = self.slots.get(call.match_id)
        if slot is None:
            _problem(peer, call, "not_here")
        elif slot.faulted:
            _problem(peer, call, "faulted")
        else:
            with self.guard(slot):
                _ROUTES[what or ""](self, peer, call, slot)

    def _open(self, peer: ActorLink, call: lpb.Call) -> None:
        assert self.opener is not None
        task = self.opener(call.match_id)

        def done(finished: asyncio.Task[str]) -> None:
            problem = finished.result()
            if problem:
                _problem(peer, call, problem)
            else:
                epoch = self.slots[call.match_id].table.epoch if call.match_id in self.slots else 0
                reply(peer, lpb.Reply(ref=call.ref, opened=lpb.Opened(epoch=epoch)))

        task.add_done_callback(done)

    # ---- calls about one table ----

    def _seat(self, peer: ActorLink, call: lpb.Call, slot: Slot, wanted: int | None) -> Seat | None:
        seats = slot.table.agreement.seats_of(call.account_id)
        if not seats or (wanted is not None and wanted not in seats):
            return None
        return seats[0] if wanted is None else wanted

    def subscribe(self, peer: ActorLink, call: lpb.Call, slot: Slot) -> None:
        """A gateway follows the table for one of its clients."""
        body = call.subscribe
        seat: Seat | None = None
        if body.spectate:
            if slot.table.agreement.seats_of(call.account_id):
                _problem(peer, call, "not_allowed")
                return
        else:
            seat = self._seat(peer, call, slot, body.seat if body.HasField("seat") else None)
            if seat is None:
                _problem(peer, call, "not_seated")
                return
            slot.table.open_entropy(seat, body.entropy)
            slot.seen_ms = self.now_ms()
        if call.ref:
            reply(peer, lpb.Reply(ref=call.ref))
        joining = slot.audiences.joining(seat, body.from_seq, self.now_ms())
        slot.follow(seat, (peer, body.sub), joining)
        self._touched[call.match_id] = slot

    def unsubscribe(self, peer: ActorLink, call: lpb.Call, slot: Slot) -> None:
        """It no longer does."""
        slot.unfollow((peer, call.unsubscribe.sub))

    def entropy(self, peer: ActorLink, call: lpb.Call, slot: Slot) -> None:
        """A seat opens its entropy."""
        body = call.entropy
        seat = self._seat(peer, call, slot, body.seat if body.HasField("seat") else None)
        if seat is not None:
            slot.table.open_entropy(seat, body.entropy)
            self._touched[call.match_id] = slot
        if call.ref:
            reply(peer, lpb.Reply(ref=call.ref))

    def command(self, peer: ActorLink, call: lpb.Call, slot: Slot) -> None:
        """A seat's action."""
        body = call.command
        ref = Ref(peer, call.ref, call.unary)
        seat = self._seat(peer, call, slot, body.seat if body.HasField("seat") else None)
        if seat is None:
            answer = refused(body.command_id, platform_refusal("not_seated"))
            reply(peer, lpb.Reply(ref=call.ref, answer=answer))
            return
        try:
            action = action_from_pb(body.action)
        except IllegalAction as error:
            command = Command(seat, body.command_id, body.prompt, None, ref)
            slot.answer(command, refused_by(slot.table.game, body.command_id, error))
            return
        self._submit(slot, Command(seat, body.command_id, body.prompt, action, ref), call.match_id)

    def standing(self, peer: ActorLink, call: lpb.Call, slot: Slot) -> None:
        """A seat leaves or revokes a standing answer."""
        body = call.standing
        ref = Ref(peer, call.ref, call.unary)
        seat = self._seat(peer, call, slot, body.seat if body.HasField("seat") else None)
        if seat is None:
            answer = refused(body.command_id, platform_refusal("not_seated"))
            reply(peer, lpb.Reply(ref=call.ref, answer=answer))
            return
        action = action_from_pb(body.action) if body.HasField("action") else None
        command = Command(seat, body.command_id, 0, action, ref, standing=True, until=body.until)
        self._submit(slot, command, call.match_id)

    def _submit(self, slot: Slot, command: Command, match: str) -> None:
        slot.seen_ms = self.now_ms()
        if self.down_since is not None and not slot.table.busy:
            answer = refused(command.command_id, platform_refusal("log_unavailable"))
            slot.answer(command, answer)
            return
        early = slot.table.submit(command)
        if early is not None:
            slot.answer(command, early)
        self._touched[match] = slot

    def query(self, peer: ActorLink, call: lpb.Call, slot: Slot) -> None:
        """A question about one seat; changes nothing and is told to nobody else."""
        body = call.query
        seat: Seat | None = None
        if not body.spectate:
            seat = self._seat(peer, call, slot, body.seat if body.HasField("seat") else None)
            if seat is None:
                _problem(peer, call, "not_seated")
                return
        reply(peer, queries.answer(slot, call.ref, body, seat, self.now_ms()))

    def stop_match(self, peer: ActorLink, call: lpb.Call, slot: Slot) -> None:
        """End a match outside the rules, for an operator."""
        self.end(slot, call.stop.cause or "operator")
        if call.ref:
            reply(peer, lpb.Reply(ref=call.ref))

    # ---- deciding, appending, telling ----

    def pump(self, slot: Slot) -> None:
        """Decide what waits at a table, unless an entry of it is under way or the log is down."""
        if slot.faulted or self.down_since is not None:
            return
        with self.guard(slot):
            draft, early = slot.table.draft(self.now_ms())
            for command, answer in early:
                slot.answer(command, answer)
            if draft is not None:
                self.spawn(self._append(slot, draft))
            else:
                self.arm(slot)

    def end(self, slot: Slot, cause: str) -> None:
        """Close a match with a cause. Design §4, "Ends outside the rules"."""
        draft = slot.table.close(self.now_ms(), cause)
        if draft is not None:
            self.spawn(self._append(slot, draft))
        elif not slot.table.over:
            asyncio.get_running_loop().call_later(0.05, self.end, slot, cause)

    async def _append(self, slot: Slot, draft: Draft) -> None:
        assert draft.entry is not None
        match = slot.table.agreement.match_id
        try:
            await self.log.append(match, draft.entry)
        except TailLost:
            self.fault(slot, "log_lost_tail")
        except Fenced:
            self.lost(slot, draft)
        except LogUnavailable:
            await self._unknown(slot, draft)
        else:
            self._stored(slot, draft)

    def _stored(self, slot: Slot, draft: Draft) -> None:
        with self.guard(slot):
            slot.table.commit(draft)
            slot.suspect = False
            self.moves += len(draft.items)
            slot.publish(draft, self.now_ms())
        if slot.faulted:
            return
        if slot.table.over:
            self._refuse_waiting(slot, "match_over")
            self.spawn(self.finish(slot))
        else:
            self.pump(slot)

    async def _unknown(self, slot: Slot, draft: Draft) -> None:
        """The append may or may not be stored: wait until the log answers, then look at its tail. Design §4."""
        assert draft.entry is not None
        table = slot.table
        self.note_down()
        tail = await self._tail_when_up(table.agreement.match_id)
        if tail == draft.entry:
            self._stored(slot, draft)
        elif tail == table.tail:
            table.discard(draft)
            self.pump(slot)
        elif tail is not None and tail.epoch > table.epoch:
            self.lost(slot, draft)
        else:
            self.fault(slot, "log_lost_tail")

    async def _tail_when_up(self, match: str) -> Entry | None:
        while True:
            await self.up.wait()
            try:
                return await self.log.tail(match)
            except LogUnavailable:
                self.note_down()
                await asyncio.sleep(0.1)

    def note_down(self) -> None:
        """The log cannot be written now; the health watch will say when it can."""
        if self.down_since is None:
            self.down_since = self.now_ms()
            self.up.clear()

    def lost(self, slot: Slot, draft: Draft | None) -> None:
        """Somebody else writes this table now: forget it. Its clients are sent there by their gateways."""
        match = slot.table.agreement.match_id
        log.info("table_fenced", match=match, actor=self.actor_id)
        waiting = [command for command, _ in draft.answers] if draft else []
        for command in [*waiting, *slot.table.drain()]:
            if isinstance(command.ref, Ref):
                _gone(command.ref)
        slot.lost()
        self.forget(match)

    def forget(self, match: str) -> None:
        """Let a table go."""
        slot = self.slots.pop(match, None)
        if slot is not None and slot.timer is not None:
            slot.timer.cancel()

    def fault(self, slot: Slot, why: str) -> None:
        """Stop this table alone; its log is kept. `why` is a word, never a value of the game."""
        slot.faulted = True
        log.error("table_faulted", match=slot.table.agreement.match_id, why=why)
        self._refuse_waiting(slot, "table_faulted")
        slot.tell_all(3, "this table is stopped by a fault", "本桌因故障停止", last=True)

    def _refuse_waiting(self, slot: Slot, code: str) -> None:
        for command in slot.table.drain():
            slot.answer(command, refused(command.command_id, platform_refusal(code)))

    def guard(self, slot: Slot) -> _Guard:
        """Around everything that runs a table's code: marks it, and contains what it raises."""
        return _Guard(self, slot)

    # ---- timers, ends, the rest ----

    def arm(self, slot: Slot) -> None:
        """Set the table's timer to its next deadline."""
        wake = slot.table.wake_at()
        if slot.timer is not None:
            slot.timer.cancel()
            slot.timer = None
        if wake is not None:
            wait = max(0.0, (wake - self.now_ms()) / 1000)
            slot.timer = asyncio.get_running_loop().call_later(wait + 0.001, self.pump, slot)

    async def finish(self, slot: Slot) -> None:
        """The match has ended: write its record, then let the live log expire, then let the table go."""
        match = slot.table.agreement.match_id
        wait = 0.2
        while True:
            try:
                await self.archiver.archive(match)
                await self.store.retire(match, self.settings.keep_log_ms)
                break
            except (LogError, OSError) as error:
                log.warning("archive_delayed", match=match, error=type(error).__name__)
                await asyncio.sleep(wait)
                wait = min(wait * 2, 30.0)
        await asyncio.sleep(5.0)  # late joiners still see the end here
        self.forget(match)

    def add(self, table: Table, *, suspect: bool) -> Slot:
        """Host a table that has been loaded (and claimed)."""
        slot = Slot(table, Audiences(table), suspect=suspect, seen_ms=self.now_ms())
        self.slots[table.agreement.match_id] = slot
        self.hosted += 1
        return slot

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine, keep it from being collected, and do not let its fault pass unseen."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self.noted)

    def noted(self, task: asyncio.Task[None]) -> None:
        """A task of this host has ended: say so if it failed."""
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("task_failed", error=type(error).__name__, where=where(error))

    def stats(self) -> lpb.ActorStats:
        """Counters of this actor."""
        return lpb.ActorStats(
            tables=len(self.slots),
            moves=self.moves,
            takeovers=self.takeovers,
            faulted=sum(slot.faulted for slot in self.slots.values()),
            hosted=self.hosted,
        )

    async def stop(self) -> None:
        """End all work of this host; tables are left to whoever takes them over."""
        for match in list(self.slots):
            self.forget(match)
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.marker.close()


class _Guard:
    """Marks the table that is being handled and contains what its code raises."""

    __slots__ = ("_host", "_slot")

    def __init__(self, host: Host, slot: Slot) -> None:
        self._host = host
        self._slot = slot

    def __enter__(self) -> None:
        self._host.marker.set(self._slot.table.agreement.match_id)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> bool:
        self._host.marker.clear()
        if not isinstance(error, Exception):
            return False
        log.error("table_raised", match=self._slot.table.agreement.match_id, where=where(error))
        self._host.fault(self._slot, type(error).__name__)
        return True


def where(error: BaseException) -> str:
    """File and line of an exception's origin: its message might hold a card, so it is not logged."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return "unknown"
    name = trace.tb_frame.f_code.co_filename.rsplit("/", 2)
    return f"{'/'.join(name[-2:])}:{trace.tb_lineno}"


def _problem(peer: ActorLink, call: lpb.Call, code: str) -> None:
    if call.ref:
        reply(peer, lpb.Reply(ref=call.ref, problem=lpb.Problem(code=code)))


def _gone(ref: Ref) -> None:
    reply(ref.peer, lpb.Reply(ref=ref.ref, problem=lpb.Problem(code="not_here")))


_ROUTES: dict[str, Callable[[Host, ActorLink, lpb.Call, Slot], None]] = {
    "subscribe": Host.subscribe,
    "unsubscribe": Host.unsubscribe,
    "command": Host.command,
    "standing": Host.standing,
    "entropy": Host.entropy,
    "query": Host.query,
    "stop": Host.stop_match,
}
