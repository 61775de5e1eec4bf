"""Group commit: appends that arrive while a batch is under way go together in the next, one round trip and one fsync.

What a writer knows of the end of a log holds for one connection: after each new one, the first append of a match looks
at the tail before it writes, so that a server that came back without its last entries is found out and no gap is
written.

A server may answer and yet refuse what is written, or not have it on all disks: once that has happened, a sign of life
counts only if a write on trial is stored as promised.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Any

from redis.exceptions import ResponseError

from ..observe.log import LogMeter
from .base import Entry, Fenced, LogError, LogUnavailable, TailLost
from .disks import TOO_FEW, Disks
from .line import Command, Line
from .stream import entry_of, key, xadd

_BATCH_MOST = 512
_KNOWN_MOST = 100_000  # matches of which the end is remembered; beyond that it is read once more
_TRIAL_MS = 300  # how long a write on trial waits for replicas, twice: whoever asks for a sign of life is in a hurry


@dataclass(slots=True, eq=False)
class _Append:
    match: str
    entry: Entry
    done: asyncio.Future[None]

    @property
    def at(self) -> tuple[int, int]:
        return self.entry.epoch, self.entry.seq

    def follows(self, end: tuple[int, int] | None) -> bool:
        """Whether it is the next entry of the same epoch."""
        return end is not None and self.at == (end[0], end[1] + 1)

    def answer(self, error: LogError | None = None) -> None:
        """Success or an error; nothing if the caller has gone."""
        if self.done.done():
            return
        if error is None:
            self.done.set_result(None)
        else:
            self.done.set_exception(error)


class GroupCommit:
    """The appends of one process over one connection; a batch in flight at a time."""

    def __init__(self, line: Line, disks: Disks, meter: LogMeter | None = None) -> None:
        self._line = line
        self._line_opened = 0
        self._disks = disks
        self._meter = meter or LogMeter()
        self._ends: dict[str, tuple[int, int]] = {}  # match -> id of its last entry, on the present connection
        self._waiting: list[_Append] = []
        self._doubtful = ""  # a key of this server, where a write was not stored as promised
        self._pump: asyncio.Task[None] | None = None
        self._lock = asyncio.Lock()  # the line has one user at a time
        self._closed = False

    async def append(self, match: str, entry: Entry) -> None:
        """As EventLog.append."""
        key(match, "log")  # a bad id concerns this caller alone
        if self._closed:
            raise LogUnavailable("closed")
        append = _Append(match, entry, asyncio.get_running_loop().create_future())
        self._waiting.append(append)
        self._meter.waiting += 1
        if self._pump is None or self._pump.done():
            self._pump = asyncio.create_task(self._run(), name="log-appends")
        await append.done

    async def incarnation(self) -> str:
        """Run id of the server that appends go to. Raises LogUnavailable also if it is known not to take them."""
        async with self._lock:
            await self._line.ready()
            try:
                (pong,) = await self._line.send([("PING",)])
            except LogUnavailable:
                await self._line.ready()  # the connection was dead, the server need not be
            else:
                if isinstance(pong, ResponseError):
                    raise LogUnavailable(str(pong))  # it reads its data, or its disk is full
            if self._doubtful:
                await self._try()
            return self._line.run_id

    async def _try(self) -> None:
        """Whether what is written is stored as promised again."""
        disks = Disks(self._disks.replicas, _TRIAL_MS)
        commands: list[Command] = [("SET", self._doubtful, "1", "PX", 1_000), *disks.wait()]
        replies = await self._line.send(commands)
        elsewhere = isinstance(replies[0], ResponseError) and str(replies[0]).startswith(("MOVED", "ASK"))
        if isinstance(replies[0], ResponseError) and not elsewhere:
            raise LogUnavailable(str(replies[0]))
        if not elsewhere and not disks.satisfied(replies[-1]):
            raise LogUnavailable(TOO_FEW)
        self._doubtful = ""

    async def close(self) -> None:
        """Wait for what was begun, then let go of the connection."""
        self._closed = True
        if self._pump is not None:
            await asyncio.gather(self._pump, return_exceptions=True)
        async with self._lock:
            await self._line.close()

    async def _run(self) -> None:
        """Carry batches until nothing waits."""
        while self._waiting:
            batch = self._next_batch()
            try:
                async with self._lock:
                    await self._commit(batch)
            except LogUnavailable as no:
                self._give_up(batch, str(no))
            except BaseException as stopped:
                self._give_up(batch + self._waiting, f"the writer stopped: {stopped!r}")
                self._waiting.clear()
                raise

    def _give_up(self, batch: list[_Append], why: str) -> None:
        for append in batch:
            append.answer(LogUnavailable(why))

    def _next_batch(self) -> list[_Append]:
        """What waits, in order; of each match one append."""
        batch: dict[str, _Append] = {}
        rest: list[_Append] = []
        for append in self._waiting:
            if append.done.done():
                continue  # its caller has gone
            if append.match in batch or len(batch) >= _BATCH_MOST:
                rest.append(append)
            else:
                batch[append.match] = append
        self._waiting = rest
        self._meter.waiting = len(rest)
        return list(batch.values())

    async def _commit(self, batch: list[_Append]) -> None:
        """Answer every append of a batch; LogUnavailable concerns those that are left."""
        await self._line.ready()
        if self._line.opened != self._line_opened or len(self._ends) > _KNOWN_MOST:
            self._ends.clear()
            self._line_opened = self._line.opened
        await self._look([append for append in batch if not append.follows(self._ends.get(append.match))])
        writing: list[_Append] = []
        behind: list[_Append] = []
        for append in batch:
            if append.done.done():
                continue
            end = self._ends[append.match]
            if append.follows(end):
                writing.append(append)
            elif append.at <= end:
                behind.append(append)
            else:
                self._fence(append, TailLost(f"{append.match} ends with {end[0]}-{end[1]}, before {append.entry.id}"))
        behind += await self._write(writing)
        await self._settle(behind)

    async def _look(self, appends: list[_Append]) -> None:
        """Read the ends of logs that are not known, or not as the caller has it (it may have claimed)."""
        if not appends:
            return
        commands: list[Command] = [("XREVRANGE", key(a.match, "log"), "+", "-", "COUNT", 1) for a in appends]
        for append, rows in zip(appends, await self._line.send(commands), strict=True):
            if isinstance(rows, ResponseError):
                append.answer(LogUnavailable(str(rows)))
            elif rows:
                last = entry_of(rows[0])
                self._ends[append.match] = (last.epoch, last.seq)
            else:
                self._fence(append, Fenced(f"{append.match} has no log"))

    async def _write(self, appends: list[_Append]) -> list[_Append]:
        """Append in one pipeline; returns those whose id was refused."""
        if not appends:
            return []
        began = time.perf_counter()
        replies, missing = await self._send([xadd(append.match, append.entry) for append in appends], appends[0].match)
        self._meter.wrote(began, len(appends))
        refused: list[_Append] = []
        for append, reply in zip(appends, replies, strict=True):
            if isinstance(reply, ResponseError):
                self._ends.pop(append.match, None)
                if "equal or smaller" in str(reply):
                    refused.append(append)
                else:
                    self._doubtful = key(append.match, "sync")
                    append.answer(LogUnavailable(str(reply)))  # OOM, MISCONF, READONLY, NOPERM …
            elif reply is None:
                self._fence(append, Fenced(f"{append.match} has no log"))
            else:
                self._ends[append.match] = append.at
                append.answer(missing)
        return refused

    async def _settle(self, appends: list[_Append]) -> None:
        """For ids that the log is past: it may be our own entry, sent before."""
        if not appends:
            return
        commands: list[Command] = [("XRANGE", key(a.match, "log"), a.entry.id, a.entry.id) for a in appends]
        replies, missing = await self._send(commands, appends[0].match, nudge=True)
        for append, rows in zip(appends, replies, strict=True):
            if isinstance(rows, ResponseError):
                append.answer(LogUnavailable(str(rows)))
            elif rows and entry_of(rows[0]) == append.entry:
                append.answer(missing)
            else:
                self._fence(append, Fenced(f"{append.match} has another entry at or after {append.entry.id}"))

    async def _send(
        self, commands: list[Command], match: str, *, nudge: bool = False
    ) -> tuple[list[Any], LogUnavailable | None]:
        """Replies, and what is wrong if not all disks that were promised have everything. `match` is one of them."""
        sync = key(match, "sync")
        wait = self._disks.wait(sync if nudge else "")
        replies = await self._line.send([*commands, *wait], more_s=self._disks.replica_ms / 500 if wait else 0.0)
        if self._disks.satisfied(replies[-1]):
            return replies[: len(commands)], None
        self._doubtful = sync
        return replies[: len(commands)], LogUnavailable(TOO_FEW)

    def _fence(self, append: _Append, error: Fenced) -> None:
        self._ends.pop(append.match, None)
        append.answer(error)
