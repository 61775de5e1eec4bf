"""`kangtou status`: once, for programs, live at a terminal, and what is wrong in words."""

from __future__ import annotations

import io
import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pexpect.fdpexpect
import pytest
from rich.console import Console

from kangtou.v1.vitals_pb2 import GetVitalsResponse, ProcessVitals, ReadyCheck
from kangtou_clients.cli import main
from kangtou_clients.cli.common import Common
from kangtou_clients.cli.status_live import BLOCKS, Watch, screen, spark
from tests.clients.rooms import Rooms
from tests.servers import free_port

WAIT_S = 60.0


@pytest.fixture(scope="module")
def rooms(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rooms]:
    found = Rooms(tmp_path_factory.mktemp("data"))
    found.address  # noqa: B018 - waits until it is up
    yield found
    found.stop()


@pytest.mark.parametrize(("lang", "words"), [("en", ("ready", "Table actors")), ("zh", ("就绪", "牌桌进程"))])
def test_once(rooms: Rooms, capsys: pytest.CaptureFixture[str], lang: str, words: tuple[str, str]) -> None:
    """Processes, checks and rates, in both languages."""
    assert main(["status", "--once", "--server", rooms.address, "--lang", lang]) == 0
    said = capsys.readouterr().out
    for word in (*words, "✓ log", "✓ persistence", "✓ actors", "a0-", "gateway-"):
        assert word in said
    assert "\x1b" not in said


def test_json_has_both(rooms: Rooms, capsys: pytest.CaptureFixture[str]) -> None:
    """One document with what was there before and the figures."""
    assert main(["status", "--json", "--server", rooms.address]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["actors"][0]["tables"] == 0
    assert {one["kind"] for one in found["processes"]} == {"actor", "gateway"}
    assert found["ready"]
    assert all(check["good"] for check in found["checks"])


def test_live_until_interrupted(rooms: Rooms, tmp_path: Path) -> None:
    """At a terminal it goes on, gives the screen back after Ctrl-C, and ends with 130."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "kangtou_clients", "status", "--every", "0.2", "--server", rooms.address]
    given = {**os.environ, "KANGTOU_CONFIG": str(tmp_path), "KANGTOU_LANG": "en", "TERM": "xterm", "COLUMNS": "160"}
    process = subprocess.Popen(command, env=given, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
    os.close(theirs)
    child = pexpect.fdpexpect.fdspawn(ours, encoding="utf-8", timeout=WAIT_S)
    for _ in range(3):
        child.expect("matches, [0-9]+ moves/s")
    process.send_signal(signal.SIGINT)
    child.expect_exact("\x1b[?1049l")
    assert process.wait(WAIT_S) == 130
    child.close()


def test_nobody_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    """One clear error."""
    assert main(["status", "--once", "--server", f"127.0.0.1:{free_port()}"]) == 6
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("every", ["0", "-1", "soon"])
def test_bad_intervals(every: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 2."""
    assert main(["status", "--every", every]) == 2
    assert "--every" in capsys.readouterr().err


def look(at_ms: int, moves: float, *, process: str = "a") -> GetVitalsResponse:
    """Figures at a moment."""
    actor = ProcessVitals(id=process, kind="actor", figures={"moves": moves, "refusals": 0.0})
    return GetVitalsResponse(at_ms=at_ms, processes=[actor], checks=[ReadyCheck(name="log", why="it is away")])


def test_rates_follow_from_two_looks() -> None:
    """None after the first; a process that began anew has none until its second look; what is wrong is said."""
    watch = Watch()
    first, second, third = look(1_000, 10), look(3_000, 30), look(4_000, 5, process="b")
    watch.look(first)
    assert watch.of(first.processes[0], "moves") is None
    watch.look(second)
    assert watch.of(second.processes[0], "moves") == 10.0
    assert watch.rate(second.processes, "actor", "moves") == 10.0
    watch.look(third)
    assert watch.of(third.processes[0], "moves") is None
    assert watch.line == [10.0, 0.0]
    said = io.StringIO()
    Console(width=160, file=said).print(screen(Common(), "x:1", third, watch))
    assert "✗ log  (it is away)" in said.getvalue()


def test_a_line_of_blocks() -> None:
    """The highest is the greatest; nothing at all is a flat line."""
    assert spark([0, 4, 8]) == f"{BLOCKS[0]}{BLOCKS[4]}{BLOCKS[7]}"
    assert spark([0, 0]) == BLOCKS[0] * 2
    assert spark([]) == ""
