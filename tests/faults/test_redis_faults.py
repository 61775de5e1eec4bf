"""Redis stopped, killed, and its disk full, under live matches of all four games. Issue 10, "Real faults".

A server, on a small disk of its own where that is filled. A move counts as acknowledged when its seat was told so. The
short form has a table host and a gateway in this process, and a Redis under the real supervisor; in full all processes
are there.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from kangtou_clients.api import connect

from .disk import Disk, small_disk
from .fair import Fair
from .server import Server, running
from .together import Together, supervised

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(1500)]

MEGABYTES = 96
AnyServer = Server | Together
TURN_MS = 10_000  # a clock that an outage would outlast


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    """Of the server's whole data folder."""
    with small_disk(tmp_path / "disk", MEGABYTES) as mounted:
        yield mounted


@pytest.fixture
async def server(
    request: pytest.FixtureRequest, tmp_path: Path, counts: Callable[[int, int], int]
) -> AsyncIterator[AnyServer]:
    """On that disk, in tests that fill it."""
    filled = "disk" in request.fixturenames
    data = (request.getfixturevalue("disk").folder if filled else tmp_path) / "d"
    if counts(0, 1):
        with running(data, gateways=1, give_up_deaths=1000) as started:
            yield started
            assert started.process is not None
            assert started.process.poll() is None, "the supervisor has ended"
    else:
        async with supervised(data) as small:
            yield small


@pytest.fixture
async def fair(server: AnyServer) -> AsyncIterator[Fair]:
    """All four games at play."""
    fair = Fair(server, think=0.02, turn_ms=TURN_MS)
    try:
        await fair.start()
        yield fair
    finally:
        await fair.close()


async def told(fair: Fair, say: Callable[[str], None]) -> None:
    """Let the matches end, and judge them."""
    fair.no_more()
    await fair.finish()
    outcome = await fair.judge()
    say(f"{outcome}; refused log_unavailable {fair.refused}")
    assert outcome.good, outcome


async def test_stopped(
    server: AnyServer, fair: Fair, counts: Callable[[int, int], int], say: Callable[[str], None]
) -> None:
    """SIGSTOP for three clocks: nobody is timed out."""
    times, seconds = counts(1, 3), counts(1, 30)
    for _ in range(times):
        os.kill(server.redis_pid(), signal.SIGSTOP)
        try:
            await asyncio.sleep(seconds)
        finally:
            os.kill(server.redis_pid(), signal.SIGCONT)
        fair.hurt()
        await fair.moves(5)
    say(f"Redis stopped x{times} for {seconds} s, clocks {TURN_MS // 1000} s: ")
    await told(fair, say)


async def test_killed(
    server: AnyServer, fair: Fair, counts: Callable[[int, int], int], say: Callable[[str], None]
) -> None:
    """kill -9; it comes back with what is in its append-only file."""
    times = counts(1, 20)
    for _ in range(times):
        before = server.redis_pid()
        os.kill(before, signal.SIGKILL)
        fair.hurt()
        await fair.moves(3)
        assert server.redis_pid() != before
    say(f"Redis killed x{times}, restarted on its append-only file: ")
    await told(fair, say)


@pytest.mark.mount
async def test_disk_full(
    disk: Disk, server: AnyServer, fair: Fair, counts: Callable[[int, int], int], say: Callable[[str], None]
) -> None:
    """Not a byte is left: moves are refused, the server says why, and goes on by itself when there is room."""
    times, seconds = counts(1, 5), counts(1, 20)
    refusals = 0
    for _ in range(times):
        before = fair.refused
        disk.fill()
        await fair.until(lambda: down(server))
        await fair.refusals()
        acked = fair.acked
        assert await until_said(server) == {"ready": False, "why": ["log: the log cannot be reached: the disk is full"]}
        for _ in range(seconds * 10):
            disk.fill()  # what others have let go meanwhile
            await asyncio.sleep(0.1)
        assert fair.acked == acked, "nothing can be acknowledged without a log"
        assert down(server)
        refusals += fair.refused - before
        disk.make_room()
        fair.hurt()
        await fair.moves(5)
        assert await fair.probed()
    assert refusals
    waits = [line for line in logged(server) if line["event"] == "redis_has_room"]
    assert len(waits) >= counts(0, times), "in the short form there may be room before it has started again"
    say(f"disk full x{times} for {seconds} s, {refusals} moves refused meanwhile: ")
    await told(fair, say)


def down(server: AnyServer) -> bool:
    """Whether nobody listens where Redis did."""
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(server.redis_url.removeprefix("unix://"))
        except OSError:
            return True
    return False


async def until_said(server: AnyServer) -> dict[str, object]:
    """What `kangtou status` gets, once the server has noticed."""
    async with connect(server.address, "") as client, asyncio.timeout(60):
        while True:
            vitals = await client.vitals()
            full = [f"{check.name}: {check.why.rpartition(':')[0]}" for check in vitals.checks if "full" in check.why]
            if full:
                return {"ready": vitals.ready, "why": full}
            await asyncio.sleep(0.1)


def logged(server: AnyServer) -> list[dict[str, object]]:
    """What the process of the embedded Redis said before it became Redis."""
    lines = (server.data / "redis.log").read_text(errors="replace").splitlines()
    return [json.loads(line) for line in lines if line.startswith('{"')]
