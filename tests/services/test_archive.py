"""Archiving: whatever dies at whatever step, no match is lost and none is there twice."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import hypothesis
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from kangtou_engine.errors import BadText
from kangtou_engine.match.match import Game
from kangtou_engine.record import Record, write_record
from kangtou_services.archive import ArchiveConflict, ArchiveError, Archiver, Index, Query, RecordStore
from kangtou_services.archive.index import Rebuilt
from kangtou_services.archive.names import Names
from kangtou_services.archive.store import MAX_BYTES, pack, path_of
from kangtou_services.log.base import LogUnavailable
from kangtou_services.log.memory import MemoryLog, MemoryMatchStore, MemoryServer
from tests.games.parrot import GAME
from tests.records.make import ENGINE, Played, play
from tests.s3 import S3Server, s3_server

PARROT = Game(GAME)


class Killed(BaseException):
    """The process ends here."""


@pytest.fixture(scope="session")
def s3() -> Iterator[S3Server]:
    """One S3 server for the session."""
    with s3_server() as server:
        yield server


async def stored(played: Played) -> tuple[MemoryLog, MemoryMatchStore]:
    """A live log and what lies beside it."""
    server = MemoryServer()
    log, store = MemoryLog(server), MemoryMatchStore(server)
    match = played.agreement.match_id
    await store.create(match, played.agreement.to_json(), played.seed)
    await log.claim(match, "actor-1", None, played.entries[0])
    for before, entry in itertools.pairwise(played.entries):
        if "= claim" in entry.body:
            await log.claim(match, "another", before, entry)
        else:
            await log.append(match, entry)
    return log, store


def archiver_of(log: MemoryLog, store: MemoryMatchStore, folder: Path, url: str = "") -> Archiver:
    """As a process has it that starts on this folder."""
    return Archiver(
        log,
        store,
        RecordStore(url or str(folder / "archive")),
        Index(folder / "records.db"),
        Names(folder / "names.db"),
    )


@pytest.fixture(params=["folder", "memory", "s3"])
def url(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where records go: a folder, and stores that are none."""
    if request.param == "folder":
        return str(tmp_path / "archive")
    if request.param == "memory":
        return f"memory://{uuid.uuid4().hex}"
    server: S3Server = request.getfixturevalue("s3")
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    return f"{server.make_bucket(f'kt-{uuid.uuid4().hex}')}/archive"


async def test_a_match_is_archived(tmp_path: Path, url: str) -> None:
    """Its record, its place in the index, the names at that time; a repeat changes nothing."""
    played = play(PARROT, 1, takeover_every=9)
    log, store = await stored(played)
    archiver = archiver_of(log, store, tmp_path, url)
    match = played.agreement.match_id
    await archiver.archive(match)
    await archiver.archive(match)
    (row,) = archiver.index.page(Query(), 10)[0]
    found = archiver.records.get(row.path)
    assert row.match == match
    assert replace(found, head=replace(found.head, engine=ENGINE)) == played.record
    assert list(archiver.records.paths()) == [row.path]
    accounts = [member.account_id for member in played.agreement.members]
    assert archiver.names.of(accounts, row.ended_ms) == {
        member.account_id: member.name for member in played.agreement.members
    }
    text = archiver.records.text(row.path)
    assert not any(member.name in text for member in played.agreement.members)
    archiver.index.close()


STEPS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {}


def step(cut: Callable[[pytest.MonkeyPatch], None]) -> Callable[[pytest.MonkeyPatch], None]:
    """A step at which a process is killed."""
    STEPS[cut.__name__] = cut
    return cut


def die(*_: object, **__: object) -> None:
    raise Killed


def after(monkeypatch: pytest.MonkeyPatch, owner: type, name: str) -> None:
    """Die right after a call."""
    call = getattr(owner, name)

    def dying(*args: object, **kwargs: object) -> None:
        call(*args, **kwargs)
        raise Killed

    monkeypatch.setattr(owner, name, dying)


@step
def reading_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MemoryLog, "read", die)


@step
def before_writing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RecordStore, "_write", die)


@step
def with_the_file_half_written(monkeypatch: pytest.MonkeyPatch) -> None:
    write = RecordStore._write

    def dying(self: RecordStore, path: str, packed: bytes) -> None:
        write(self, path, packed[: len(packed) // 2])  # worse than a kill can be: also under its final name
        raise Killed

    monkeypatch.setattr(RecordStore, "_write", dying)


@step
def before_the_move(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "replace", die)
    monkeypatch.setattr(RecordStore, "_put", die)  # an object store has no move: nothing is there yet


@step
def after_the_move(monkeypatch: pytest.MonkeyPatch) -> None:
    after(monkeypatch, RecordStore, "_write")


@step
def after_reading_it_back(monkeypatch: pytest.MonkeyPatch) -> None:
    after(monkeypatch, RecordStore, "put")


@step
def after_the_names(monkeypatch: pytest.MonkeyPatch) -> None:
    after(monkeypatch, Names, "note")


@step
def before_the_index(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Index, "add", die)


@step
def in_the_index(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kangtou_services.archive.index.json.dumps", die)


@step
def after_the_index(monkeypatch: pytest.MonkeyPatch) -> None:
    after(monkeypatch, Index, "add")


@pytest.mark.parametrize("name", STEPS)
async def test_killed_at_every_step(name: str, tmp_path: Path, url: str) -> None:
    """The next process does it again; one whole record, one row, and only then would the log be retired."""
    played = play(PARROT, 3, takeover_every=9)
    log, store = await stored(played)
    match = played.agreement.match_id
    with pytest.MonkeyPatch.context() as patch:
        STEPS[name](patch)
        with pytest.raises(Killed):
            await archiver_of(log, store, tmp_path, url).archive(match)
    assert await store.live() == [match]
    archiver = archiver_of(log, store, tmp_path, url)
    await archiver.archive(match)
    rows, _ = archiver.index.page(Query(), 10)
    assert [row.match for row in rows] == [match]
    assert list(archiver.records.paths()) == [rows[0].path]
    assert archiver.records.get(rows[0].path).entries == played.record.entries
    archiver.index.close()


async def test_two_processes_archive_the_same_match(tmp_path: Path) -> None:
    """Both succeed; one record."""
    played = play(PARROT, 4)
    log, store = await stored(played)
    first, second = archiver_of(log, store, tmp_path), archiver_of(log, store, tmp_path)
    await first.archive(played.agreement.match_id)
    await second.archive(played.agreement.match_id)
    assert len(list(first.records.paths())) == 1
    assert first.index.count() == second.index.count() == 1
    first.index.close()
    second.index.close()


async def test_the_log_cannot_be_read(tmp_path: Path) -> None:
    """Nothing is written; the caller tries again."""
    played = play(PARROT, 4)
    log, store = await stored(played)
    archiver = archiver_of(log, store, tmp_path)
    with log.server.outage(), pytest.raises(LogUnavailable):
        await archiver.archive(played.agreement.match_id)
    assert list(archiver.records.paths()) == []


async def test_a_log_that_makes_no_record_is_kept(tmp_path: Path) -> None:
    """An entry was changed in the store, or the match is not over: an error, and nothing is archived."""
    played = play(PARROT, 4)
    log, store = await stored(played)
    archiver = archiver_of(log, store, tmp_path)
    held = log.server.find(played.agreement.match_id)
    assert held is not None
    ended = held.entries.pop()
    with pytest.raises(ArchiveError, match="has not ended"):
        await archiver.archive(played.agreement.match_id)
    entry = held.entries[5]
    held.entries[5] = entry.__class__(entry.epoch, entry.seq, entry.body + " ", entry.chain)
    held.entries.append(ended)
    with pytest.raises(ArchiveError, match="makes no record"):
        await archiver.archive(played.agreement.match_id)
    assert list(archiver.records.paths()) == []


async def test_a_match_that_was_archived_and_has_expired(tmp_path: Path) -> None:
    """Nothing to do; one that nobody knows is an error."""
    played = play(PARROT, 4)
    log, store = await stored(played)
    archiver = archiver_of(log, store, tmp_path)
    await archiver.archive(played.agreement.match_id)
    log.server.expire(played.agreement.match_id)
    await archiver.archive(played.agreement.match_id)
    with pytest.raises(ArchiveError, match="neither a log nor a record"):
        await archiver.archive("never")
    archiver.index.close()


def test_another_record_is_never_overwritten(tmp_path: Path, url: str) -> None:
    """Two records of one match: the first stays."""
    store = RecordStore(url)
    record = play(PARROT, 1).record
    other = Record(record.head, record.entries, bytes(32))
    path = store.put(record)
    with pytest.raises(ArchiveConflict):
        store.put(other)
    assert store.get(path) == record


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    """Not a traceback of a library."""
    store = RecordStore(str(tmp_path))
    record = play(PARROT, 1).record
    path = store.put(record)
    (tmp_path / path).write_bytes(b"not a record")
    with pytest.raises(ArchiveError, match="cannot be unpacked"):
        store.text(path)
    with pytest.raises(FileNotFoundError):
        store.text("2026/01/01/none.ktr.zst")


@given(data=st.data())
@hypothesis.settings(suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture])
def test_a_changed_byte_of_a_file_is_found(tmp_path: Path, data: st.DataObject) -> None:
    """Compressed files too: changed, cut off, put together or longer, they are named and not taken for a record."""
    text = write_record(play(PARROT, 1, {"rounds": 1}).record)
    packed = pack(text)
    at = data.draw(st.integers(0, len(packed) - 1))
    changes = {
        "changed": packed[:at] + bytes([packed[at] ^ data.draw(st.integers(1, 255))]) + packed[at + 1 :],
        "cut off": packed[:at],
        "put together": packed + packed,
        "longer": packed + packed[: at + 1],
    }
    for how, changed in changes.items():
        (tmp_path / "x.ktr.zst").write_bytes(changed)
        try:
            record = RecordStore(str(tmp_path)).get("x.ktr.zst")
        except (ArchiveError, BadText):
            continue
        assert how == "changed"  # a bit of the frame's header that says nothing
        assert write_record(record) == text


def test_a_small_file_that_unpacks_to_very_much(tmp_path: Path) -> None:
    """Refused by what it says of itself, before memory is taken for it; a rebuild names it and goes on."""
    store = RecordStore(str(tmp_path))
    store.put(play(PARROT, 1).record)
    bomb = zstandard.ZstdCompressor(level=1).compressobj(size=MAX_BYTES + 1)
    piece = bytes(1 << 20)
    packed = b"".join(bomb.compress(piece) for _ in range(MAX_BYTES >> 20)) + bomb.compress(b"x") + bomb.flush()
    assert len(packed) < 1 << 16
    (tmp_path / "2026/11/30/bomb.ktr.zst").write_bytes(packed)
    with pytest.raises(ArchiveError, match="more than"):
        store.text("2026/11/30/bomb.ktr.zst")
    found = Index(tmp_path / "records.sqlite3")
    assert found.rebuild(store) == Rebuilt(1, 0, ("2026/11/30/bomb.ktr.zst",))
    found.close()


def test_paths_say_the_day_of_the_end(tmp_path: Path) -> None:
    """In UTC."""
    record = play(PARROT, 1).record
    assert path_of(record) == f"2026/11/30/{record.head.terms.match}.ktr.zst"


def test_names_at_that_time(tmp_path: Path) -> None:
    """As they were then; deleted, they are gone while the records stay."""
    names = Names(tmp_path / "names.db")
    names.note({"a": "Old", "b": "Bee"}, 100)
    names.note({"a": "Old"}, 150)
    names.note({"a": "New"}, 200)
    assert names.of(["a", "b", "c"], 120) == {"a": "Old", "b": "Bee"}
    assert names.of(["a"], 199) == {"a": "Old"}
    assert names.of(["a"], 200) == {"a": "New"}
    assert names.of(["a"], 99) == {}
    names.forget("a")
    names.note({"a": "Newest", "b": "Bea"}, 250)  # from the log of a match that was still being played
    assert names.of(["a", "b"], 300) == {"b": "Bea"}


def test_record_text_survives_the_store(tmp_path: Path) -> None:
    """Export is the identity."""
    store = RecordStore(str(tmp_path))
    record = play(PARROT, 2).record
    assert store.text(store.put(record)) == write_record(record)
