"""A game that raises in `evolve`, and one that kills its process, among 20 healthy tables. Issue: main job, 8."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from kangtou_clients.api import connect

from ..conftest import Counts
from .load import Load, judge
from .server import running

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(300)]


async def test_neighbours(tmp_path: Path, counts: Counts, capsys: pytest.CaptureFixture[str]) -> None:
    """No healthy table notices more than one takeover; the bad ones are stopped and quarantined."""
    with running(
        tmp_path / "d", extra_games="tests.games.parrot:GAME", actors=2, tournaments=bool(counts(0, 1))
    ) as server:
        healthy = Load(server, 20, options={"rounds": counts(1, 2)}, think=0.05)
        await healthy.start()
        await asyncio.sleep(1.0)
        raising = Load(server, 1, game="parrot", options={"raise_at": 7})
        killing = Load(server, 1, game="parrot", options={"exit_at": 9})
        for bad in (raising, killing):
            await bad.start()
        status = await _until_quarantined(server.address, healthy)
        await healthy.finish(hurry=True)
        for load in (raising, killing, healthy):
            await load.close()
        verdict, records = await judge(healthy)
    epochs = [max(entry.epoch for entry in record.entries) for record in records.values()]
    with capsys.disabled():
        print(f"\nhealthy: {verdict}; most takeovers of one table {max(epochs) - 1}; quarantined {status}")
    assert verdict.good
    assert verdict.timeouts == 0
    assert max(epochs) <= 2
    assert status >= 1


async def _until_quarantined(address: str, healthy: Load) -> int:
    token = healthy.bots[0][1]
    until = time.monotonic() + 60
    async with connect(address, token) as client:
        while time.monotonic() < until:
            status = await client.status()
            if status.quarantined:
                return int(status.quarantined)
            await asyncio.sleep(0.5)
    return 0
