"""Redis stopped for longer than a clock: nobody is timed out by it, nobody gains from it. Issue: main job, 8."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from .load import Load, judge
from .server import running

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(400)]

TURN_MS = 10_000


async def test_redis_stops(
    tmp_path: Path, counts: Callable[[int, int], int], capsys: pytest.CaptureFixture[str]
) -> None:
    """Stopped (SIGSTOP) for 30 s (short form: 13 s) with 10 s on every clock, all seats thinking."""
    stopped_s = counts(13, 30)
    with running(tmp_path / "d", tournaments=bool(counts(0, 1))) as server:
        load = Load(server, 4, options={"rounds": 1, "between": False}, think=0.02, turn_ms=TURN_MS)
        await load.start()
        try:
            await asyncio.sleep(1.0)
            os.kill(server.redis_pid(), signal.SIGSTOP)
            began = time.time_ns() // 1_000_000
            load.think = 0.5  # some answers fall into the outage, some come after it
            await asyncio.sleep(stopped_s)
            os.kill(server.redis_pid(), signal.SIGCONT)
            ended = time.time_ns() // 1_000_000
            await asyncio.sleep(2.0)
            await load.finish(hurry=True)
        finally:
            await load.close()
        verdict, records = await judge(load)
    given = [entry.body.given_ms for record in records.values() for entry in record.entries if entry.body.given_ms]
    again = [
        min(one for one in times if one > began) - ended
        for record in records.values()
        if (times := [entry.body.time_ms for entry in record.entries]) and times[0] < began < times[-1]
    ]
    with capsys.disabled():
        print(
            f"\nRedis stopped {stopped_s} s, clocks {TURN_MS // 1000} s: {verdict}; given back {given} ms; "
            f"next move {again} ms after it was back"
        )
    assert verdict.good
    assert verdict.timeouts == 0
    assert given, "an outage must be recorded"
    assert all(abs(one - (ended - began)) <= counts(3_000, 1_000) for one in given), (
        "nobody gains or loses more than a second"
    )
