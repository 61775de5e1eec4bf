"""`kangtou archive dump` and `import` as processes: output, exit codes, Ctrl-C, kills."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kangtou_clients.cli import main
from kangtou_engine.record import read_record
from kangtou_engine.registry import REGISTRY
from kangtou_services.archive import RecordStore
from tests.records.make import play

GOLDEN = sorted((Path(__file__).parents[1] / "golden" / "records").glob("*.ktr"))
MANY = 40
Run = Callable[..., tuple[str, str]]


def command(*words: object) -> list[str]:
    """A command line of `kangtou`."""
    return [sys.executable, "-m", "kangtou_clients", "archive", *map(str, words)]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run it in this process (its child is one of its own) to its end; its output and errors."""

    def command(*words: object, code: int = 0, lang: str = "en") -> tuple[str, str]:
        monkeypatch.setenv("KANGTOU_LANG", lang)
        found = main(["archive", *map(str, words)])
        said = capsys.readouterr()
        assert found == code, said.err
        return said.out, said.err

    return command


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive of the golden records and of many small ones."""
    folder = tmp_path_factory.mktemp("archive")
    store = RecordStore(str(folder))
    for path in GOLDEN:
        store.put(read_record(path.read_bytes()))
    for number in range(MANY):
        store.put(play(REGISTRY.game("hongshi"), number, {"rounds": 1}, match=f"many{number:03d}").record)
    return folder


@pytest.fixture(scope="module")
def dump(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dump that the command has made."""
    out = tmp_path_factory.mktemp("dump") / "2026-11.zst"
    assert main(["archive", "dump", "--month", "2026-11", "--archive", str(archive), str(out)]) == 0
    return out


def count(folder: Path) -> int:
    """How many records lie below a folder."""
    return len(list(folder.rglob("*.ktr.zst")))


def test_dump_and_import(run: Run, archive: Path, dump: Path, tmp_path: Path) -> None:
    """Into a data folder, with its index; a second time nothing is added; through a pipe too."""
    data = tmp_path / "data"
    data.mkdir()
    first = json.loads(run("import", dump, "--data", data, "--json")[0])
    again = json.loads(run("import", dump, "--data", data, "--json", "--verify")[0])
    assert first == {"added": MANY + 7, "there": 0, "conflicts": 0, "refused": 0, "problems": []}
    assert again == {**first, "added": 0, "there": MANY + 7}
    assert list((data / "archive-index").glob("records-*.sqlite3"))
    piped = subprocess.run(
        command("dump", "--month", "2026-12", "--archive", archive, "-"), capture_output=True, timeout=100, check=True
    )
    words = command("import", "-", "--archive", tmp_path / "piped")
    subprocess.run(words, input=piped.stdout, stdout=subprocess.DEVNULL, timeout=100, check=True)
    assert count(tmp_path / "piped") == 1


def test_single_records_come_in_too(run: Run, tmp_path: Path) -> None:
    """Files of `archive export` and a folder's .ktr files need no manifest."""
    said, _ = run("import", *GOLDEN, "--archive", tmp_path / "a")
    assert said.startswith(f"{len(GOLDEN)} added")


def test_what_is_wrong(run: Run, archive: Path, dump: Path, tmp_path: Path) -> None:
    """Each in one line, in both languages, with its exit code; nothing is left behind."""
    out = tmp_path / "o.zst"
    assert "no month" in run("dump", "--month", "2026-13", "--archive", archive, out, code=2)[1]
    assert "不是月份" in run("dump", "--month", "2026-13", "--archive", archive, out, code=2, lang="zh")[1]
    assert "no archive" in run("dump", "--month", "2026-11", "--archive", tmp_path / "none", out, code=2)[1]
    missing = tmp_path / "none" / "o.zst"
    assert str(missing.parent) in run("dump", "--month", "2026-11", "--archive", archive, missing, code=8)[1]
    locked = Path("/sys/o.zst")  # nobody can write there, root included
    assert "cannot be read or written" in run("dump", "--month", "2026-11", "--archive", archive, locked, code=2)[1]
    assert "there is no file" in run("import", tmp_path / "x.zst", "--archive", tmp_path / "b", code=8)[1]
    copy = tmp_path / "copy.zst"
    shutil.copy(dump, copy)
    assert "--no-manifest" in run("import", copy, "--archive", tmp_path / "b", code=8)[1]
    copy.write_bytes(dump.read_bytes()[:-40])
    shutil.copy(f"{dump}.manifest.json", f"{copy}.manifest.json")
    assert "not what its manifest says" in run("import", copy, "--archive", tmp_path / "b", code=1)[1]
    assert "breaks off" in run("import", copy, "--no-manifest", "--archive", tmp_path / "c", code=1)[1]
    wrong = "/sys/nothing"
    assert "cannot be read or written" in run("import", dump, "--archive", wrong, "--data", tmp_path / "d", code=2)[1]
    assert not out.exists()
    assert not (tmp_path / "b").exists()
    assert list(tmp_path.glob(".*")) == []


def test_conflict(run: Run, archive: Path, dump: Path, tmp_path: Path) -> None:
    """Named, exit code 1, and what lay there stays."""
    anonymous = tmp_path / "anon.zst"
    run("dump", "--month", "2026-11", "--anonymous", "--archive", archive, anonymous)
    run("import", anonymous, "--archive", tmp_path / "a")
    before = {path: path.read_bytes() for path in (tmp_path / "a").rglob("*.zst")}
    said, errors = run("import", dump, "--archive", tmp_path / "a", code=1)
    assert f"0 added, 0 there already, {MANY + 7} conflicts" in said
    assert "another record of match many003 is there" in errors
    assert {path: path.read_bytes() for path in (tmp_path / "a").rglob("*.zst")} == before


def until_some(folder: Path, process: subprocess.Popen[bytes]) -> None:
    """Wait until an import has written something."""
    deadline = time.monotonic() + 30
    while not count(folder):
        assert time.monotonic() < deadline
        assert process.poll() is None
        time.sleep(0.005)


@pytest.mark.parametrize("how", ["SIGKILL", "SIGINT"])
def test_an_import_is_killed_and_goes_on(run: Run, dump: Path, tmp_path: Path, how: str) -> None:
    """Killed in the middle, run again: all records, once, and the same as from an import at one go."""
    data = tmp_path / "data"
    data.mkdir()
    process = subprocess.Popen(
        command("import", dump, "--data", data), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    until_some(data, process)
    process.send_signal(getattr(signal, how))
    assert process.wait(30) in (130, -signal.SIGKILL)
    said = json.loads(run("import", dump, "--data", data, "--json")[0])
    assert said["added"] + said["there"] == MANY + 7
    assert said["conflicts"] == said["refused"] == 0
    run("import", dump, "--archive", tmp_path / "whole")
    whole = {path.name: path.read_bytes() for path in (tmp_path / "whole").rglob("*.zst")}
    assert {path.name: path.read_bytes() for path in (data / "archive").rglob("*.ktr.zst")} == whole


def test_a_dump_that_is_interrupted_leaves_nothing(archive: Path, tmp_path: Path) -> None:
    """Ctrl-C: exit code 130, no half file."""
    slow = tmp_path / "slow"
    shutil.copytree(archive, slow)
    fifo = next(path for path in sorted(slow.rglob("many*.zst")))
    fifo.unlink()
    os.mkfifo(fifo)  # reading it waits, so the dump is caught in the middle
    out = tmp_path / "o.zst"
    process = subprocess.Popen(command("dump", "--month", "2026-11", "--archive", slow, out), stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 30
    while not list(tmp_path.glob(".o.zst.*.part")):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130
    assert sorted(path.name for path in tmp_path.iterdir()) == ["slow"]
