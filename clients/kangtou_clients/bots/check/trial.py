"""A bot as a process: started with its environment for one match (or several), watched, and ended if it stays."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from kangtou_engine.registry import REGISTRY

from ...api import Client, Refused, Session, Wanted, connect
from ...practice import PracticeError, playing, practice_server
from ..player import Tally
from ..runner import Job
from .inspector import Inspector, Seen

T = TypeVar("T")
LINGER_S = 5.0  # that a process may take to end after its match
HOPELESS_S = 20.0  # that it may take to give up with a token that is not valid


@dataclass(slots=True)
class Run:
    """One process, or a tournament of an account. `code` None: it did not end by itself; `said`: the end of its stderr.

    faults   of an account, by kind
    """

    matches: int
    over: int = 0
    code: int | None = None
    said: str = ""
    seconds: float = 0.0
    seen: Seen = field(default_factory=Seen)
    faults: Counter[str] = field(default_factory=Counter)


async def with_drop(play: Callable[[], Awaitable[Run]], tries: int = 5) -> Run:
    """A match in which a stream was dropped; another, if it was over before that by chance."""
    run = await play()
    for _ in range(tries - 1):
        if run.seen.drops or not run.over:
            break
        run = await play()
    return run


@dataclass(slots=True)
class Bench:
    """A practice server with the inspector before it."""

    address: str
    inner: str
    inspector: Inspector
    folder: Path
    command: tuple[str, ...]
    turn_ms: int

    async def play(self, game: str, options: Mapping[str, int | bool | str], tables: int = 1, drop: int = 0) -> Run:
        """The bot in matches of its own against built-in bots. Raises PracticeError, CallFailed."""
        seen = self.inspector.start(drop)
        async with AsyncExitStack() as stack:
            owner = await stack.enter_async_context(connect(self.inner))
            login = _given(await owner.accounts.register("checked bot", "bot"))
            matches = [await self._table(stack, owner, game, options) for _ in range(tables)]
            run = Run(tables, seen=seen)
            await self._run(run, self._environment(login.token, matches))
            run.over = len(seen.ended)
            return run

    async def turned_away(self) -> Run:
        """The bot with a token that is not valid: it should end, and say why."""
        run = Run(0, seen=self.inspector.start())
        await self._run(run, self._environment(secrets.token_urlsafe(24), ["nowhere"]), HOPELESS_S)
        return run

    async def _table(
        self, stack: AsyncExitStack, owner: Client, game: str, options: Mapping[str, int | bool | str]
    ) -> str:
        """A match with the bot at seat 0 and greedy at the others, who wait for it."""
        seats = REGISTRY.game(game).config(options).seats
        wanted = Wanted(game, seats=seats, options=options, turn_ms=self.turn_ms, window_ms=self.turn_ms)
        table = _given(await owner.lobby.open(wanted))
        _given(await owner.lobby.sit(table.match_id, 0, commit=False))
        jobs: list[tuple[Session, Job]] = []
        match = table.match_id
        for seat in range(1, seats):
            client = await stack.enter_async_context(connect(self.inner))
            _given(await client.accounts.register(f"house {seat}", "bot"))
            place = _given(await client.lobby.sit(table.match_id, seat))
            match = place.match_id
            jobs.append((await stack.enter_async_context(client.play()), Job(match, seat, place.entropy)))
        await stack.enter_async_context(playing(jobs, "greedy", Tally(), 0.0, 1))
        return match

    def _environment(self, token: str, matches: Sequence[str]) -> dict[str, str]:
        return {
            **os.environ,
            "KANGTOU_SERVER": self.address,
            "KANGTOU_TOKEN": token,
            "KANGTOU_MATCH": matches[0],
            "KANGTOU_MATCHES": " ".join(matches),
            "KANGTOU_SEAT": "0",
        }

    async def _run(self, run: Run, environment: Mapping[str, str], most_s: float = 0.0) -> None:
        """The process, until it ends or has stayed too long after its matches (or `most_s`) were over."""
        log = self.folder / f"bot-{secrets.token_hex(4)}.log"
        began = time.monotonic()
        with log.open("wb") as errors:
            process = await asyncio.create_subprocess_exec(
                *self.command, env=environment, stdout=errors, stderr=errors, start_new_session=True
            )
        try:
            await self._wait(process, run, most_s or self._patience())
            run.code = process.returncode
        finally:
            await _end(process)
            run.seconds = time.monotonic() - began
            run.said = log.read_text(errors="replace").strip()[-400:]

    async def _wait(self, process: asyncio.subprocess.Process, run: Run, most_s: float) -> None:
        """Patience starts anew with each sign of life; after the last match it is LINGER_S."""
        waiting = asyncio.ensure_future(process.wait())
        last, quiet = -1, 0.0
        try:
            while not waiting.done():
                await asyncio.wait({waiting}, timeout=0.05)
                seen = run.seen
                quiet = quiet + 0.05 if seen.commands == last else 0.0
                last = seen.commands
                over = run.matches > 0 and len(seen.ended) >= run.matches
                if quiet > (LINGER_S if over else most_s):
                    return
        finally:
            waiting.cancel()

    def _patience(self) -> float:
        return 30.0 + self.turn_ms / 1000


async def _end(process: asyncio.subprocess.Process) -> None:
    """With all that it has started."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


@asynccontextmanager
async def bench(command: Sequence[str], turn_ms: int) -> AsyncIterator[Bench]:
    """All that trials need. Raises PracticeError."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kt-", ignore_cleanup_errors=True)))
        ready = await stack.enter_async_context(practice_server(folder))
        inspector = Inspector(ready["address"])
        address = await stack.enter_async_context(inspector.serving())
        yield Bench(address, ready["address"], inspector, folder, tuple(command), turn_ms)


def _given(result: T | Refused) -> T:
    if isinstance(result, Refused):
        raise PracticeError(result.text_en)
    return result
