"""Redis fails over to its replica under live matches of all four games. Issue 10, "Real faults".

With `replicas=1` nothing acknowledged is lost, also if the replica was cut off before. Without, what was acknowledged
meanwhile is lost: that is noticed, and those tables are stopped rather than played on, also after their actors end.

The short form has a table host and a gateway in this process; in full all processes are there.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from kangtou_engine.notation import Body, Step, read_body
from kangtou_services.host.probation import QUARANTINE
from kangtou_services.host.serve import SWEEP_S
from kangtou_services.log.redis import RedisLog, RedisMatchStore
from tests.servers import client_of

from .fair import Fair
from .load import Played, Playground
from .replicas import Pair, replicated
from .server import Server, running
from .together import together

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(1500)]

STOPPED = ("table_faulted", "faulted")
Place = Callable[[int], Awaitable[Playground]]


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    """A primary and its replica."""
    with replicated(tmp_path / "pair") as pair:
        yield pair


@pytest.fixture
async def place(pair: Pair, tmp_path: Path, counts: Callable[[int, int], int]) -> AsyncIterator[Place]:
    """A server on the pair, given how many replicas its appends wait for."""
    async with AsyncExitStack() as stack:

        async def made(replicas: int) -> Playground:
            if counts(0, 1):
                given = {"redis_url": pair.url, "replicas": replicas, "gateways": 1, "give_up_deaths": 1000}
                return await asyncio.to_thread(stack.enter_context, running(tmp_path / "d", **given))
            return await stack.enter_async_context(together(tmp_path / "d", pair.url, replicas=replicas))

        yield made


async def still(fair: Fair) -> int:
    """How many moves have been acknowledged when no more come: answers may have been under way. At most 20 s."""
    for _ in range(20):
        before = fair.acked
        await asyncio.sleep(1.0)
        if fair.acked == before:
            break
    return fair.acked


async def test_with_replicas(
    pair: Pair, place: Place, counts: Callable[[int, int], int], say: Callable[[str], None]
) -> None:
    """The replica is cut off, the primary goes on for a while and is killed: what it had alone was not acknowledged."""
    times, cut_s = counts(1, 5), counts(2, 5)
    fair = Fair(await place(1), think=0.02, replicas=1)
    alone = 0
    try:
        await fair.start()
        for _ in range(times):
            pair.cut()
            before = await still(fair)
            await asyncio.sleep(cut_s)
            alone += fair.acked - before
            fair.hurt(await asyncio.to_thread(pair.fail_over))
            await asyncio.to_thread(pair.add_replica)
            await fair.moves(5)
        fair.no_more()
        await fair.finish()
        outcome = await fair.judge()
    finally:
        await fair.close()
    say(f"failover with replicas=1 x{times}, {cut_s + 1} s cut off before: {outcome}; acknowledged alone {alone}")
    assert not alone
    assert outcome.good, outcome
    assert not fair.stopped


async def test_without_replicas(
    pair: Pair, place: Place, counts: Callable[[int, int], int], say: Callable[[str], None]
) -> None:
    """The loss is found out in every match that has one; it is told to the seats, and nobody plays on."""
    times = counts(1, 5)
    server = await place(0)
    lost = hit = told = 0
    stopped: dict[str, int] = {}  # when the primary was killed, by match
    for _ in range(times):
        fair = Fair(server, think=0.1, rounds=2, crossed=STOPPED)
        try:
            await fair.start()
            fair.no_more()
            pair.cut()
            await fair.moves(2)
            at = await asyncio.to_thread(pair.fail_over)
            fair.hurt(at)
            await fair.finish()
            assert set(fair.stopped.values()) <= set(STOPPED), fair.stopped
            for match, played in fair.played.items():
                missing = await _missing(pair, match, played)
                lost, hit, told = lost + missing, hit + bool(missing), told + (match in fair.stopped)
                assert not missing or match in fair.stopped, match
            stopped |= dict.fromkeys(fair.stopped, at)
        finally:
            await fair.close()
        await asyncio.to_thread(pair.add_replica)
    if isinstance(server, Server):
        await asyncio.to_thread(_end_actors, server)
        await asyncio.sleep(2 * SWEEP_S)
    for match, at in stopped.items():
        await _not_played_on(pair, match, at)
    say(f"failover without replicas x{times}: {lost} acknowledged moves lost in {hit} matches, {told} stopped and told")
    assert hit
    assert told >= hit


def _end_actors(server: Server) -> None:
    """kill -9 of all table actors, and others are there."""
    before = server.actors()
    for pid in before.values():
        os.kill(pid, signal.SIGKILL)
    until = time.monotonic() + 120
    while len(server.actors().keys() - before.keys()) < len(before):
        assert time.monotonic() < until
        time.sleep(0.1)


async def _steps(pair: Pair, match: str) -> tuple[set[tuple[int | None, str, int]], Body]:
    """What seats did, by seat, action and entry, as the primary has it now; and the last entry."""
    async with client_of(pair) as client:
        log = RedisLog(client)
        entries = await log.read(match)
        await log.close()
    bodies = [(entry.seq, read_body(entry.body)) for entry in entries]
    steps = {
        (item.seat, str(item.action), seq) for seq, body in bodies for item in body.items if isinstance(item, Step)
    }
    return steps, bodies[-1][1]


async def _missing(pair: Pair, match: str, played: Played) -> int:
    """Acknowledged moves that the log does not have."""
    steps, _ = await _steps(pair, match)
    return sum(one not in steps for one in played.acked)


async def _not_played_on(pair: Pair, match: str, at: int) -> None:
    """Nothing has been written since, and nobody will open it."""
    _, last = await _steps(pair, match)
    assert last.time_ms <= at
    async with client_of(pair) as client:
        assert await RedisMatchStore(client).deaths(match) >= QUARANTINE
