"""When Ray itself takes a node for dead: a child asks its head all the time and says when one is missing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import Self

from .nodes import Nodes

_CHILD = """
import sys, time
import ray
from ray._raylet import GcsClient
client = GcsClient(address=sys.argv[1])
print("looking", flush=True)
alive = {}
while True:
    try:
        infos = client.get_all_node_info(timeout=5)
    except Exception as error:
        print("error", type(error).__name__, flush=True)
        time.sleep(0.5)
        continue
    now = time.time_ns() // 1_000_000
    seen = {info.node_name for info in infos.values() if info.state == 0}
    for name in set(alive) - seen:
        print("missed", name, now, flush=True)
    alive = dict.fromkeys(seen)
    time.sleep(0.2)
"""


class RayView:
    """Use it as a context, with nodes that run. Times are Unix ms."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes
        self._said = nodes.data / "ray-view.txt"
        self._child: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        joining = json.loads((self._nodes.data / "join.json").read_text())
        with self._said.open("wb") as said:
            self._child = subprocess.Popen(
                [sys.executable, "-c", _CHILD, joining["ray_address"]],
                env={**os.environ, "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": joining["ray_token"]},
                stdout=said,
                stderr=subprocess.STDOUT,
            )
        return self

    def __exit__(self, *_: object) -> None:
        assert self._child is not None
        self._child.kill()
        self._child.wait()

    def missed(self, name: str, seconds: float) -> int | None:
        """When the head first missed a node, waiting that long for it; None if it has not yet."""
        until = time.monotonic() + seconds
        while True:
            lines = self._said.read_text(errors="replace").splitlines()
            assert "looking" in lines or seconds == 0, lines
            times = [int(line.split()[2]) for line in lines if line.startswith(f"missed {name} ")]
            if times or time.monotonic() > until:
                return times[0] if times else None
            time.sleep(0.2)
