"""Practice: a server as a child, bots in this process; nothing is left when it ends, in whatever way."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from kangtou_clients.bots.player import Tally, dice, play
from kangtou_clients.practice import PracticeError, forked, practice, practice_server
from kangtou_engine.record import write_record
from kangtou_engine.registry import REGISTRY
from kangtou_engine.replay import Replay
from kangtou_engine.verify import verify
from kangtou_services.archive.store import RecordStore
from tests.records import make as records

BOUND_S = 10.0  # to be ready: under 1.5 s alone on this machine, but tests share it


async def gone(pid: int) -> None:
    """Until a process has ended. Raises TimeoutError."""
    async with asyncio.timeout(60):
        while psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:  # noqa: ASYNC110
            await asyncio.sleep(0.02)


@pytest.mark.parametrize("game", REGISTRY.names())
async def test_a_match_to_its_end(game: str, tmp_path: Path) -> None:
    """Of every game, from another seat than the first; no warning, and a record that is in order."""
    seat = 1
    rules = {"rounds": 1}
    async with (
        practice(game, options=rules, seat=seat, data=tmp_path, seed=5) as table,
        table.client.play() as session,
    ):
        match = await table.attach(session)
        assert [player.kind for player in match.players].index("human") == seat
        tally = Tally()
        ending = await play(match, "greedy", dice(5), tally)
        assert not match.warnings
        assert tally.moves > 0
    records = RecordStore(str(tmp_path / "archive"))
    (path,) = records.paths()
    report = verify(records.text(path), REGISTRY, ending.receipt)  # type: ignore[union-attr]
    assert report.ok, report.findings
    assert report.rerun


def given(folder: Path) -> list[Path]:
    """Records that were handed to a server and lie there still."""
    return list(folder.glob("fork-*"))


@pytest.mark.parametrize("game", ["hongshi", "erbaiwu"])
async def test_going_on_from_a_record(game: str, tmp_path: Path) -> None:
    """The view there, bots at the other seats, the packs that were; no warning, and a record that is in order."""
    played = records.play(REGISTRY.game(game), 3, {"rounds": 2}, takeover_every=19)
    replay = Replay(played.game, played.record)
    place = len(replay.moments) // 2
    text = write_record(played.record).encode()
    async with forked(text, place, seat=2, data=tmp_path, seed=1) as table, table.client.play() as session:
        match = await table.attach(session)
        assert match.view == replay.view(place, 2)
        assert match.players[2].kind == "human"
        ending = await play(match, "greedy", dice(1), Tally())
        assert not match.warnings
    store = RecordStore(str(tmp_path / "archive"))
    (path,) = store.paths()
    report = verify(store.text(path), REGISTRY, ending.receipt)  # type: ignore[union-attr]
    assert report.ok, report.findings
    assert not given(tmp_path)


async def test_where_nothing_can_go_on() -> None:
    """The server says why, and ends."""
    played = records.play(REGISTRY.game("hongshi"), 5, {"rounds": 1})
    with pytest.raises(PracticeError, match="the match is over at this place"):
        async with forked(write_record(played.record).encode(), 10_000):
            raise AssertionError


async def test_ready_soon_and_ends_by_a_signal(tmp_path: Path) -> None:
    """No Ray, nothing for analysis; in order, within the grace of its gateway."""
    began = time.monotonic()
    async with practice_server(tmp_path) as ready:
        seconds = time.monotonic() - began
        assert set(ready) == {"address", "pid", "token"}
        loaded = {Path(row.path).name for row in psutil.Process(ready["pid"]).memory_maps()}
        assert not [name for name in loaded if name.startswith(("_raylet", "_duckdb"))]
        os.kill(ready["pid"], signal.SIGTERM)
        await gone(ready["pid"])
    print(f"practice server ready after {seconds:.2f} s")
    assert seconds < BOUND_S
    said = (tmp_path / "practice.log").read_text()
    assert '"event": "actor_stopped"' in said.rpartition("\n{")[2]


@pytest.fixture
def command(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """`kangtou practice` with random bots in a match without end."""
    words = ["practice", "wushik", "-o", "rounds=50", "--bot", "random", "--json", "--data", str(tmp_path)]
    process = subprocess.Popen([sys.executable, "-m", "kangtou_clients", *words], stdout=subprocess.PIPE)
    yield process
    process.kill()
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


def server_of(process: subprocess.Popen[bytes]) -> tuple[dict[str, Any], int]:
    """What the command says first, and the server's pid."""
    assert process.stdout is not None
    first = json.loads(process.stdout.readline())
    (server,) = psutil.Process(process.pid).children()
    return first, server.pid


@pytest.mark.parametrize(("number", "code"), [(signal.SIGKILL, -9), (signal.SIGINT, 130)])
async def test_the_server_ends_with_whoever_started_it(
    command: subprocess.Popen[bytes], number: signal.Signals, code: int
) -> None:
    """Killed, interrupted, or ended: no process is left."""
    _, pid = await asyncio.to_thread(server_of, command)
    command.send_signal(number)
    assert await asyncio.to_thread(command.wait, 15) == code
    await gone(pid)


async def test_what_cannot_be(tmp_path: Path) -> None:
    """No such seat; a folder that cannot be one."""
    with pytest.raises(PracticeError, match="no seat 9"):
        async with practice("hongshi", seat=9):
            raise AssertionError
    (tmp_path / "file").write_text("")
    with pytest.raises(FileExistsError):
        async with practice("hongshi", data=tmp_path / "file"):
            raise AssertionError
