"""Real processes: every one exposes its metrics on loopback, and a traced move is one tree through all of them."""

from __future__ import annotations

import asyncio
import json
import urllib.request
from collections import defaultdict
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import Any

import psutil
import pytest
from prometheus_client.parser import text_string_to_metric_families

from kangtou import tracing
from tests.conftest import Counts

from .load import Load, judge
from .server import Server, running

pytestmark = [pytest.mark.slow, pytest.mark.ray, pytest.mark.timeout(400)]

WHOLE = {  # every span of a move, with the one above it
    "client.move": "",
    "gateway.command": "client.move",
    "table.command": "gateway.command",
    "table.wait": "table.command",
    "table.decide": "table.command",
    "log.append": "table.command",
    "redis.xadd": "log.append",
    "table.publish": "table.command",
}


def notes(server: Server) -> list[Path]:
    """Where the processes say at which port their metrics are."""
    return sorted((server.data / "run" / "metrics").glob("*.json"))


def scraped(server: Server) -> dict[str, dict[str, float]]:
    """By process: the sums of its samples by name."""
    found: dict[str, dict[str, float]] = {}
    for note in notes(server):
        (target,) = json.loads(note.read_text())
        with urllib.request.urlopen(f"http://{target['targets'][0]}/metrics", timeout=60) as response:
            families = text_string_to_metric_families(response.read().decode())
        sums = found[target["labels"]["process"]] = defaultdict(float)
        for family in families:
            for sample in family.samples:
                sums[sample.name] += sample.value
    return found


def listening_beyond_loopback(server: Server) -> list[str]:
    """Addresses of metrics that others could reach."""
    ports = {int(json.loads(note.read_text())[0]["targets"][0].rpartition(":")[2]) for note in notes(server)}
    held = [one for process in server.processes() for one in process.net_connections("tcp")]
    bound = [one.laddr for one in held if one.status == psutil.CONN_LISTEN and one.laddr.port in ports]
    assert {one.port for one in bound} == ports
    return [one.ip for one in bound if one.ip != "127.0.0.1"]


def trees(folder: Path) -> list[dict[str, dict[str, Any]]]:
    """Spans by trace and name."""
    found: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
    for file in sorted(folder.glob("*.jsonl")):
        for span in map(json.loads, file.read_text().splitlines()):
            found[span["context"]["trace_id"]][span["name"]] = span
    return list(found.values())


async def test_metrics_and_traces_of_real_processes(
    tmp_path: Path, counts: Counts, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Moves are counted where they are stored; a trace begins at the client and ends at Redis."""
    moves, traces = counts(40, 400), tmp_path / "traces"
    client = tracing.start("client", f"file:{traces}", 1.0)
    assert client is not None
    monkeypatch.setattr(tracing, "of_client", lambda: client)
    with running(tmp_path / "d", gateways=1, trace=f"file:{traces}", tournaments="true") as server:
        load = Load(server, 2, think=0.0)
        try:
            await load.start()
            async with asyncio.timeout(200):
                while sum(len(played.acked) for played in load.played.values()) < moves:  # noqa: ASYNC110
                    await asyncio.sleep(0.1)
            await load.finish()  # else there is always a match that has no record yet
            assert (await judge(load))[0].good
        finally:
            await load.close()
        acked = sum(len(played.acked) for played in load.played.values())
        async with asyncio.timeout(60):
            while len(notes(server)) < 5:  # noqa: ASYNC110 - of the runner nobody waits that it is ready
                await asyncio.sleep(0.1)
        found = await asyncio.to_thread(scraped, server)
        assert set(found) == {"up", "runner", "gateway-0", "table-local-0", "table-local-1"}
        assert listening_beyond_loopback(server) == []
        actors = [found["table-local-0"], found["table-local-1"]]
        assert sum(one["kangtou_moves_total"] for one in actors) >= acked
        assert sum(one["kangtou_log_batch_entries_sum"] for one in actors) >= sum(
            one["kangtou_entries_total"] for one in actors
        )
        assert found["gateway-0"]["kangtou_gateway_stage_seconds_count"] >= 2 * acked
        assert found["gateway-0"]["kangtou_ready"] == 1
        assert found["up"]["kangtou_child_up"] == 4
    client.close()
    whole = [tree for tree in await asyncio.to_thread(trees, traces) if set(tree) == set(WHOLE)]
    assert len(whole) >= acked * 0.8  # what came together with a fault of the batch or crossed has fewer spans
    for tree in whole:
        for name, above in WHOLE.items():
            assert (tree[name]["parent_id"] or "") == (tree[above]["context"]["span_id"] if above else ""), name
    processes = {span["resource"]["attributes"]["service.instance.id"] for tree in whole for span in tree.values()}
    assert {"client", "gateway-0"} < processes
    took = {name: median(_ms(tree[name]) for tree in whole) for name in WHOLE}
    with capsys.disabled():
        print(f"\ntraced: {len(whole)} moves; medians in ms: " + ", ".join(f"{n} {ms:.2f}" for n, ms in took.items()))


def _ms(span: dict[str, Any]) -> float:
    began, ended = (datetime.fromisoformat(span[key]) for key in ("start_time", "end_time"))
    return (ended - began).total_seconds() * 1000
