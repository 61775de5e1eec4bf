"""`kangtou load`: waits from when an answer was meant to be sent, exact percentiles, a search that finds the limit."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from kangtou_clients.cli import main
from kangtou_clients.load.figures import percentile, spread_of
from kangtou_clients.load.plan import Plan
from kangtou_clients.load.search import Level, search
from kangtou_clients.load.timeline import Timeline
from kangtou_engine.registry import REGISTRY
from tests.clients.rooms import Rooms


@pytest.fixture(scope="module")
def rooms(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rooms]:
    found = Rooms(tmp_path_factory.mktemp("data"))
    yield found
    found.stop()


def begin(rooms: Rooms, *words: object) -> subprocess.Popen[str]:
    """The command, as a child."""
    line = [sys.executable, "-m", "kangtou_clients", "load", "--server", rooms.address, "--json", *map(str, words)]
    return subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ))


def ended(child: subprocess.Popen[str]) -> tuple[int, dict[str, Any]]:
    """Its exit code and its last document."""
    said, errors = child.communicate(timeout=100)
    lines = said.splitlines()
    assert lines, errors
    return child.returncode, json.loads(lines[-1])


# ---- when an answer is due ----


def test_a_late_question_does_not_move_what_follows() -> None:
    line = Timeline(100.0)
    first = line.due(0, 1, 2.0)
    assert first == 102.0
    line.sent(first)
    # The server takes 50 s; the next seat would have been asked at 102 and have thought 3 s.
    assert line.due(1, 2, 3.0) == 105.0
    assert line.due(1, 2, 9.0) is None  # put again: the same question
    assert line.due(1, 1, 9.0) is None


def test_a_window_follows_the_answer_that_was_sent_last() -> None:
    line = Timeline(10.0)
    dues = [line.due(seat, 7, think) for seat, think in ((0, 3.0), (1, 1.0), (2, 2.0))]
    assert dues == [13.0, 11.0, 12.0]
    line.sent(11.0)
    line.sent(12.0)
    assert line.due(3, 8, 1.0) == 13.0
    line.sent(11.5)  # an older one, sent late, moves nothing back
    assert line.due(0, 9, 1.0) == 13.0


def test_thinking_times() -> None:
    plan, chance = Plan(think_s=2.0, spread=0.7), Random(1)
    drawn = [plan.think(chance, 0.0) for _ in range(20_000)]
    assert statistics.median(drawn) == pytest.approx(2.0, rel=0.03)
    assert statistics.mean(drawn) == pytest.approx(2.0 * 2.71828 ** (0.7**2 / 2), rel=0.03)
    assert max(plan.think(chance, 3.0) for _ in range(2_000)) == pytest.approx(2.4)
    assert Plan(think_s=0.0).think(chance, 30.0) == 0.0


def test_percentiles_are_those_of_the_sorted_values() -> None:
    values = [float(number) for number in range(1, 1001)]
    assert [percentile(values, part) for part in (0.5, 0.9, 0.99, 0.999)] == [500.0, 900.0, 990.0, 999.0]
    assert percentile([7.0], 0.999) == 7.0
    assert percentile([], 0.5) == 0.0
    assert spread_of([0.001, 0.003])["max"] == 3.0


# ---- the search ----


@pytest.mark.parametrize(("limit", "first"), [(100, 10), (73, 8), (10, 12), (2_000, 50), (5, 1)])
def test_search_comes_close_to_the_limit_of_a_server(limit: int, first: int) -> None:
    tried: list[int] = []

    async def measure(tables: int) -> Level:
        tried.append(tables)
        wait = 8.0 / max(1e-3, 1 - tables / (limit + 1))  # a queue: 100 ms at about nine tenths
        return level_of(tables, p99=wait)

    best = asyncio.run(search(first, 100.0, measure, lambda level, problem: None))
    fits = limit * 0.92
    if first > fits:
        assert best is None
        return
    assert best is not None
    assert fits / 1.1 - 2 <= best.tables <= fits + 1
    assert tried == sorted(tried)  # only upwards,
    assert len(tried) == len(set(tried)) + 1  # and the last one twice


def level_of(tables: int, p99: float) -> Level:
    """A level without trouble."""
    figures = {"moves": tables * 10, "crossed": 0, "due_per_s": tables, "seconds": 10, "moves_per_s": tables}
    rest = {"refused": {}, "streams_lost": 0, "wait_ms": {"p99": p99}, "behind_ms": {"p99": 1.0}}
    return Level(tables, {**figures, **rest})


def test_a_stop_ends_the_search_with_the_best_so_far() -> None:
    async def measure(tables: int) -> Level | None:
        return level_of(tables, p99=1.0) if tables < 20 else None

    best = asyncio.run(search(10, 100.0, measure, lambda level, problem: None))
    assert best is not None
    assert best.tables == 15


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({}, ""),
        ({"refused": {"log_unavailable": 1}}, "refusals"),
        ({"streams_lost": 1}, "refusals"),
        ({"behind_ms": {"p99": 90.0}}, "generator"),
        ({"moves": 800}, "falls_behind"),
        ({"moves": 800, "crossed": 180}, ""),
        ({"wait_ms": {"p99": 100.1}}, "too_slow"),
    ],
)
def test_what_is_too_much(change: dict[str, Any], problem: str) -> None:
    fine = {"moves": 990, "crossed": 0, "due_per_s": 100, "seconds": 10, "moves_per_s": 99, "refused": {}}
    fine |= {"streams_lost": 0, "wait_ms": {"p99": 50.0}, "behind_ms": {"p99": 1.0}}
    assert Level(1, {**fine, **change}).problem(100.0) == problem


# ---- on a server ----


@pytest.mark.slow
def test_all_games_with_spectators_and_nothing_is_left(rooms: Rooms) -> None:
    words = ("--tables", 12, "--think", 0.05, "--ramp", 1, "--seconds", 5, "--watchers", 1, "--seed", 3)
    code, found = ended(begin(rooms, *words))
    assert code == 0, found
    assert found["step"] == "result"
    assert not found["refused"]
    assert found["moves"] > 100
    assert set(found["games"]) == set(REGISTRY.names())
    assert found["delivered_per_s"] > 0
    assert found["wait_ms"]["p50"] <= found["wait_ms"]["p99"] <= found["wait_ms"]["max"]


@pytest.mark.slow
def test_a_server_that_stands_still_cannot_hide(rooms: Rooms) -> None:
    """One that waits for answers would see one long wait a table; here every answer that was due has one."""
    tables, stands = 4, 2.0
    words = ("--tables", tables, "--game", "hongshi", "--rounds", 4, "--think", 0.1, "--ramp", 0.5, "--seconds", 7)
    child = begin(rooms, *words)
    assert child.stdout is not None
    for line in child.stdout:
        if json.loads(line)["step"] == "measure":
            break

    async def stand_still() -> None:
        time.sleep(stands)  # noqa: ASYNC251 - that is the point

    rooms.do(stand_still()).result(30)
    code, found = ended(child)
    assert code == 0, found
    overdue = stands / 0.128  # mean thought at a median of 0.1 s
    slow = found["wait_ms"]
    assert slow["max"] >= stands * 1000 * 0.8
    # Half of the answers that were due while it stood still waited half of it or longer.
    many = tables * overdue / 2 / found["moves"]
    assert slow["p90" if many > 0.1 else "p99"] >= stands * 1000 / 2


@pytest.mark.slow
def test_ctrl_c_shows_what_there_is(rooms: Rooms) -> None:
    child = begin(rooms, "--tables", 2, "--think", 0.05, "--ramp", 0.2, "--seconds", 600)
    assert child.stdout is not None
    for line in child.stdout:
        if json.loads(line)["step"] == "measure" and json.loads(line)["moves"] > 5:
            break
    child.send_signal(signal.SIGINT)
    code, found = ended(child)
    assert code == 130
    assert found["step"] == "result"
    assert found["moves"] > 5


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--server", "192.0.2.1:7480"), 2, "--yes-remote"),
        (("--server", "play.example.org:7480"), 2, "--yes-remote"),
        (("--game", "mahjong"), 8, "mahjong"),
    ],
)
def test_what_it_does_not_do(
    words: tuple[str, ...],
    code: int,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("KANGTOU_CONFIG", str(tmp_path))
    assert main(["--lang", "en", "load", *words]) == code
    errors = capsys.readouterr().err
    assert said in errors
    assert errors.count("\n") == 1
