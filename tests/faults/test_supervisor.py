"""`up` itself: a second one on the same folder, Ctrl-C, children that do not stay alive."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import psutil
import pytest
from redis.exceptions import RedisError

from ..conftest import Counts
from .server import ROOT, Server, running

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(200)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, counts: Counts) -> Iterator[Server]:
    """One data folder for all tests of this module, one server after another."""
    with running(tmp_path_factory.mktemp("up") / "d", gateways=1, tournaments=bool(counts(0, 1))) as started:
        yield started


@pytest.fixture
def server(folder: Server) -> Server:
    """A server that runs: the one that the last test has left, or another."""
    return folder.revived()


def alive(processes: list[psutil.Process]) -> list[psutil.Process]:
    """Those that still run."""
    return [one for one in processes if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]


def test_everything_is_killed_and_goes_on(server: Server) -> None:
    """After a kill -9 of all processes the folder can be used at once, and holds no running process of before."""
    before = server.processes()
    server.kill_everything()
    server.start()
    assert not alive(before)
    assert len(server.actors()) >= 2 or asyncio.run(_two(server))


def test_a_second_server_is_refused_and_ctrl_c_leaves_nothing(server: Server) -> None:
    """Exit code 3 with a clear text; after Ctrl-C no process of the first is left."""
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
    assert not alive(processes)


def test_it_gives_up_on_a_child_that_dies_again_and_again(server: Server) -> None:
    """Five deaths of the gateway within a minute: a clear message, exit code 4, nothing left running."""
    processes = server.processes()
    assert server.process is not None
    until = time.monotonic() + 60
    while server.process.poll() is None and time.monotonic() < until:
        with contextlib.suppress(RedisError, ProcessLookupError):  # it stops while we look
            for pid in server.gateways().values():
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.2)
    assert server.process.wait(30) == 4
    assert "gateway-0 died 5 times within a minute" in (server.data / "up.err").read_text()
    assert not alive(processes)


async def _two(server: Server) -> bool:
    for _ in range(100):
        if len(server.actors()) >= 2:
            return True
        await asyncio.sleep(0.1)
    return False
