"""Archiving: whatever dies at whatever step, no match is lost and none is there twice."""

from __future__ import annotations

import itertools
import sqlite3
import subprocess
import sys
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
from kangtou_services.archive import ArchiveConflict, ArchiveError, Archiver, Index, Listed, Query, RecordStore
from kangtou_services.archive.index import BadPage, Rebuilt, _walk, listed
from kangtou_services.archive.names import Names
from kangtou_services.archive.sqlite_file import IndexDamaged
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


# ---- the index ----


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    found = Index(tmp_path / "records.db")
    yield found
    found.close()


def test_it_is_rebuilt_from_the_records_alone(tmp_path: Path, index: Index) -> None:
    """With equal answers."""
    store = RecordStore(str(tmp_path / "archive"))
    rows = [listed(record, store.put(record)) for record in (play(PARROT, number).record for number in range(12))]
    index.add(rows)
    again = Index(tmp_path / "again.db")
    assert not again.whole()
    assert again.rebuild(store, batch=5) == Rebuilt(12, 0, ())
    assert again.whole()
    assert again.rebuild(store) == Rebuilt(0, 0, ())
    for query in (Query(), Query(game="parrot"), Query(account=rows[3].accounts[1]), Query(from_ms=rows[4].ended_ms)):
        assert again.page(query, 100) == index.page(query, 100)
    again.close()


def row(number: int, **given: object) -> Listed:
    """A made-up row."""
    values: dict[str, object] = {
        "match": f"m{number}",
        "path": f"p{number}",
        "game": "hongshi" if number % 3 else "duizhu",
        "version": 1,
        "variant": "chengde2" if number % 6 == 2 else "",
        "options": "{}",
        "full": f" rounds={50 if number % 4 else 3} top=jokers ",
        "kind": ("bots", "rated", "unrated")[number % 3],
        "started_ms": 1000 + number,
        "ended_ms": 2000 + number // 2,  # pairs end at the same time
        "cause": "abandoned" if number % 9 == 4 else "rules",
        "rounds": 1,
        "moves": 9,
        "rated": bool(number % 2),
        "pool": "main" if number % 8 == 1 else "",
        "tournament": "cup" if number % 10 == 0 else "",
        "accounts": (f"a{number % 5}", f"a{number % 7 + 5}"),
        "scores": (1, -1),
        "places": (1, 2),
    }
    return Listed(**{**values, **given})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        (Query(), lambda row: True),
        (Query(game="duizhu"), lambda row: row.game == "duizhu"),
        (Query(account="a3"), lambda row: "a3" in row.accounts),
        (Query(account="a3", game="hongshi"), lambda row: "a3" in row.accounts and row.game == "hongshi"),
        (Query(tournament="cup"), lambda row: row.tournament == "cup"),
        (Query(account="a0", tournament="cup"), lambda row: "a0" in row.accounts and row.tournament == "cup"),
        (Query(account="a0", others=("a5", "a0")), lambda row: {"a0", "a5"} <= set(row.accounts)),
        (Query(won_by="a3"), lambda row: row.accounts[0] == "a3"),
        (Query(lost_by="a7"), lambda row: row.accounts[1] == "a7"),
        (Query(lost_by="a3"), lambda row: False),  # it has played, and won
        (Query(won_by="a7"), lambda row: False),
        (Query(account="a7", place=1), lambda row: False),
        (Query(account="a7", place=2, most=-1), lambda row: "a7" in row.accounts),
        (Query(account="a3", least=0), lambda row: row.accounts[0] == "a3"),
        (Query(account="a3", least=2), lambda row: False),
        (Query(options=("rounds=3",)), lambda row: "rounds=3" in row.full),
        (Query(game="hongshi", options=("rounds=3",)), lambda row: row.game == "hongshi" and "rounds=3" in row.full),
        (Query(game="hongshi", options=("rounds=50",)), lambda row: row.game == "hongshi" and "=50" in row.full),
        (Query(options=("rounds=5",)), lambda row: False),
        (Query(game="duizhu", options=("top=tens",)), lambda row: False),
        (Query(kind="bots"), lambda row: row.kind == "bots"),
        (Query(cause="rules", pool="main"), lambda row: row.pool == "main" and row.cause == "rules"),
        (Query(cause="abandoned"), lambda row: row.cause == "abandoned"),
        (Query(variant="chengde2", kind="rated"), lambda row: row.variant and row.kind == "rated"),
        (Query(game="none"), lambda row: False),
        (Query(account="none", game="hongshi"), lambda row: False),
        (Query(from_ms=2010, to_ms=2030), lambda row: 2010 <= row.ended_ms < 2030),
    ],
)
def test_pages_hold_every_row_once(index: Index, query: Query, wanted: Callable[[Listed], bool]) -> None:
    """Newest first, whatever is asked for, also where many end at the same time."""
    rows = [row(number) for number in range(100)]
    index.add(rows)
    found: list[Listed] = []
    token = ""
    while True:
        page, token = index.page(query, 7, token)
        assert len(page) <= 7
        found += page
        if not token:
            break
    expected = sorted(filter(wanted, rows), key=lambda row: (row.ended_ms, row.match), reverse=True)
    assert found == expected
    assert index.find("m17") == rows[17]
    assert index.find("none") is None


@pytest.mark.parametrize("scan", [1, 50])
def test_a_page_looks_at_so_many_rows(index: Index, monkeypatch: pytest.MonkeyPatch, scan: int) -> None:
    """And no more: the rest is behind its token, also if nothing was found."""
    monkeypatch.setattr("kangtou_services.archive.index.SCAN", scan)
    index.add(row(number, cause="rules", kind="rated" if number < 3 else "bots") for number in range(1000))
    found, token = index.page(Query(kind="rated"), 10)
    assert (found, bool(token)) == ([], True)
    pages = 1
    while token:
        page, token = index.page(Query(kind="rated"), 10, token)
        found += page
        pages += 1
    assert [one.match for one in found] == ["m2", "m1", "m0"]
    assert pages == 6  # with the one that finds nothing behind the last row


def test_rows_that_are_taken_out(index: Index) -> None:
    """Are found under nothing; the others stay; counts of terms follow."""
    index.add(row(number) for number in range(100))
    index.remove([f"m{number}" for number in range(100) if number % 3])
    index.remove(["m1", "none"])
    assert [one.match for one in index.page(Query(), 200)[0]] == [f"m{number}" for number in range(99, -1, -3)]
    assert index.page(Query(game="hongshi"), 10) == ([], "")
    assert len(index.page(Query(game="duizhu"), 200)[0]) == 34
    with index._file.using() as db:
        wrong = db.execute(
            "SELECT term FROM terms WHERE held <> (SELECT count(*) FROM postings WHERE postings.term = terms.id)"
        ).fetchall()
    assert wrong == []


def test_rebuilt_afresh(tmp_path: Path, index: Index) -> None:
    """Rows that say something else are put right, rows without a record go, a file that is none is named."""
    store = RecordStore(str(tmp_path / "archive"))
    rows = [listed(record, store.put(record)) for record in (play(PARROT, number).record for number in range(4))]
    index.add(rows)
    before = index.page(Query(), 10)
    index.add([replace(rows[1], game="hongshi"), replace(rows[2], match="gone", path="2020/01/01/gone.ktr.zst")])
    (tmp_path / "archive/2026/11/30/broken.ktr.zst").write_bytes(b"broken")
    assert index.rebuild(store) == Rebuilt(0, 1, ("2026/11/30/broken.ktr.zst",))
    assert index.page(Query(game="hongshi"), 10)[0]
    assert index.rebuild(store, afresh=True) == Rebuilt(1, 0, ("2026/11/30/broken.ktr.zst",))
    assert index.page(Query(), 10) == before


def test_a_page_that_no_answer_gave(index: Index) -> None:
    """Refused, not guessed."""
    for token in ("x", "eA==", "你好", "MTIz"):
        with pytest.raises(BadPage):
            index.page(Query(), 5, token)


def test_several_processes_write_at_once(tmp_path: Path) -> None:
    """Nothing is lost and nobody is refused."""
    code = (
        "import sys; from pathlib import Path; from kangtou_services.archive import Index;"
        "from tests.services.test_archive import row; first = int(sys.argv[2]); index = Index(Path(sys.argv[1]));"
        "[index.add([row(number)]) for number in range(first, first + 60)]"
    )
    root = Path(__file__).resolve().parents[2]
    argv = [sys.executable, "-c", code, str(tmp_path / "records.db")]
    running = [subprocess.Popen([*argv, str(first)], cwd=root) for first in (0, 60, 120)]
    assert [process.wait(60) for process in running] == [0, 0, 0]
    index = Index(tmp_path / "records.db")
    assert index.count() == 180
    index.close()


def test_an_index_of_another_version_is_refused(tmp_path: Path, index: Index) -> None:
    """It says what to do."""
    index.add([row(1)])

    with sqlite3.connect(index.path) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    other = Index(index.path)
    with pytest.raises(ArchiveError, match="rebuilt from the records"):
        other.count()


@pytest.mark.parametrize("damage", ["no sqlite", "pages", "cut off"])
def test_a_damaged_index_is_made_anew(tmp_path: Path, index: Index, damage: str) -> None:
    """It is set aside and filled again from the records; a process that has the old file open goes over to the new."""
    store = RecordStore(str(tmp_path / "archive"))
    rows = [listed(record, store.put(record)) for record in (play(PARROT, number).record for number in range(3))]
    index.rebuild(store)
    before = index.page(Query(), 10)
    other = Index(index.path)
    assert other.page(Query(), 10) == before
    index.close()
    other.close()  # the log goes into the file
    data = index.path.read_bytes()
    pages = data[:4096] + bytes(byte ^ 0x55 for byte in data[4096:])
    changed = {"no sqlite": b"nothing" * 5000, "pages": pages, "cut off": data[:5000]}[damage]
    index.path.write_bytes(changed)
    with pytest.raises(IndexDamaged, match="made anew"):
        index.rebuild(store)
    assert Path(f"{index.path}.broken").stat().st_size == len(changed)
    assert not other.whole()
    assert index.rebuild(store) == Rebuilt(3, 0, ())
    assert other.page(Query(), 10) == index.page(Query(), 10) == before
    assert other.add(rows) == 0
    other.close()


def test_an_index_that_is_deleted_under_a_running_server(index: Index) -> None:
    """The next use begins a new one, and does not write into what nobody sees any more."""
    index.add([row(1)])
    other = Index(index.path)
    assert other.count() == 1
    for file in index.path.parent.glob(f"{index.path.name}*"):
        file.unlink()
    assert (index.count(), index.add([row(2)])) == (0, 1)
    assert other.find(row(2).match) == row(2)
    other.close()


# ---- names ----


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


@pytest.mark.parametrize(
    "query",
    [
        Query(),
        Query(game="duizhu"),
        Query(account="a1"),
        Query(account="a1", game="duizhu", least=1),
        Query(tournament="cup", won_by="a0"),
        Query(game="duizhu", from_ms=1, to_ms=9_999),
        Query(account="a1", from_ms=1),
        Query(options=("rounds=3",), cause="rules"),
    ],
)
def test_a_page_is_found_by_an_index(index: Index, query: Query) -> None:
    """Whatever is asked for: no scan of all, no sorting; so it stays fast at a million records."""
    index.add(row(number) for number in range(30))
    with index._file.using() as db:
        walk = _walk(db, query, index.registry)
        assert walk is not None
        for sql, values in (walk.rows((5, "m"), (0, ""), 50), walk.end((5, "m"), (0, ""), 50)):
            plan = " ".join(str(line[3]) for line in db.execute(f"EXPLAIN QUERY PLAN {sql}", values))
            assert "TEMP B-TREE" not in plan, plan
            assert "SCAN" not in plan, plan
