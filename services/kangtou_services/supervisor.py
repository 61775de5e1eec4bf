"""`up`: starts Redis, the pool of table actors, the gateways and the house bots, and keeps them alive.

A child that dies is started again after a pause that grows; after five deaths in a minute the supervisor gives up with
a clear message. One supervisor a data folder. After a `kill -9` of everything the next start ends what was left over
and goes on with the same matches.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import signal
import sys
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import psutil
import structlog

log = structlog.get_logger(__name__)

GIVE_UP_S = 60.0
ORDERLY_S = 5.0  # a process that ends sooner than this has failed, whatever it says
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.1, 5.0
EXIT_IN_USE, EXIT_GAVE_UP = 3, 4


class FolderInUse(Exception):
    """Another supervisor runs on this data folder."""


class GaveUp(Exception):
    """A child does not stay alive."""


@dataclass(slots=True)
class Child:
    """A process to keep alive. `ready` waits until it serves; `grace` is how long it may take to stop (seconds).

    `excuse` tells why it has just died if that is no fault of its own ("": it is): such a death does not count.
    """

    name: str
    argv: list[str]
    ready: Callable[[], Awaitable[bool]] | None = None
    excuse: Callable[[], str] = lambda: ""
    says_ready: bool = False
    grace: float = 5.0
    ready_s: float = 180.0
    process: asyncio.subprocess.Process | None = None
    deaths: deque[float] = field(default_factory=deque)
    restarts: int = 0


def lock_folder(data: Path) -> IO[str]:
    """Make this process the folder's only supervisor. Raises FolderInUse."""
    data.mkdir(parents=True, exist_ok=True, mode=0o700)
    file = (data / "up.lock").open("a+")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.close()
        raise FolderInUse(str(data)) from error
    return file


def end_leftovers(data: Path) -> int:
    """Kill what a supervisor that was killed left running; how many there were. Not by pid alone."""
    record = data / "run" / "pids.json"
    try:
        noted = json.loads(record.read_text())
    except (FileNotFoundError, ValueError):
        return 0
    found: list[psutil.Process] = []
    for pid, started in noted:
        with contextlib.suppress(psutil.NoSuchProcess):
            process = psutil.Process(pid)
            if abs(process.create_time() - started) < 1.0:
                found += [process, *process.children(recursive=True)]
    for process in found:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(found, timeout=5)
    record.unlink(missing_ok=True)
    return len(found)


class Supervisor:
    """Children in the order in which they start; they stop in the reverse order."""

    def __init__(self, data: Path, children: list[Child], give_up_deaths: int = 5) -> None:
        self.data = data
        self.give_up_deaths = give_up_deaths
        self.children = children
        self._stopping = asyncio.Event()
        self._failed: GaveUp | None = None

    def stop(self) -> None:
        """Ask for an orderly end."""
        self._stopping.set()

    async def run(self, on_ready: Callable[[], None]) -> None:
        """Start all, keep them alive, stop all. Raises GaveUp."""
        keepers: list[asyncio.Task[None]] = []
        try:
            for child in self.children:
                await self._start(child)
                keepers.append(asyncio.create_task(self._keep(child), name=f"keep-{child.name}"))
                if self._stopping.is_set():
                    return
            on_ready()
            await self._stopping.wait()
        finally:
            self._stopping.set()
            for keeper in keepers:
                keeper.cancel()
            await asyncio.gather(*keepers, return_exceptions=True)
            for child in reversed(self.children):
                await self._end(child)
            (self.data / "run" / "pids.json").unlink(missing_ok=True)
        if self._failed is not None:
            raise self._failed

    async def _start(self, child: Child) -> None:
        (self.data / "run").mkdir(parents=True, exist_ok=True, mode=0o700)
        with (self.data / f"{child.name}.log").open("ab") as out:
            child.process = await asyncio.create_subprocess_exec(
                *child.argv,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE if child.says_ready else out,
                stderr=out,
                start_new_session=True,
            )
        self._note_pids()
        log.info("child_started", child=child.name, pid=child.process.pid, restarts=child.restarts)
        if not await self._becomes_ready(child):
            raise GaveUp(f"{child.name} did not become ready; see {self.data / (child.name + '.log')}")

    async def _becomes_ready(self, child: Child) -> bool:
        process = child.process
        assert process is not None
        deadline = time.monotonic() + child.ready_s
        if child.says_ready:
            assert process.stdout is not None
            said = asyncio.ensure_future(_says_ready(process.stdout))
            stopping = asyncio.ensure_future(self._stopping.wait())
            await asyncio.wait((said, stopping), timeout=child.ready_s, return_when=asyncio.FIRST_COMPLETED)
            ready = said.done() and said.result()
            said.cancel()
            stopping.cancel()
            return ready or self._stopping.is_set()
        while child.ready is not None and not await child.ready():
            if process.returncode is not None or time.monotonic() > deadline or self._stopping.is_set():
                return self._stopping.is_set()
            await asyncio.sleep(0.03)
        return True

    async def _keep(self, child: Child) -> None:
        pause = FIRST_PAUSE_S
        while True:
            assert child.process is not None
            started = time.monotonic()
            code = await child.process.wait()
            _end_group(child.process.pid)
            now = time.monotonic()
            why = child.excuse()
            ordered = code == 0 and now - started >= ORDERLY_S  # an operator may have it end, to be started again
            if not (why or ordered):
                child.deaths.append(now)
            while child.deaths and now - child.deaths[0] > GIVE_UP_S:
                child.deaths.popleft()
            log.error("child_died", child=child.name, exit=code, deaths=len(child.deaths), why=why)
            if len(child.deaths) >= self.give_up_deaths:
                self._give_up(child)
                return
            pause = FIRST_PAUSE_S if now - started > GIVE_UP_S / 2 else min(pause * 2, LONGEST_PAUSE_S)
            await asyncio.sleep(pause)
            child.restarts += 1
            try:
                await self._start(child)
            except (GaveUp, OSError):
                continue  # it has died, or will be: the next turn of the loop counts it

    def _give_up(self, child: Child) -> None:
        self._failed = GaveUp(
            f"{child.name} died {len(child.deaths)} times within a minute; its output is in "
            f"{self.data / (child.name + '.log')}"
        )
        self._stopping.set()

    async def _end(self, child: Child) -> None:
        process = child.process
        if process is None:
            return
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGTERM)
            try:
                async with asyncio.timeout(child.grace):
                    await process.wait()
            except TimeoutError:
                log.warning("child_killed", child=child.name)
        _end_group(process.pid)
        with contextlib.suppress(ProcessLookupError):
            if process.returncode is None:
                process.kill()
                await process.wait()

    def _note_pids(self) -> None:
        noted = []
        for child in self.children:
            if child.process is not None and child.process.returncode is None:
                with contextlib.suppress(psutil.NoSuchProcess):
                    noted.append((child.process.pid, psutil.Process(child.process.pid).create_time()))
        record = self.data / "run" / "pids.json"
        fresh = record.with_suffix(".new")
        try:
            fresh.write_text(json.dumps(noted))
            fresh.replace(record)
        except OSError as error:  # a full disk must not keep a child from being looked after
            log.warning("pids_not_noted", error=error.strerror)


async def _says_ready(output: asyncio.StreamReader) -> bool:
    """Whether a line `ready` comes before the output ends."""
    while (line := await output.readline()) not in (b"", b"ready\n"):
        pass
    return line == b"ready\n"


def _end_group(pid: int) -> None:
    """Kill what is left of a child's process group and session: its own children too."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, ProcessLookupError):
            if os.getsid(process.pid) == pid:
                process.kill()


def fail(message: str, code: int) -> int:
    """Say why nothing runs."""
    sys.stderr.write(f"kangtou: {message}\n")
    return code
