"""Records in an S3 store: a real server, a bucket that is missing, one that cannot be reached, a package that lacks."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from kangtou_engine.match.match import Game
from kangtou_engine.record import write_record
from kangtou_services.archive import ArchiveError, ArchiveMissing, Index, Query, RecordStore
from kangtou_services.archive.index import Rebuilt, listed
from kangtou_services.archive.store import pack, path_of
from tests.games.parrot import GAME
from tests.records.make import play
from tests.s3 import S3Server, s3_server

PARROT = Game(GAME)
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def server() -> Iterator[S3Server]:
    with s3_server() as started:
        yield started


@pytest.fixture
def url(server: S3Server, monkeypatch: pytest.MonkeyPatch) -> str:
    """A bucket of its own."""
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    return server.make_bucket(f"kt-{uuid4().hex}")


def test_records_lie_there_and_are_found_again(url: str, tmp_path: Path) -> None:
    """Written by one store, read by another one; the index is rebuilt from them alone; taken out, they are gone."""
    store = RecordStore(f"{url}/deep/folder")
    store.check()
    records = [play(PARROT, number).record for number in range(6)]
    rows = [listed(record, store.put(record)) for record in records]
    assert rows[0].path == store.put(records[0])
    other = RecordStore(f"{url}/deep/folder")
    assert sorted(other.paths()) == sorted(row.path for row in rows)
    assert other.text(rows[2].path) == write_record(records[2])
    assert other.size(rows[2].path) == len(pack(write_record(records[2])))
    index = Index(tmp_path / "index.db")
    assert index.rebuild(other, batch=4) == Rebuilt(6, 0, ())
    assert {row.match for row in index.page(Query(), 10)[0]} == {row.match for row in rows}
    other.remove(rows[3].path)
    other.remove(rows[3].path)
    assert not store.exists(rows[3].path)
    assert index.rebuild(store) == Rebuilt(0, 1, ())
    index.close()


def test_what_was_cut_off_is_written_again(url: str, server: S3Server) -> None:
    """Half an object, as a store without whole puts could leave it: no record lies there yet."""
    record = play(PARROT, 7).record
    packed = pack(write_record(record))
    server.put(f"{url.removeprefix('s3://')}/{path_of(record)}", packed[: len(packed) // 2])
    store = RecordStore(url)
    assert store.get(store.put(record)) == record


def test_a_bucket_that_does_not_exist(url: str) -> None:
    """Named, when the server starts and when a record is written."""
    store = RecordStore("s3://kt-never-made/archive")
    with pytest.raises(ArchiveMissing, match="bucket kt-never-made does not exist"):
        store.check()
    with pytest.raises(ArchiveMissing, match="bucket kt-never-made does not exist"):
        store.put(play(PARROT, 1).record)


def test_a_server_that_cannot_be_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of the archive, not one of a library: whoever archives tries again."""
    with s3_server() as gone:
        for name, value in {**gone.environment, "AWS_MAX_ATTEMPTS": "1"}.items():
            monkeypatch.setenv(name, value)
        store = RecordStore(gone.make_bucket("kt-gone"))
        path = store.put(play(PARROT, 1).record)
    with pytest.raises(ArchiveError):
        store.text(path)
    with pytest.raises(ArchiveError):
        list(store.paths())
    with pytest.raises(ArchiveError):
        store.put(play(PARROT, 2).record)


def test_without_the_extra(tmp_path: Path) -> None:
    """The process says which one, and does not start."""
    (tmp_path / "s3fs.py").write_text("raise ImportError('not installed')\n")
    paths = os.pathsep.join([str(tmp_path), *filter(None, (os.environ.get("PYTHONPATH"),))])
    env = {**os.environ, "PYTHONPATH": paths, "KANGTOU_ARCHIVE_URL": "s3://kt-any", "KANGTOU_DATA": str(tmp_path)}
    argv = [sys.executable, "-m", "kangtou_services", "gateway"]
    done = subprocess.run(argv, cwd=ROOT, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "kangtou: the archive is at s3://, which needs a package: pip install 'kangtou[s3]'\n" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_server_on_a_bucket_that_does_not_exist(url: str, tmp_path: Path) -> None:
    """It says so and does not start."""
    env = {**os.environ, "KANGTOU_ARCHIVE_URL": "s3://kt-never-made/a", "KANGTOU_DATA": str(tmp_path)}
    argv = [sys.executable, "-m", "kangtou_services", "up"]
    done = subprocess.run(argv, cwd=ROOT, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "kangtou: the archive's bucket kt-never-made does not exist: make it first\n" in done.stderr
