"""`kill -9` of actors, gateways, Redis and everything, at random moments of running matches. Issue: main job, 5."""

from __future__ import annotations

import asyncio
import itertools
import os
import random
import signal
import statistics
import time
from collections.abc import Callable, Iterator

import psutil
import pytest
from redis.exceptions import RedisError

from kangtou_engine.record import Record

from .load import Load, entry_times, judge
from .server import Server, running

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(1500)]

TABLES = 6


@pytest.fixture(scope="module")
def one_server(tmp_path_factory: pytest.TempPathFactory, counts: Callable[[int, int], int]) -> Iterator[Server]:
    """For all tests of this module: whatever is killed comes back."""
    folder = tmp_path_factory.mktemp("kills") / "d"
    with running(folder, give_up_deaths=1000, tournaments=bool(counts(0, 1))) as started:
        yield started


@pytest.fixture
def server(one_server: Server) -> Server:
    """It runs, also after a test that has failed while everything was dead."""
    return one_server.revived()


class Kills:
    """What was killed when, and which matches it concerned."""

    def __init__(self) -> None:
        self.at: list[tuple[int, set[str], set[str]]] = []  # Unix ms, matches concerned, others

    def add(self, concerned: set[str], others: set[str]) -> None:
        self.at.append((time.time_ns() // 1_000_000, concerned, others))

    def recoveries(self, records: dict[str, Record]) -> list[int]:
        """Milliseconds from each kill to the next entry of each match concerned (those that had one)."""
        found = []
        for at, concerned, _ in self.at:
            for match in concerned & records.keys():
                later = [time_ms for time_ms in entry_times(records[match]) if time_ms > at]
                if later:
                    found.append(later[0] - at)
        return found

    def gaps(self, records: dict[str, Record]) -> list[int]:
        """The longest pause of each match that was not concerned, in the two seconds after each kill."""
        found = []
        for at, _, others in self.at:
            for match in others & records.keys():
                times = [one for one in entry_times(records[match]) if at - 300 <= one <= at + 2000]
                found += [max(b - a for a, b in itertools.pairwise(times))] if len(times) > 1 else []
        return found


def part(values: list[int], share: float) -> int:
    """The value below which that share of the values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0


async def hurt(
    server: Server, times: int, kill: Callable[[Server, Load, Kills], None], pause: float
) -> tuple[Load, Kills]:
    """Play, and kill that often; then let all matches end."""
    load, kills = Load(server, TABLES), Kills()
    await load.start()
    try:
        for _ in range(times):
            await asyncio.sleep(random.uniform(0.5, 1.5) * pause)
            await asyncio.to_thread(kill, server, load, kills)
        await asyncio.sleep(2.0)
        await load.finish(hurry=True)
    finally:
        await load.close()
    return load, kills


def kill_actor(server: Server, load: Load, kills: Kills) -> None:
    """One table actor, once two are there."""
    until = time.monotonic() + 20
    while len(actors := server.actors()) < 2 and time.monotonic() < until:
        time.sleep(0.1)
    actor = random.choice(sorted(actors))
    owners = {match: server.owner(match) for match in set(load.current)}
    mine = {match for match, owner in owners.items() if owner == actor}
    kills.add(mine, {match for match, owner in owners.items() if owner not in (actor, None)})
    os.kill(actors[actor], signal.SIGKILL)


def kill_gateway(server: Server, load: Load, kills: Kills) -> None:
    """One gateway of two."""
    until = time.monotonic() + 20
    while len(gateways := server.gateways()) < 2 and time.monotonic() < until:
        time.sleep(0.1)
    kills.add(set(load.current), set())
    os.kill(random.choice(list(gateways.values())), signal.SIGKILL)


def kill_redis(server: Server, load: Load, kills: Kills) -> None:
    """The embedded server; the clock runs from when it is up again."""
    until = time.monotonic() + 20
    while not psutil.pid_exists(server.redis_pid()) and time.monotonic() < until:
        time.sleep(0.02)
    os.kill(server.redis_pid(), signal.SIGKILL)
    time.sleep(0.05)
    while time.monotonic() < until:
        try:
            with server.redis() as client:
                client.ping()
            break
        except (OSError, RedisError):  # it is not there yet, or reads its data
            time.sleep(0.02)
    kills.add(set(load.current), set())


@pytest.mark.parametrize(
    ("what", "kill", "limit_ms"),
    [("actor", kill_actor, 2000), ("gateway", kill_gateway, 2000), ("redis", kill_redis, 3000)],
)
async def test_kill(
    what: str,
    kill: Callable[[Server, Load, Kills], None],
    limit_ms: int,
    server: Server,
    counts: Callable[[int, int], int],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Every acknowledged move once, all matches end, all clients resumed; recovery times."""
    times = counts(2, 20)
    load, kills = await hurt(server, times, kill, counts(15, 30) / 10)
    verdict, records = await judge(load)
    recovered, gaps = kills.recoveries(records), kills.gaps(records)
    with capsys.disabled():
        print(
            f"\nkill -9 {what} x{times}: {verdict}; reconnections {load.reconnections}; next move after "
            f"median {statistics.median(recovered or [0]):.0f} ms, p95 {part(recovered, 0.95)} ms, max "
            f"{max(recovered or [0])} ms over {len(recovered)}; others' longest gap p95 {part(gaps, 0.95)} ms, "
            f"max {max(gaps or [0])} ms over {len(gaps)}"
        )
    assert verdict.good
    assert verdict.acked > 50 * times
    assert verdict.timeouts == 0
    assert recovered
    if times >= 10:
        assert part(recovered, 0.95) <= limit_ms


async def more_than(load: Load, acked: int) -> None:
    """Until another move is acknowledged."""
    while sum(len(played.acked) for played in load.played.values()) <= acked:  # noqa: ASYNC110 - bots are not ours to wake
        await asyncio.sleep(0.02)


async def test_kill_everything(
    server: Server, counts: Callable[[int, int], int], capsys: pytest.CaptureFixture[str]
) -> None:
    """All processes at once; `up` again on the same folder; the same matches go on with the same clients."""
    times = counts(1, 5)
    load = Load(server, TABLES)
    await load.start()
    back = []
    try:
        for _ in range(times):
            await asyncio.sleep(random.uniform(1.5, 4.0))
            await asyncio.to_thread(server.kill_everything)
            acked = sum(len(played.acked) for played in load.played.values())
            started = time.monotonic()
            await asyncio.to_thread(server.start)
            ready = time.monotonic()
            await more_than(load, acked)
            back.append((ready - started, time.monotonic() - ready))
        await asyncio.sleep(2.0)
        await load.finish(hurry=True)
        verdict, _ = await judge(load)
    finally:
        await load.close()
    with capsys.disabled():
        print(
            f"\nkill -9 of everything x{times}: {verdict}; ready / first move (s): "
            + ", ".join(f"{a:.1f} / {b:.1f}" for a, b in back)
        )
    assert verdict.good
    assert verdict.acked > 50 * times
