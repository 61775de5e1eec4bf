"""`up` itself: a second one on the same folder, Ctrl-C, children that do not stay alive."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from redis.exceptions import RedisError

from .server import ROOT, Server, running

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(200)]


def test_a_second_server_is_refused_and_ctrl_c_leaves_nothing(tmp_path: Path) -> None:
    """Exit code 3 with a clear text; after Ctrl-C no process of the first is left."""
    with running(tmp_path / "d", gateways=1) as server:
        second = subprocess.run(
            [sys.executable, "-m", "kangtou_services", "up"],
            env=server.environment,
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        assert second.returncode == 3
        assert "another server runs on" in second.stderr
        processes = server.processes()
        assert server.process is not None
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(30) == 0
    assert not [one for one in processes if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]


def test_it_gives_up_on_a_child_that_dies_again_and_again(tmp_path: Path) -> None:
    """Five deaths of the gateway within a minute: a clear message, exit code 4, nothing left running."""
    with running(tmp_path / "d", gateways=1) as server:
        processes = server.processes()
        assert server.process is not None
        until = time.monotonic() + 60
        while server.process.poll() is None and time.monotonic() < until:
            with contextlib.suppress(RedisError, ProcessLookupError):  # it stops while we look
                for pid in server.gateways().values():
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.2)
        assert server.process.wait(30) == 4
    assert "gateway-0 died 5 times within a minute" in (tmp_path / "d" / "up.err").read_text()
    assert not [one for one in processes if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]


def test_everything_is_killed_and_goes_on(tmp_path: Path) -> None:
    """After a kill -9 of all processes the folder can be used at once, and holds no running process of before."""
    server = Server(tmp_path / "d", gateways=1)
    server.start()
    before = server.processes()
    server.kill_everything()
    server.start()
    try:
        alive = [one for one in before if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]
        assert not alive
        assert len(server.actors()) >= 2 or asyncio.run(_two(server))
    finally:
        server.stop()


async def _two(server: Server) -> bool:
    for _ in range(100):
        if len(server.actors()) >= 2:
            return True
        await asyncio.sleep(0.1)
    return False
