"""The table host: appends what tables draft, tells who follows them, keeps their clocks, contains their faults.

The course of a move: `routes.command` → `Table.draft` → `EventLog.append` → `Table.commit` → `Slot.publish`. Nothing is
told before the log has it. One table's trouble stays its own: an unexpected exception stops that table alone.
"""

from __future__ import annotations

import asyncio
import hmac
import random
import time
from collections.abc import Callable, Coroutine
from time import perf_counter
from typing import Any

import structlog

from kangtou.internal.v1 import link_pb2 as lpb

from ..link import ActorLink
from ..log.base import Entry, Fenced, LogUnavailable, TailLost
from ..observe import spans
from ..observe.table import TableMeter
from ..observe.vitals import of_actor
from ..runtime import Backend
from ..table.audience import Audiences
from ..table.commands import platform_refusal, refused
from ..table.core import Table
from ..table.draft import Draft
from . import endings, lending, outages, probation
from .marker import Guard, Marker, where
from .routes import ROUTES
from .slot import Ref, Slot, reply
from .watching import problem

log = structlog.get_logger(__name__)


def now_ms() -> int:
    """Unix time in milliseconds."""
    return time.time_ns() // 1_000_000


def human_delay_ms() -> int:
    """How long a person's standing answer takes: drawn without looking at anything. Design §5."""
    return random.randint(300, 1500)


LOST = "log_lost_tail"  # of what was acknowledged, something is not in the log any more


def ahead(tail: Entry | None, table: Table) -> bool:
    """Whether a log goes on behind what its table knows: another has claimed it, or an append of this table that was
    given up (and looked for in vain) has come late. Nothing is lost then; whoever hosts it next loads what there is."""
    return tail is not None and (tail.epoch > table.epoch or tail.seq > table.seq)


class Host:
    """Many tables in one process. All methods run on its event loop."""

    def __init__(self, backend: Backend, actor_id: str, clock: Callable[[], int] = now_ms) -> None:
        self.settings, self.registry = backend.settings, backend.registry
        self.log, self.store, self.archiver = backend.log, backend.store, backend.archiver
        self.log_meter, self.meter = backend.log_meter, TableMeter()
        self.house, self.blocks, self.talk = backend.house, backend.blocks, backend.talk
        self.actor_id = actor_id
        self.verbose = self.settings.log_level.lower() == "debug"
        self.now_ms = clock
        self.slots: dict[str, Slot] = {}
        self.peers: set[ActorLink] = set()
        self.down_since: int | None = None  # the log takes no writes since (Unix ms)
        self.up = asyncio.Event()
        self.up.set()
        self.marker = Marker(self.settings.run_dir / "handling", actor_id)
        self.draining = False  # takes no table any more
        self.opener: Callable[[str], asyncio.Task[str]] | None = None
        self.moves = self.takeovers = self.hosted = 0
        self._touched: dict[str, Slot] = {}
        self._tasks: set[asyncio.Task[Any]] = set()

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
        self.peers.discard(peer)
        for slot in self.slots.values():
            slot.drop_peer(peer)

    def _hello(self, peer: ActorLink, call: lpb.Call) -> None:
        peer.known = hmac.compare_digest(call.hello.secret.encode(), self.settings.link_secret.encode())
        if peer.known:
            self.peers.add(peer)
            reply(peer, lpb.Reply(ref=call.ref))
        else:
            problem(peer, call, "bad_secret")
            peer.flush()
            peer.close()  # one guess a connection

    def _call(self, peer: ActorLink, call: lpb.Call) -> None:
        what = call.WhichOneof("body") or ""
        if what == "open":
            self._open(peer, call)
            return
        if what == "stats":
            reply(peer, lpb.Reply(ref=call.ref, stats=self.stats()))
            return
        slot, route = self.slots.get(call.match_id), ROUTES.get(what)
        if route is None:
            problem(peer, call, "malformed")
        elif slot is None:
            problem(peer, call, "not_here")
        elif slot.faulted and what != "stop":
            problem(peer, call, "faulted")
        else:
            with self.guard(slot):
                route(self, peer, call, slot)
                return
            problem(peer, call, "faulted")

    def _open(self, peer: ActorLink, call: lpb.Call) -> None:
        assert self.opener is not None
        task = self.opener(call.match_id)

        def done(finished: asyncio.Task[str]) -> None:
            code = "not_here" if finished.cancelled() or finished.exception() else finished.result()
            if code:
                problem(peer, call, code)
            else:
                slot = self.slots.get(call.match_id)
                reply(peer, lpb.Reply(ref=call.ref, opened=lpb.Opened(epoch=slot.table.epoch if slot else 0)))

        task.add_done_callback(done)

    # ---- deciding, appending, telling ----

    def touch(self, slot: Slot) -> None:
        """Something has arrived for a table: it is looked at when the frame has been read."""
        self._touched[slot.match] = slot

    def pump(self, slot: Slot) -> None:
        """Decide what waits at a table, unless an entry of it is under way or the log is down."""
        if slot.faulted or slot.leaving or slot.table.busy or self.down_since is not None:
            return  # whoever ends that calls again
        with self.guard(slot):
            began = perf_counter()
            draft, early = slot.table.draft(self.now_ms())
            for command, answer in early:
                slot.answer(command, answer)
            if draft is not None:
                self._decided(draft, began)
                self.write(slot, draft)
            else:
                self._arm(slot)

    def _decided(self, draft: Draft, began: float) -> None:
        draft.began, draft.decided = began, perf_counter()
        self.meter.decide.add(draft.decided - began)
        for command, _ in draft.answers:
            if isinstance(command.ref, Ref):
                self.meter.wait.add(began - command.ref.at)

    def _arm(self, slot: Slot) -> None:
        """Set the table's timer to its next deadline."""
        wake = slot.table.wake_at()
        slot.disarm()
        if wake is not None:
            wait = max(0.0, (wake - self.now_ms()) / 1000)
            slot.timer = asyncio.get_running_loop().call_later(wait + 0.001, self.pump, slot)

    def write(self, slot: Slot, draft: Draft) -> None:
        """Append what was decided; its answers come when it is stored."""
        self.spawn(self._append(slot, draft))

    async def _append(self, slot: Slot, draft: Draft, *, again: bool = False) -> None:
        """`again`: the entry is in the log; whether it is stored as promised, a resend tells."""
        assert draft.entry is not None
        try:
            await self.log.append(slot.match, draft.entry)
        except TailLost:
            self._give_up(slot, draft, LOST)
        except Fenced:
            self.lost(slot, draft)
        except LogUnavailable:
            await self._unknown(slot, draft)
        except Exception as error:  # noqa: BLE001 - whatever it is: this table cannot be written
            log.error("append_raised", match=slot.match, where=where(error))
            self._give_up(slot, draft, type(error).__name__)
        else:
            self._stored(slot, draft)
            if again:
                self.remind(slot)

    def _stored(self, slot: Slot, draft: Draft) -> None:
        slot.table.commit(draft)
        self._count(slot, draft)
        probation.gone_on(self, slot)
        if draft.late:
            slot.note_late(draft.late)
        with self.guard(slot):
            began = perf_counter()
            slot.publish(draft, self.now_ms())
            self.meter.publish.add(perf_counter() - began)
            self._traced(slot, draft, began)
        if slot.feed is not None:
            slot.feed.news.set()
        if draft.handed or slot.table.over:
            lending.changed(self, slot, [*slot.away(), *(seat for seat, _ in draft.handed)])
        if slot.table.over:
            slot.disarm()
            self.spawn(endings.finish(self, slot))
        self.pump(slot)  # what waits at one that is over is answered: a repeat with its first answer

    def _traced(self, slot: Slot, draft: Draft, told: float) -> None:
        if self.meter.tracing is not None:
            spans.stored(self.meter.tracing, self.log_meter, slot, draft, told)
        if self.verbose and draft.entry is not None:
            commands = " ".join(command.command_id for command, _ in draft.answers)
            log.debug("entry_stored", match=slot.match, seq=draft.entry.seq, command=commands, moves=len(draft.items))

    def _count(self, slot: Slot, draft: Draft) -> None:
        meter, moves = self.meter, len(draft.items)
        self.moves += moves
        meter.moves[slot.table.agreement.game] += moves
        meter.entries += 1
        if draft.decided:
            draft.stored = perf_counter()
            meter.append.add(draft.stored - draft.decided)

    async def _unknown(self, slot: Slot, draft: Draft) -> None:
        """The append may or may not be stored: wait until the log answers, then look at its tail. Design §4."""
        assert draft.entry is not None
        table = slot.table
        outages.note_down(self)
        tail = await outages.tail_when_up(self, slot.match)
        if tail == draft.entry:
            self.spawn(self._append(slot, draft, again=True))
        elif tail == table.tail:
            table.discard(draft)
            self.remind(slot)
            self.pump(slot)
        elif ahead(tail, table):
            self.lost(slot, draft)
        else:
            self._give_up(slot, draft, LOST)

    # ---- prompts again ----

    def remind(self, slot: Slot) -> None:
        """The seats that are asked get their prompts again, with the deadlines as they are now."""
        if slot.faulted or slot.table.over or slot.table.busy:
            return
        with self.guard(slot):
            slot.remind(self.now_ms())

    # ---- faults, and tables that go elsewhere ----

    def lost(self, slot: Slot, draft: Draft | None) -> None:
        """Somebody else writes this table now: forget it. Its clients are sent there by their gateways."""
        log.info("table_fenced", match=slot.match, actor=self.actor_id)
        if draft is not None:
            slot.table.discard(draft)
        for command in slot.table.drain():
            if isinstance(command.ref, Ref):
                slot.gone(command.ref)
        slot.lost()
        self.forget(slot)

    def forget(self, slot: Slot) -> None:
        """Let a table go."""
        slot.disarm()
        if slot.feed is not None:
            slot.feed.stop()
        if self.slots.get(slot.match) is slot:
            del self.slots[slot.match]

    def _give_up(self, slot: Slot, draft: Draft, why: str) -> None:
        slot.table.discard(draft)
        self.fault(slot, why)

    def fault(self, slot: Slot, why: str) -> None:
        """Stop this table alone; its log is kept. `why` is a word, never a value of the game."""
        slot.faulted = True
        self.meter.faults[why] += 1
        slot.disarm()
        log.error("table_faulted", match=slot.match, why=why)
        if why == LOST:
            self.spawn(probation.bar(self, slot.match))
        self._refuse_waiting(slot, "table_faulted")
        slot.tell_all(3, "this table is stopped by a fault", "本桌因故障停止", last=True)

    def _refuse_waiting(self, slot: Slot, code: str) -> None:
        for command in slot.table.drain():
            slot.answer(command, refused(command.command_id, platform_refusal(code)))

    def guard(self, slot: Slot) -> Guard:
        """Around everything that runs a table's code: marks it, and contains what it raises."""
        return Guard(self.marker, slot.match, lambda why: self.fault(slot, why))

    # ---- ends, and the rest ----

    def add(self, table: Table, *, suspect: bool) -> Slot:
        """Host a table that has been loaded (and claimed)."""
        slot = Slot(table, Audiences(table), suspect=suspect, seen_ms=self.now_ms(), meter=self.meter)
        slot.probation = probation.ENTRIES if suspect else 0
        self.slots[slot.match] = slot
        self.hosted += 1
        lending.changed(self, slot, slot.away())
        return slot

    def spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run a coroutine, keep it from being collected, and do not let its fault pass unseen."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self.noted)
        return task

    def serve(self, peer: ActorLink, call: lpb.Call, work: Coroutine[Any, Any, None]) -> None:
        """Spawn what answers a call; if it fails in a way that nobody expected, the call is answered all the same."""

        def done(task: asyncio.Task[None]) -> None:
            if not task.cancelled() and task.exception() is not None:
                problem(peer, call, "table_unavailable")

        self.spawn(work).add_done_callback(done)

    def noted(self, task: asyncio.Task[Any]) -> None:
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
            figures=of_actor(self),
        )

    async def stop(self) -> None:
        """End all work of this host; tables are left to whoever takes them over."""
        while self._tasks:  # a task that ends may have begun another
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
        for slot in list(self.slots.values()):
            self.forget(slot)
        self.marker.close()
