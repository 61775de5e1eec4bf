"""Two nodes: one dies with everything on it; Ray's head dies and comes back. Issue: deploy, 1."""

from __future__ import annotations

import asyncio
import itertools
import statistics
import time
from collections.abc import Iterator

import pytest

from kangtou_engine.record import Record
from tests.faults.load import Load, entry_times, judge
from tests.faults.test_kills import Kills, more_than, part

from ..conftest import Counts
from .nodes import Nodes, addresses, two_nodes
from .ray_view import RayView

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(1500)]

TAKEN_OVER_MS = 6_000


class TwoGates(Load):
    """A load on two nodes: of every table two clients are at each gateway."""

    server: Nodes

    def _address(self, seat: int) -> str:
        first, second = self.server.both
        return addresses((first, second) if seat % 2 else (second, first))


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    """One server for both tests: nodes take their time to start."""
    with two_nodes(tmp_path_factory.mktemp("nodes"), give_up_deaths=1000) as started:
        yield started


def on_node(nodes: Nodes, matches: set[str], name: str) -> set[str]:
    """Those of the matches that an actor of this node hosts."""
    living = nodes.actors()
    return {match for match, owner in nodes.owners(matches).items() if living.get(owner) == name}


async def all_hosted(nodes: Nodes, load: Load) -> None:
    """Until each node has tables."""
    async with asyncio.timeout(60):
        while not all(on_node(nodes, set(load.current), node.name) for node in nodes.both):  # noqa: ASYNC110
            await asyncio.sleep(0.2)


async def test_a_node_dies(nodes: Nodes, counts: Counts, capsys: pytest.CaptureFixture[str]) -> None:
    """Its tables go on at the other node, with the clients of both gateways, before Ray has noticed anything."""
    load, kills = TwoGates(nodes, counts(8, 32), think=counts(60, 200) / 1000), Kills()
    with RayView(nodes) as view:
        await load.start()
        try:
            await all_hosted(nodes, load)
            await asyncio.sleep(counts(2, 10))
            playing = set(load.current)
            concerned = on_node(nodes, playing, nodes.second.name)
            acked = sum(len(played.acked) for played in load.played.values())
            kills.add(concerned, playing - concerned)
            await asyncio.to_thread(nodes.second.kill)
            await more_than(load, acked + len(playing))
            await load.finish(600, hurry=True)
            verdict, records = await judge(load, 60)
        finally:
            await load.close()
        killed = kills.at[0][0]
        recovered, gaps = kills.recoveries(records), kills.gaps(records)
        noticed = await asyncio.to_thread(view.missed, nodes.second.name, counts(0, 60))
    ray_ms = None if noticed is None else noticed - killed
    with capsys.disabled():
        print(
            f"\nnode killed: {len(load.played)} matches on {load.tables} tables of two nodes, {len(concerned)} on the "
            f"dead one: {verdict}; reconnections {load.reconnections}; next move after median "
            f"{statistics.median(recovered or [0]):.0f} ms, p95 {part(recovered, 0.95)} ms, max "
            f"{max(recovered or [0])} ms over {len(recovered)}; others' longest gap p95 {part(gaps, 0.95)} ms, max "
            f"{max(gaps or [0])} ms over {len(gaps)}; Ray noticed after {ray_ms} ms"
        )
    assert verdict.good
    assert verdict.timeouts == 0
    assert concerned
    assert len(recovered) >= len(concerned & records.keys()) - 1  # one may have been over with its last move
    if counts(0, 1):
        assert max(recovered) <= TAKEN_OVER_MS
        assert ray_ms is None or ray_ms > max(recovered)


def longest_pause(record: Record, after_ms: int) -> int:
    """Between two moves of a match within ten seconds, in ms; 0 if it had not two then."""
    times = [one for one in entry_times(record) if after_ms - 300 <= one <= after_ms + 10_000]
    return max((b - a for a, b in itertools.pairwise(times)), default=0)


async def test_the_head_dies(nodes: Nodes, counts: Counts, capsys: pytest.CaptureFixture[str]) -> None:
    """Tables go on while Ray has no head; when it is back, a node that was gone joins and has tables again."""
    load = TwoGates(nodes, counts(4, 16), think=0.06)
    if nodes.second.process is not None:
        await asyncio.to_thread(nodes.second.kill)
    await load.start()
    try:
        head = await asyncio.to_thread(nodes.first.child, "gcs_server")
        killed_ms, killed = time.time_ns() // 1_000_000, time.monotonic()
        head.kill()
        acked = sum(len(played.acked) for played in load.played.values())
        await asyncio.sleep(1.0)
        await more_than(load, acked + load.tables)
        headless = time.monotonic() - killed
        await asyncio.to_thread(nodes.second.start)  # waits for the head, which is started again
        joined = time.monotonic() - killed
        await all_hosted(nodes, load)
        again = await asyncio.to_thread(nodes.first.child, "gcs_server")
        await load.finish(600, hurry=True)
        verdict, records = await judge(load, 60)
    finally:
        await load.close()
    pauses = [pause for record in records.values() if (pause := longest_pause(record, killed_ms))]
    with capsys.disabled():
        print(
            f"\nhead killed: {verdict}; moves {headless:.1f} s after; a node joined {joined:.1f} s after; "
            f"longest pause of a match in the 10 s after p95 {part(pauses, 0.95)} ms, max {max(pauses or [0])} ms"
        )
    assert verdict.good
    assert verdict.timeouts == 0
    assert again.pid != head.pid
    assert pauses
