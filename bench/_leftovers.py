"""What the processes of a server hold: by their own metrics, and by the system; and whether it grows.

A process is known by its name in `run/metrics` (gateway-0, actor-…, up) or its program's (valkey-server, raylet …).
"""

from __future__ import annotations

import asyncio
import json
import re
import statistics
import time
import urllib.request
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from prometheus_client.parser import text_string_to_metric_families
from scipy.stats import theilslopes

from tests.faults.server import Server

# What must be as it was when hostile clients have gone: names of metrics, summed over their labels.
HELD = (
    "kangtou_tasks",
    "process_open_fds",
    "kangtou_streams",
    "kangtou_streams_ending",
    "kangtou_followed",
    "kangtou_watchers",
    "kangtou_seats_followed",
    "kangtou_links",
)
FOLLOWING = ("kangtou_followed", "kangtou_watchers", "kangtou_seats_followed")
COUNTED = ("kangtou_streams_cut_total", "kangtou_held_back_total", "kangtou_lagging_total")
# What comes and goes by itself: archiving and unary calls; connections to Redis, which a pool keeps, 32 at most.
SLACK = {"kangtou_tasks": 8.0, "process_open_fds": 40.0}
TEN_MINUTES = 600.0
PARTS = 12
BAD = re.compile(r"Traceback|task_failed|call_failed|\"level\": \"(error|critical)\"")


def metrics(server: Server) -> dict[str, dict[str, float]]:
    """By process and metric. Processes that do not answer are left out."""
    found: dict[str, dict[str, float]] = {}
    for path in sorted((server.data / "run" / "metrics").glob("*.json")):
        try:
            target = json.loads(path.read_text())[0]["targets"][0]
            with urllib.request.urlopen(f"http://{target}/metrics", timeout=30) as response:
                text = response.read().decode()
        except (OSError, ValueError):  # it was killed, or is about to start
            continue
        sums: dict[str, float] = defaultdict(float)
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                sums[sample.name] += sample.value
        found[path.stem] = sums
    return found


async def held(server: Server, seconds: float = 10.0) -> dict[str, dict[str, float]]:
    """The least that each process held within some time: what is short-lived is not in it."""
    least: dict[str, dict[str, float]] = {}
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for name, values in (await asyncio.to_thread(metrics, server)).items():
            kept = least.setdefault(name, {})
            for metric in HELD:
                if metric in values:
                    kept[metric] = min(kept.get(metric, values[metric]), values[metric])
        await asyncio.sleep(0.5)
    return least


def left_over(
    before: Mapping[str, Mapping[str, float]],
    after: Mapping[str, Mapping[str, float]],
    moving: float = 0.0,
    kept: Mapping[str, float] = SLACK,
) -> dict[str, float]:
    """By metric, how much more all processes hold than before; only where it is more than comes and goes.

    moving   seats and spectators of others who may be between two tables
    kept     how much more may be held of each metric
    """
    found = {}
    for metric in HELD:
        more = total(after, metric) - total(before, metric)
        if more > (moving if metric in FOLLOWING else kept.get(metric, 0.0)):
            found[metric] = more
    return found


def total(values: Mapping[str, Mapping[str, float]], metric: str) -> float:
    """Over all processes."""
    return sum(one.get(metric, 0.0) for one in values.values())


def troubles(data: Path) -> list[str]:
    """Lines of the logs that tell of a fault."""
    return [line for path in sorted(data.glob("*.log")) for line in path.read_text().splitlines() if BAD.search(line)]


@dataclass(slots=True)
class Memory:
    """Resident memory of a server's processes in the course of time, MiB."""

    server: Server
    series: dict[tuple[str, int], list[tuple[float, float]]] = field(default_factory=dict)

    def look(self) -> None:
        """Once."""
        now = time.monotonic()
        for process in self.server.processes():
            try:
                with process.oneshot():
                    key = (_named(process), process.pid)
                    self.series.setdefault(key, []).append((now, process.memory_info().rss / 2**20))
            except psutil.Error:  # it has just ended
                continue

    async def watch(self, every_s: float = 2.0) -> None:
        """Until cancelled."""
        while True:
            await asyncio.to_thread(self.look)
            await asyncio.sleep(every_s)

    def slopes(self, since: float) -> dict[str, tuple[float, float]]:
        """By process: MiB (median), and growth in per cent of that per ten minutes, from `since` (monotonic) on.

        Theil and Sen's slope through the lowest size in each twelfth of that time: between two collections of cyclic
        garbage a process grows by a few MiB and gives them back. Processes that were not there all the time are left
        out.
        """
        last = max((points[-1][0] for points in self.series.values()), default=since)
        found = {}
        for (name, pid), points in sorted(self.series.items()):
            lows = _lows([point for point in points if point[0] >= since], since, last)
            whole = points[0][0] <= since + 5 and points[-1][0] >= last - 5
            if not whole or len(lows) < 3:
                continue
            size = statistics.median(mib for _, mib in lows)
            slope = theilslopes([mib for _, mib in lows], [at for at, _ in lows]).slope
            found[f"{name} {pid}"] = (size, slope * TEN_MINUTES / size * 100)
        return found


def _lows(points: Iterable[tuple[float, float]], since: float, last: float) -> list[tuple[float, float]]:
    lows: dict[int, tuple[float, float]] = {}
    for at, mib in points:
        part = min(PARTS - 1, int((at - since) / max(last - since, 1e-9) * PARTS))
        if part not in lows or mib < lows[part][1]:
            lows[part] = (at, mib)
    return list(lows.values())


def _named(process: psutil.Process) -> str:
    words = process.cmdline()
    if "kangtou_services" in words:
        return "-".join(words[words.index("kangtou_services") + 1 :])
    return words[0].split(".")[0] if words and words[0].startswith("ray::") else process.name()
