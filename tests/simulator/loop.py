"""An event loop in virtual time that runs several simulated processes, one step at a time, in an order that is drawn.

Each process has a ready queue of its own, in order, as asyncio promises; whose turn it is, the seed decides. When
nobody is ready, time jumps to the next timer. A step is what runs between two awaits. A process that crashes takes no
further step: nothing of it is unwound, no `finally` runs, as with kill -9.
"""

from __future__ import annotations

import asyncio
import heapq
from asyncio import events
from collections import deque
from collections.abc import Callable, Coroutine
from contextvars import Context, ContextVar, copy_context
from random import Random
from typing import Any
from zlib import crc32

START_S = 1_000.0  # loop time at the beginning
START_MS = 1_760_000_000_000  # Unix ms then


class Process:
    """What would be a process of the operating system.

    skew_ms   how far its clock is from the true time
    paused    it takes no step (stopped, or swapped out); what arrives waits
    """

    def __init__(self, loop: SimLoop, name: str) -> None:
        self.loop, self.name = loop, name
        self.ready: deque[events.Handle] = deque()
        self.listed = self.dead = self.paused = False
        self.skew_ms = 0
        self.on_crash: list[Callable[[], None]] = []
        self.context = copy_context()
        self.context.run(CURRENT.set, self)

    def __repr__(self) -> str:
        return f"<{self.name}>"

    def spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run a coroutine in it; it may not fail."""
        task = self.loop.create_task(work, context=self.context.copy())
        task.add_done_callback(self.loop.noted)
        return task

    def crash(self) -> None:
        """Gone, now."""
        if self.dead:
            return
        self.dead = True
        self.ready.clear()
        self.loop.note("crash", self.name)
        for tell in self.on_crash:
            tell()

    def pause(self, seconds: float) -> None:
        """No step for so long."""
        if self.paused or self.dead:
            return
        self.paused = True
        self.loop.note("pause", self.name, seconds)
        self.loop.at(seconds, self.loop.outside, self._resume)

    def _resume(self) -> None:
        self.paused = False
        self.loop.wake(self)


CURRENT: ContextVar[Process] = ContextVar("process")


class SimLoop(asyncio.BaseEventLoop):
    """One run. `trace` (None: only its hash is kept) gets a line for whatever `note` is told."""

    def __init__(self, seed: int, trace: list[str] | None = None) -> None:
        super().__init__()
        self.rng = Random(seed)
        self.digest = 0
        self.steps = 0
        self.problems: list[str] = []
        self.tasks: list[asyncio.Task[Any]] = []  # kept until the end: a dead process unwinds nothing
        self.breaks: list[tuple[int, int, Callable[[Process], None]]] = []  # before which step what happens, as a heap
        self.servers: dict[str, tuple[Process, Callable[[], asyncio.BaseProtocol]]] = {}
        self.network: Any = None
        self.trace = trace
        self._now = START_S
        self._active: list[Process] = []
        self._timers: list[tuple[float, int, events.Handle, Process]] = []
        self._serial = 0
        self._over = False
        self.outside = Process(self, "outside")

    # ---- time ----

    def time(self) -> float:
        """Virtual seconds; a process that reads it sees no jumps."""
        return self._now

    def wall_ns(self) -> int:
        """What the clock of the running process says, Unix ns."""
        process = CURRENT.get(None)
        skew = process.skew_ms if process is not None else 0
        return round((self._now - START_S) * 1e9) + (START_MS + skew) * 1_000_000

    @property
    def true_ms(self) -> int:
        """Unix ms of a clock that is right."""
        return START_MS + round((self._now - START_S) * 1000)

    # ---- asyncio ----

    def call_soon(  # type: ignore[override]
        self, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        """See asyncio."""
        handle = events.Handle(callback, args, self, context)
        process: Process = handle._context.get(CURRENT, self.outside)  # type: ignore[attr-defined]
        if not (process.dead or self._over):
            process.ready.append(handle)
            if not process.listed:
                self.wake(process)
        return handle

    call_soon_threadsafe = call_soon  # type: ignore[assignment]

    def call_later(  # type: ignore[override]
        self, delay: float, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """See asyncio."""
        return self.call_at(self._now + delay, callback, *args, context=context)

    def call_at(  # type: ignore[override]
        self, when: float, callback: Callable[..., Any], *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """See asyncio."""
        timer = events.TimerHandle(when, callback, args, self, context)
        process: Process = timer._context.get(CURRENT, self.outside)  # type: ignore[attr-defined]
        self._push(when, timer, process)
        return timer

    def at(self, delay: float, process: Process, callback: Callable[..., Any], *args: Any) -> None:
        """Call something in a process after a time, as if it came from outside."""
        when = self._now + delay
        self._push(when, events.TimerHandle(when, callback, args, self, process.context.copy()), process)

    def _push(self, when: float, timer: events.Handle, process: Process) -> None:
        if not (process.dead or self._over):
            self._serial += 1
            heapq.heappush(self._timers, (when, self._serial, timer, process))

    def create_task(self, coro: Any, *, name: Any = None, context: Context | None = None) -> asyncio.Task[Any]:
        """See asyncio."""
        if self._over:
            raise RuntimeError("the run is over")
        task: asyncio.Task[Any] = asyncio.Task(coro, loop=self, name=name or "t", context=context)
        self.tasks.append(task)
        return task

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> Any:  # type: ignore[override]
        """There are no threads: it is done at once."""
        future = self.create_future()
        future.set_result(func(*args))
        return future

    async def create_unix_connection(self, protocol_factory: Any, path: Any = None, **_: Any) -> Any:
        """See asyncio."""
        return await self.network.connect(CURRENT.get(), protocol_factory, path)

    async def create_unix_server(self, protocol_factory: Any, path: Any = None, **_: Any) -> Any:
        """See asyncio."""
        return self.network.listen(CURRENT.get(), protocol_factory, path)

    def noted(self, task: asyncio.Task[Any]) -> None:
        """A task has ended."""
        if not (task.cancelled() or self._over) and (error := task.exception()) is not None:
            self.problems.append(f"a task failed: {error!r}")

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Nothing may come here."""
        if not self._over:
            error = context.get("exception")
            self.problems.append(f"unhandled: {context.get('message')}: {error!r}")

    # ---- running ----

    def wake(self, process: Process) -> None:
        """It may take steps, if there are any for it."""
        if process.ready and not (process.listed or process.paused or process.dead):
            process.listed = True
            self._active.append(process)

    def before_step(self, step: int, act: Callable[[Process], None]) -> None:
        """Have something done before that step of the run, with the process that would take it."""
        self._serial += 1
        heapq.heappush(self.breaks, (step, self._serial, act))

    def run(self, work: Coroutine[Any, Any, Any], until_s: float) -> bool:
        """Run a coroutine outside of all processes to its end; False if that did not come in time. One run only."""
        events._set_running_loop(self)
        try:
            main = self.create_task(work, context=self.outside.context.copy())
            while not main.done():
                if not self._step(START_S + until_s):
                    return False
            main.result()
            return True
        finally:
            events._set_running_loop(None)

    def _step(self, until: float) -> bool:
        active = self._active
        if not active:
            return self._advance(until)
        place = int(self.rng.random() * len(active)) if len(active) > 1 else 0
        process = active[place]
        if self.breaks and self.breaks[0][0] <= self.steps:
            heapq.heappop(self.breaks)[2](process)
        if process.dead or process.paused or not process.ready:
            process.listed = False
            del active[place]
            return True
        handle = process.ready.popleft()
        if not process.ready:
            process.listed = False
            del active[place]
        if not handle._cancelled:
            self.steps += 1
            handle._run()
        return True

    def _advance(self, until: float) -> bool:
        """To the next timers."""
        timers = self._timers
        while timers:
            when, _, handle, process = heapq.heappop(timers)
            if handle._cancelled or process.dead:
                continue
            if when > until:
                return False
            self._now = max(self._now, when)
            process.ready.append(handle)
            self.wake(process)
            if self._active and (not timers or timers[0][0] > self._now):
                return True
        return bool(self._active)

    # ---- the trace ----

    def note(self, kind: str, *what: object) -> None:
        """One line of the trace."""
        text = f"{self._now:.6f} {kind} {' '.join(map(str, what))}"
        self.digest = crc32(text.encode(), self.digest)
        if self.trace is not None:
            self.trace.append(text)

    def seen(self, kind: str, who: object, data: bytes) -> None:
        """Bytes that went by."""
        self.digest = crc32(data, self.digest)
        if self.trace is not None:
            self.note(kind, who, len(data), f"{crc32(data):08x}")

    def finish(self) -> None:
        """Nothing runs any more."""
        self._over = self._closed = True
        self._timers.clear()
        self._active.clear()
        for task in self.tasks:
            task._log_destroy_pending = False  # type: ignore[attr-defined]
        self.tasks.clear()
        self.breaks.clear()
        self.outside.ready.clear()
        self.network = None
