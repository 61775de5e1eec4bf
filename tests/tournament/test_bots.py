"""Entrants by command that are no Python of ours, or that try to remember boards. Issue 8, lines 6 and 7."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from examples.bots.memory_bot import places
from kangtou_clients.api import connect
from kangtou_services.tournament.scores import set_scores
from kangtou_services.tournament.stats.intervals import mean_of

from ..clients.test_bot_check import ROOT
from ..clients.test_node_bot import install
from ..conftest import Counts
from ..faults.server import Server
from ..faults.tournaments import Store
from .test_runner import PATIENCE_S, bot, finished, newcomer, spec_of

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(3_600)]

MEMORY = [sys.executable, str(ROOT / "examples" / "bots" / "memory_bot.py")]
SURE = 0.99  # of the interval that must hold zero; the usual 95 % is printed


@pytest.fixture(scope="module")
def node_bot() -> Iterator[list[str]]:
    """Installed where entrants can read: their temporary folder is their own."""
    (ROOT / ".bench").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=ROOT / ".bench", prefix="node-") as folder:
        yield ["env", f"KANGTOU_PROTO={ROOT / 'proto'}", *install(Path(folder))]


async def test_the_node_bot_plays_a_tournament(server: Server, node_bot: list[str]) -> None:
    """Every game of it to the end, without a fault."""
    async with connect(server.address, retry_s=PATIENCE_S) as client:
        api = await newcomer(client, "author")
        node = {"name": "Node", "command": node_bot, "memory_mb": 1024}
        tournament = await api.submit(spec_of("node", node, bot("Greedy"), game="duizhu", concurrency=2))
        assert isinstance(tournament, str), tournament
        assert await finished(api, tournament) == "complete"
        async with Store(server) as store:
            closed = await store.closed(tournament, 60)
    assert len(closed.results) == 2
    assert not any(fault for result in closed.results for fault in result.faults)
    assert all(result.moves > 20 for result in closed.results)


async def test_a_bot_with_a_memory_gains_nothing(server: Server, counts: Counts) -> None:
    """It writes wherever it can, and finds nothing of it in the next game of the board."""
    async with connect(server.address, retry_s=PATIENCE_S) as client:
        api = await newcomer(client, "cheat")
        mine = {"name": "Remembers", "command": MEMORY}
        plain = {"name": "Forgets", "command": [*MEMORY, "--forget"]}
        given = {"sets": 30} if counts(0, 1) else {"game": "duizhu"}  # a set of two games, not of six
        tournament = await api.submit(spec_of("memory", mine, plain, concurrency=2, **given))
        assert isinstance(tournament, str), tournament
        assert await finished(api, tournament, 3_000) == "complete"
        async with Store(server) as store:
            closed = await store.closed(tournament, 60)
    assert not any(fault for result in closed.results for fault in result.faults)
    left = [file for file in places() if file.exists()]
    assert left == [], "it could write where the next game can read"
    edges = np.array([score.edge(0, 1) for score in set_scores(closed.results, 1)])
    assert len(edges) == counts(1, 30)
    if len(edges) > 1:
        sure, usual = mean_of([edges], SURE), mean_of([edges], 0.95)
        print(f"memory: {usual.value:+.3f} ({usual.low:+.3f} to {usual.high:+.3f}) in {len(edges)} sets")
        assert sure.low <= 0 <= sure.high
