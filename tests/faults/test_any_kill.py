"""`kill -9` of whatever there is (actor, gateway, Redis, raylet) at random moments of matches of all games at once."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import time
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from redis.exceptions import RedisError

from ..conftest import Counts
from .figures import STUCK_S, all_moving, said, total
from .load import judge
from .server import Server, running
from .test_games import KINDS, Watched

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(2400)]

VICTIMS = ("actor", "gateway", "redis", "raylet")
PLAYED = ("duizhu at J", "erbaiwu, 2 seats", "hongshi", "jinzhou", "liaoning, 3 seats")


def victim(server: Server, kind: str) -> int:
    """A process of that kind; 0 while there is none."""
    try:
        if kind == "redis":
            return server.redis_pid()
        if kind == "raylet":
            return next((one.pid for one in server.processes() if one.name() == "raylet"), 0)
        listed = server.gateways() if kind == "gateway" else server.actors()
        return random.choice(sorted(listed.values())) if listed else 0
    except (RedisError, OSError, psutil.Error):
        return 0


def alive(pid: int) -> bool:
    """Whether a process is there and not only waits to be collected."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def kill(server: Server, kind: str) -> float:
    """One of them, as soon as there is one; when that was. With a raylet all actors of its node end, a moment later."""
    async with asyncio.timeout(STUCK_S):
        while not (pid := await asyncio.to_thread(victim, server, kind)) or not alive(pid):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    actors = await asyncio.to_thread(server.actors) if kind == "raylet" else {}
    os.kill(pid, signal.SIGKILL)
    killed = time.monotonic()
    async with asyncio.timeout(STUCK_S):
        while any(map(alive, actors.values())):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    return killed


async def test_whatever_is_killed(
    tmp_path: Path, fault_seed: int, counts: Counts, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing acknowledged is lost or doubled, no match ends but by its rules, all of them finish."""
    each = counts(1, 8)
    order = [kind for kind in (VICTIMS if each > 1 else ("raylet", "gateway")) for _ in range(each)]
    random.shuffle(order)
    waits: dict[str, list[int]] = defaultdict(list)
    kinds = {name: replace(KINDS[name], options={**KINDS[name].options, "rounds": counts(1, 3)}) for name in PLAYED}
    with running(tmp_path / "d", give_up_deaths=1000, tournaments="false") as server:
        loads = {name: Watched(server, kind, think=0.03) for name, kind in kinds.items()}
        for load in loads.values():
            load.open.clear()
        try:
            await asyncio.gather(*(load.start() for load in loads.values()))
            await all_moving(loads)
            for kind in order:
                await asyncio.sleep(random.uniform(0.3, 3.0))
                waits[kind] += await all_moving(loads, await kill(server, kind))
            await asyncio.gather(*(load.finish(600, hurry=True) for load in loads.values()))
            found = [(await judge(load, 60))[0] for load in loads.values()]
        finally:
            await asyncio.gather(*(load.close() for load in loads.values()))
    verdict = total(found)
    with capsys.disabled():
        for kind, times in sorted(waits.items()):
            print(f"\n{kind}: next move {said(times)}", end="")
        kills = ", ".join(f"{count} {kind}" for kind, count in sorted(Counter(order).items()))
        print(f"\nkill -9 of {kills}, all games, seed {fault_seed}: {verdict}")
    assert verdict.good
    assert verdict.timeouts == 0
    assert verdict.matches >= len(loads)
