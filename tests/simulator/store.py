"""The store as each process reaches it: the twins in memory behind round trips that take time, fail and lie.

A request arrives, is carried out at once, and its answer travels back. Either may be lost; the caller then gets
LogUnavailable, at once (a reset) or after the time that RedisLog would wait, and the request may still arrive after
that. Who stored what is written down for the invariants.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from kangtou_services.directory import DirectoryUnavailable, MemoryDirectory
from kangtou_services.directory.watch import View, deaths
from kangtou_services.log.base import Entry, LogUnavailable
from kangtou_services.log.line import Patience
from kangtou_services.log.memory import MemoryLog, MemoryMatchStore, MemoryServer

from .loop import CURRENT, Process, SimLoop

if TYPE_CHECKING:
    from .wire import Connection

T = TypeVar("T")


def carried_out(work: Coroutine[Any, Any, T]) -> T:
    """The result of a twin's method, which waits for nothing but its turn."""
    try:
        while True:
            work.send(None)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]


@dataclass
class Temper:
    """How the store answers: seconds each way, and how often an append goes wrong in which way."""

    least_s: float = 0.0003
    spread_s: float = 0.002
    slow: float = 0.0  # of requests that take up to `slow_s` more
    slow_s: float = 1.0
    lost: float = 0.0  # of writes that never arrive
    unanswered: float = 0.0  # of writes that are carried out and not answered
    late: float = 0.0  # of appends that arrive after they have been given up
    behind: float = 0.0  # of waits for replicas that come to nothing


@dataclass(frozen=True, slots=True)
class Stored:
    """An entry as it was stored: by which process, when (true Unix ms)."""

    entry: Entry
    writer: str
    at_ms: int


@dataclass
class Store:
    """The server. `stored` are the entries of `match`; `away` for everybody, `cut_off` for some processes."""

    loop: SimLoop
    match: str
    temper: Temper
    count: Callable[[str], None]
    on_stored: Callable[[str, Entry], None]
    server: MemoryServer = field(init=False)
    process: Process = field(init=False)
    stored: list[Stored] = field(default_factory=list)
    outages: list[tuple[int, int]] = field(default_factory=list)
    connections: dict[Connection, None] = field(default_factory=dict)  # of wire.py, in order of opening
    patience: Patience = field(default_factory=Patience)
    away: bool = False
    cut_off: set[str] = field(default_factory=set)
    deaf: set[str] = field(default_factory=set)  # processes that do not reach the directory, though the log

    def __post_init__(self) -> None:
        self.server = MemoryServer(self.loop.time)
        self.log, self.matches = MemoryLog(self.server), MemoryMatchStore(self.server)
        self.directory = MemoryDirectory(lambda: self.loop.true_ms)
        self.process = Process(self.loop, "store")

    def outage(self, seconds: float, *, restart: bool) -> None:
        """Nobody reaches it for so long; `restart`: another incarnation answers then."""
        if self.away:
            return
        self.away, since = True, self.loop.true_ms
        self.loop.note("outage", seconds, restart)

        def back() -> None:
            self.away = False
            self.outages.append((since, self.loop.true_ms))
            if restart:
                self.server.restart()
                for connection in list(self.connections):
                    connection.reset()

        self.loop.at(seconds, self.process, back)

    def reached_by(self, process: str) -> bool:
        """Whether a process of that name can reach it now."""
        return not self.away and process not in self.cut_off

    async def trip(self, do: Callable[[], Coroutine[Any, Any, T]], kind: str = "") -> T:
        """One round trip of the running process. Raises what the twin raises, and LogUnavailable."""
        loop, temper, rng = self.loop, self.temper, self.loop.rng
        caller = CURRENT.get()
        if not self.reached_by(caller.name):
            await asyncio.sleep(0.001 + 0.004 * rng.random())
            raise LogUnavailable("no connection")
        fate, forth = "", temper.least_s + temper.spread_s * rng.random()
        if temper.slow and rng.random() < temper.slow:
            self.count("store slow")
            forth += temper.slow_s * rng.random()
        if kind:
            draw = rng.random()
            for name, share in (("lost", temper.lost), ("unanswered", temper.unanswered), ("late", temper.late)):
                if draw < share:
                    fate = name
                    self.count(f"{kind} {name}")
                    break
                draw -= share
        answer: asyncio.Future[T] = loop.create_future()
        back = temper.least_s + temper.spread_s * rng.random()
        reset = fate in ("lost", "unanswered") and rng.random() < 0.7
        if fate == "late":
            forth, reset = 0.02 + (self.patience.reply_s + 0.5) * rng.random(), True
        if fate != "lost":
            loop.at(forth, self.process, self._arrived, do, caller, answer, back if not fate else -1.0)
        if reset:
            loop.at(0.002 + 0.01 * rng.random(), caller, _given_up, answer)
        try:
            async with asyncio.timeout(self.patience.reply_s):
                return await answer
        except TimeoutError:
            raise LogUnavailable("no answer") from None

    def _arrived(self, do: Any, caller: Process, answer: asyncio.Future[Any], back: float) -> None:
        if self.away:
            if back >= 0:
                self.loop.at(back, caller, _given_up, answer)
            return
        error: Exception | None = None
        result: Any = None
        try:
            result = carried_out(do())
        except Exception as raised:  # noqa: BLE001 - it is the answer
            error = raised
        if back >= 0:
            self.loop.at(back, caller, _answer, answer, result, error)

    def noted(self, match: str, entry: Entry, writer: str) -> None:
        """Something has been stored."""
        self.loop.seen("stored", f"{match} {entry.id} by {writer}", entry.body.encode())
        if match == self.match:
            self.stored.append(Stored(entry, writer, self.loop.true_ms))
        self.on_stored(match, entry)


def _answer(answer: asyncio.Future[Any], result: Any, error: Exception | None) -> None:
    if answer.done():
        return
    if error is None:
        answer.set_result(result)
    else:
        answer.set_exception(error)


def _given_up(answer: asyncio.Future[Any]) -> None:
    _answer(answer, None, LogUnavailable("connection failed"))


class ReachedLog:
    """An EventLog of one process."""

    def __init__(self, store: Store, writer: str) -> None:
        self._store, self._log, self._writer = store, store.log, writer

    async def claim(self, match: str, owner: str, tail: Entry | None, marker: Entry) -> bool:
        """See EventLog."""
        return await self._store.trip(
            lambda: self._noting(match, marker, self._log.claim(match, owner, tail, marker)), "claim"
        )

    async def append(self, match: str, entry: Entry) -> None:
        """See EventLog."""
        await self._store.trip(lambda: self._noting(match, entry, self._log.append(match, entry)), "append")

    async def _noting(self, match: str, entry: Entry, work: Coroutine[Any, Any, T]) -> T:
        before = await self._log.read(match)
        done = await work
        if len(await self._log.read(match)) > len(before):
            self._store.noted(match, entry, self._writer)
        return done

    def __getattr__(self, name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        """The other methods: a round trip each."""
        method = getattr(self._log, name)

        async def reached(*args: Any) -> Any:
            return await self._store.trip(lambda: method(*args))

        return reached


class ReachedMatches:
    """A MatchStore of one process: each method is a round trip to the twin's."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        method = getattr(self._store.matches, name)

        async def reached(*args: Any) -> Any:
            return await self._store.trip(lambda: method(*args))

        return reached


class ReachedDirectory:
    """A Directory of one process."""

    def __init__(self, store: Store) -> None:
        self._store, self._directory = store, store.directory

    async def _trip(self, do: Callable[[], Coroutine[Any, Any, T]]) -> T:
        if CURRENT.get().name in self._store.deaf:
            await asyncio.sleep(0.01)
            raise DirectoryUnavailable("no connection")
        try:
            return await self._store.trip(do)
        except LogUnavailable as no:
            raise DirectoryUnavailable(str(no)) from no

    def __getattr__(self, name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        """What is not below: a round trip each."""
        method = getattr(self._directory, name)

        async def reached(*args: Any) -> Any:
            return await self._trip(lambda: method(*args))

        return reached

    def watch_dead(self) -> Any:
        """See Directory."""
        return deaths(self, lambda: round(self._store.loop.time() * 1000))

    async def look(self) -> View:
        """See watch.Source."""
        return await self._trip(self._directory.look)

    async def wait(self, seconds: float) -> None:
        """See watch.Source."""
        try:
            async with asyncio.timeout(seconds):
                await self._directory._announced.wait()
        except TimeoutError:
            return
        await asyncio.sleep(0.001)
        self._directory._announced.clear()
