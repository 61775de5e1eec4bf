"""The index of the archive: pages, rows that go, rebuilding, damage, several processes."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from kangtou_engine.match.match import Game
from kangtou_services.archive import ArchiveError, Index, Listed, Query, RecordStore
from kangtou_services.archive.index import BadPage, Rebuilt, _walk, listed
from kangtou_services.archive.sqlite_file import IndexDamaged
from tests.games.parrot import GAME
from tests.records.make import play

PARROT = Game(GAME)


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
        "from tests.services.test_archive_index import row; first = int(sys.argv[2]); index = Index(Path(sys.argv[1]));"
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
