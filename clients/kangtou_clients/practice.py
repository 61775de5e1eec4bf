"""A table of one's own against bots, without a server elsewhere: starts a small one as a child and sits down at it.

    async with practice("hongshi", seat=1) as table, table.client.play() as session:
        match = await table.attach(session)
        async for prompt in match.prompts(): …

The bots run in this process. Leaving the context ends them and the server; if this process is killed, the server ends
by itself, since its standard input does.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, TypeVar

from kangtou_engine.cards import Seat
from kangtou_engine.registry import REGISTRY

from .api import Client, Match, Refused, Session, Wanted, connect
from .bots.player import Tally, dice
from .bots.policies import bot_named
from .bots.runner import Job, play_job

T = TypeVar("T")
READY_S = 30.0
STOP_S = 5.0
NAMES = ("小二", "老张", "大姐", "老叔", "三妹", "大爷", "二嫂")
LOG = "practice.log"
LEISURE_MS = 3_600_000  # for a move, also in windows


class PracticeError(Exception):
    """The practice server does not start, or does not let us sit down. The text is for people."""


@dataclass(slots=True)
class Practice:
    """A running table. `entropy` belongs to the person's seat: `attach` opens it.

    data    folder with the server's log and the records of finished matches
    tally   what the bots have done
    """

    address: str
    token: str = field(repr=False)
    match_id: str
    seat: Seat
    client: Client
    entropy: bytes = field(repr=False)
    data: Path
    tally: Tally = field(default_factory=Tally)

    async def attach(self, session: Session) -> Match:
        """Take the person's seat. Raises PracticeError, CallFailed."""
        return _given(await session.attach(self.match_id, seat=self.seat, entropy=self.entropy))


@asynccontextmanager
async def practice(
    game: str,
    *,
    options: Mapping[str, int | bool | str] | None = None,
    seats: int = 0,
    seat: Seat = 0,
    bots: str = "greedy",
    pace_s: float = 0.0,
    turn_ms: int = 0,
    data: Path | None = None,
    seed: int | None = None,
) -> AsyncIterator[Practice]:
    """A match of this game with the person at `seat` and bots at all others. Raises PracticeError, BadOptions.

    bots     their policy; `pace_s` is how long each waits before a move, `seed` makes them repeat their choices
    turn_ms  the person's time for a move; 0: an hour
    data     where records are kept; by default in a folder that vanishes with the table
    """
    config = REGISTRY.game(game).config(options or {}, seats or None)
    bot_named(bots)
    if not 0 <= seat < config.seats:
        raise PracticeError(f"{game} has no seat {seat} here: there are {config.seats}")
    time_ms = turn_ms or LEISURE_MS
    wanted = Wanted(game, seats=config.seats, options=options or {}, turn_ms=time_ms, window_ms=time_ms)
    async with AsyncExitStack() as stack:
        folder = data or _passing(stack)
        ready = await stack.enter_async_context(practice_server(folder))
        client = await stack.enter_async_context(connect(ready["address"], ready["token"]))
        table = _given(await client.lobby.open(wanted))
        place = _given(await client.lobby.sit(table.match_id, seat))
        found = Practice(ready["address"], ready["token"], place.match_id, seat, client, place.entropy, folder)
        others = [other for other in range(config.seats) if other != seat]
        await stack.enter_async_context(_bots(found, others, bots, pace_s, seed))
        yield found


@asynccontextmanager
async def forked(
    record: bytes,
    position: int,
    *,
    seat: Seat = 0,
    bots: str = "greedy",
    pace_s: float = 0.0,
    turn_ms: int = 0,
    data: Path | None = None,
    seed: int | None = None,
) -> AsyncIterator[Practice]:
    """Continue from here: a finished match (its record's text) from a position on, with the person at `seat`.

    Later packs are those of the record, so that one can see what else might have come of it. Raises PracticeError.
    """
    async with AsyncExitStack() as stack:
        folder = data or _passing(stack)
        file = _written(folder, record)
        stack.callback(file.unlink)
        words = ["--fork", str(file), "--at", str(position), "--seat", str(seat), "--turn-ms", str(turn_ms)]
        ready = await stack.enter_async_context(practice_server(folder, words))
        client = await stack.enter_async_context(connect(ready["address"], ready["token"]))
        found = Practice(ready["address"], ready["token"], ready["match"], seat, client, b"", folder)
        jobs: list[tuple[Session, Job]] = []
        for other, token in enumerate(ready["bots"]):
            if token is not None:
                player = await stack.enter_async_context(connect(found.address, token))
                jobs.append((await stack.enter_async_context(player.play()), Job(found.match_id, other)))
        await stack.enter_async_context(playing(jobs, bots, found.tally, pace_s, seed))
        yield found


def _passing(stack: AsyncExitStack) -> Path:
    """A folder that vanishes with the context."""
    return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kt-", ignore_cleanup_errors=True)))


def _written(folder: Path, record: bytes) -> Path:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    file = folder / f"fork-{secrets.token_hex(4)}.ktr"
    file.write_bytes(record)
    return file


@asynccontextmanager
async def practice_server(data: Path, arguments: Sequence[str] = ()) -> AsyncIterator[dict[str, Any]]:
    """The server as a child; gives what it says when it is ready. Raises PracticeError."""
    words = [sys.executable, "-m", "kangtou_services", "practice", "--data", str(data), "--until-eof", *arguments]
    with _log(data) as errors:
        process = await asyncio.create_subprocess_exec(
            *words,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
            start_new_session=True,  # a Ctrl-C of the terminal is ours to handle
        )
    try:
        yield await _ready(process, data / LOG)
    finally:
        await _stop(process)


def _log(data: Path) -> IO[bytes]:
    data.mkdir(parents=True, exist_ok=True, mode=0o700)
    return (data / LOG).open("ab")


def _last_line(said: Path) -> str:
    return said.read_text(errors="replace").strip().rpartition("\n")[2].removeprefix("kangtou: ")


async def _ready(process: asyncio.subprocess.Process, said: Path) -> dict[str, Any]:
    assert process.stdout is not None
    try:
        async with asyncio.timeout(READY_S):
            line = await process.stdout.readline()
    except TimeoutError:
        raise PracticeError(f"the practice server is not ready after {READY_S:.0f} s; see {said}") from None
    word, _, rest = line.decode().partition(" ")
    if word != "ready":
        raise PracticeError(f"the practice server does not start: {_last_line(said)}")
    found: dict[str, Any] = json.loads(rest)
    return found


async def _stop(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
    try:
        async with asyncio.timeout(STOP_S):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


@asynccontextmanager
async def _bots(
    table: Practice, seats: Sequence[Seat], policy: str, pace_s: float, seed: int | None
) -> AsyncIterator[None]:
    """Bots sit down, which makes the match, and play until the context is left."""
    async with AsyncExitStack() as stack:
        jobs: list[tuple[Session, Job]] = []
        for number, seat in enumerate(seats):
            client = await stack.enter_async_context(connect(table.address))
            _given(await client.accounts.register(NAMES[number % len(NAMES)], "bot"))
            place = _given(await client.lobby.sit(table.match_id, seat))
            jobs.append((await stack.enter_async_context(client.play()), Job(place.match_id, seat, place.entropy)))
        await stack.enter_async_context(playing(jobs, policy, table.tally, pace_s, seed))
        yield


@asynccontextmanager
async def playing(
    jobs: Sequence[tuple[Session, Job]], policy: str, tally: Tally, pace_s: float, seed: int | None
) -> AsyncIterator[None]:
    """Bots at seats of a match. One that fails ends the context with its error: the match would wait for ever."""
    here = asyncio.current_task()
    failed: list[BaseException] = []

    def ended(task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None and here is not None:
            failed.append(error)
            here.cancel()

    tasks = []
    for number, (session, job) in enumerate(jobs):
        pick = dice(None if seed is None else seed + number)
        tasks.append(asyncio.create_task(play_job(session, job, policy, pick, tally, pace_s)))
        tasks[-1].add_done_callback(ended)
    try:
        yield
    except asyncio.CancelledError:
        if failed and here is not None:
            here.uncancel()
            raise PracticeError(f"a bot cannot play on: {failed[0]}") from failed[0]
        raise
    finally:
        for task in tasks:
            task.remove_done_callback(ended)
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _given(result: T | Refused) -> T:
    if isinstance(result, Refused):
        raise PracticeError(result.text_en)
    return result
