"""`up`: what is said before anything starts, and a stop while something starts."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kangtou_services.supervisor import Child, Supervisor


def up(**settings: object) -> tuple[int, str]:
    """Exit code and error stream of `up` under settings."""
    environment = {**os.environ, **{f"KANGTOU_{name.upper()}": str(value) for name, value in settings.items()}}
    command = [sys.executable, "-m", "kangtou_services", "up"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stderr


@pytest.mark.parametrize("shared", [False, True])
def test_a_port_in_use_is_refused(tmp_path: Path, shared: bool) -> None:
    """Also one that another server shares among its gateways: clients would reach the one or the other."""
    with socket.socket() as other:
        if shared:
            other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        code, said = up(data=tmp_path / "d", port=port)
    assert code == 4
    assert said == f"kangtou: cannot listen on 127.0.0.1:{port}: Address already in use\n"


def test_what_cannot_be_used_is_said_in_a_line(tmp_path: Path) -> None:
    """A data folder that is a file, an address of another machine, a Redis that is not there."""
    (tmp_path / "file").touch()
    cases: list[tuple[dict[str, object], str]] = [
        ({"data": tmp_path / "file"}, "cannot be the data folder"),
        ({"data": tmp_path / "d", "host": "203.0.113.1"}, "cannot listen on 203.0.113.1:7480"),
        ({"data": tmp_path / "d", "port": 0, "redis_url": "redis://127.0.0.1:1"}, "Redis cannot be used: "),
    ]
    for settings, said in cases:
        code, error = up(**settings)
        assert code == 4, error
        assert said in error
        assert "Traceback" not in error


def test_a_redis_that_is_no_url_is_said_in_a_line(tmp_path: Path) -> None:
    """A setting that cannot be meant, before anything is tried."""
    code, error = up(data=tmp_path / "d", redis_url="localhost:6379")
    assert code == 2
    assert error.startswith("kangtou: setting redis_url: ")
    assert "Traceback" not in error


async def test_a_stop_is_heeded_while_a_child_starts(tmp_path: Path) -> None:
    """The child that has not said that it is ready yet is ended, and no error is raised."""
    child = Child("slow", ["sleep", "100"], says_ready=True, ready_s=60.0)
    supervisor = Supervisor(tmp_path, [child])
    began = time.monotonic()
    asyncio.get_running_loop().call_later(0.2, supervisor.stop)
    await supervisor.run(lambda: pytest.fail("it is not ready"))
    assert time.monotonic() - began < 60
    assert child.process is not None
    assert child.process.returncode is not None
