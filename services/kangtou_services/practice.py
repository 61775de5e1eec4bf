"""`python -m kangtou_services practice`: a whole server in one small process, for one player and his bots.

The same gateway and tables as everywhere, with log and stores in memory: no Ray, no Redis. Its records are files in the
data folder. It prints one line, `ready {…}` in JSON, when it plays:

    address     host:port
    pid         of this process
    token       of the one person here
    match       with `--fork`: a match that goes on from a place in a record (fork.py), with the person at `--seat`
    bots        with `--fork`: tokens for the other seats, by seat; null at the person's
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import secrets
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import structlog
import uvloop

from kangtou.v1 import game_pb2 as pb
from kangtou_engine.errors import BadText
from kangtou_engine.record import read_record

from . import logs
from .agreement import BOT, HUMAN, Member
from .fork import CannotFork, fork, store
from .gateway.server import start
from .gateway.wiring import wired
from .host.serve import serving
from .identity import Identity, Issued
from .memory import settle
from .runtime import Backend, in_memory
from .settings import Settings

log = structlog.get_logger(__name__)

SOCKET_MOST = 60  # characters of a data folder in which a unix socket can still lie
HERE = "127.0.0.1"
AT_LEISURE = {
    "turn_ms": 3_600_000,
    "open_wait_ms": 600_000,  # the person's entropy is waited for as long as the front end takes
    "absent_ms": 24 * 3_600_000,
    "house_bots": 0,
    "fill_after_ms": 0,
}


def main(settings: Settings) -> int:
    """Serve until SIGTERM, SIGINT or, with `--until-eof`, the end of the standard input. Exit code 2: it cannot."""
    given = _arguments(sys.argv[2:])
    folder: Path = given.data.absolute()
    update: dict[str, Any] = {**AT_LEISURE, "data": folder, "host": given.host, "port": given.port}
    update |= {"redis_url": "", "archive_url": "", "link_secret": secrets.token_hex(16)}
    update["link"] = "unix" if len(str(folder)) <= SOCKET_MOST else "tcp"
    if given.turn_ms:
        update["turn_ms"] = given.turn_ms
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        return _fail(f"{folder} cannot be the data folder: {error.strerror}")
    logs.configure(settings.log_level, "practice", settings.log_format)
    settle()
    try:
        uvloop.run(_serve(settings.model_copy(update=update), given))
    except (OSError, CannotFork, BadText) as error:
        return _fail(str(error))
    return 0


def _arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m kangtou_services practice", description="a server for one player")
    parser.add_argument("--data", type=Path, required=True, help="folder for records")
    parser.add_argument("--host", default=HERE)
    parser.add_argument("--port", type=int, default=0, help="0: any free one")
    parser.add_argument("--turn-ms", type=int, default=0, help="time for a move where a table does not say; 0: an hour")
    parser.add_argument("--fork", type=Path, help="text of a record to go on from")
    parser.add_argument("--at", type=int, default=0, help="how many moments of it have happened")
    parser.add_argument("--seat", type=int, default=0, help="the person's in the fork")
    parser.add_argument("--until-eof", action="store_true", help="end when the standard input does: with its parent")
    return parser.parse_args(words)


async def _serve(settings: Settings, given: argparse.Namespace) -> None:
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    if given.until_eof:
        _at_eof(lambda: loop.call_soon_threadsafe(stopping.set))
    backend = in_memory(settings)
    try:
        async with serving(backend, "practice"):
            identity, extras = wired(backend)
            running = await start(backend, identity, extras, "practice")
            try:
                person = await _account(identity, HUMAN, "你")
                ready = {"address": running.address, "pid": os.getpid(), "token": person.token}
                if given.fork is not None:
                    ready |= await _forked(backend, identity, person, given)
                _say_ready(ready)
                await stopping.wait()
            finally:
                await running.stop()
    finally:
        await backend.close()


def _at_eof(then: Callable[[], object]) -> None:
    """Call when the standard input ends: whoever holds its other end has ended, in whatever way.

    Read without a buffer, whose lock the thread would still hold when the interpreter ends.
    """

    def wait() -> None:
        while os.read(0, 4096):
            pass
        then()

    threading.Thread(target=wait, name="until-eof", daemon=True).start()


async def _account(identity: Identity, kind: str, name: str) -> Issued:
    """A new account. Raises RuntimeError if it is refused."""
    issued = await identity.register(name, kind, secrets.token_hex(16), HERE)
    if isinstance(issued, pb.Refusal):
        raise RuntimeError(f"no account for practice: {issued.code}")
    return issued


async def _forked(backend: Backend, identity: Identity, person: Issued, given: argparse.Namespace) -> dict[str, Any]:
    """A live match that goes on from the record. Raises CannotFork, BadText, OSError."""
    record = read_record(await asyncio.to_thread(given.fork.read_bytes))
    seats = range(len(record.head.terms.seats))
    if given.seat not in seats:
        raise CannotFork("no_seat", f"there is no seat {given.seat} in this match")
    bots = {seat: await _account(identity, BOT, f"Bot {seat}") for seat in seats if seat != given.seat}
    accounts = [bots.get(seat, person).account for seat in seats]
    members = [Member(account.account_id, account.name, account.kind) for account in accounts]
    made = fork(backend.registry, record, given.at, members, time.time_ns() // 1_000_000, backend.settings.turn_ms)
    await store(made, backend.log, backend.store)
    return {
        "match": made.agreement.match_id,
        "bots": [bots[seat].token if seat in bots else None for seat in seats],
    }


def _say_ready(ready: dict[str, Any]) -> None:
    sys.stdout.write(f"ready {json.dumps(ready)}\n")
    sys.stdout.flush()


def _fail(message: str) -> int:
    sys.stderr.write(f"kangtou: {message}\n")
    return 2
