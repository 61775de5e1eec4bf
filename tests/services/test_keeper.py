"""What looks after an archive: retention by kind, kills at every step of it, records of other nodes, lost indexes."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from kangtou_engine.match.match import Game
from kangtou_engine.record import Place, Record
from kangtou_services.archive import Index, Query, RecordStore
from kangtou_services.archive.index import listed
from kangtou_services.archive.keeper import DAY_MS, Keeper
from kangtou_services.archive.names import Names
from kangtou_services.archive.rows import BOTS, RATED, UNRATED
from kangtou_services.settings import Settings
from tests.games.parrot import GAME
from tests.records.make import CREATED_MS, play

PARROT = Game(GAME)
NOW_MS = CREATED_MS + 30 * DAY_MS


class Killed(BaseException):
    """The process ends here."""


def a_record(number: int, kind: str, days: int) -> Record:
    """Of a match that ended so many days ago."""
    record = play(PARROT, number).record
    terms, outcome = record.head.terms, record.head.outcome
    first = Place(terms.seats[0].account, "bot" if kind == BOTS else "human", terms.seats[0].commitment)
    head = replace(
        record.head,
        terms=replace(terms, seats=(first, *terms.seats[1:]), rated=kind != UNRATED),
        outcome=replace(outcome, ended_ms=NOW_MS - days * DAY_MS),
    )
    return Record(head, record.entries, record.seed)


class Archive:
    """Two records of each kind, one 10 days and one 20 days old. Their texts are not read here, only their files."""

    def __init__(self, folder: Path) -> None:
        self.store = RecordStore(str(folder / "archive"))
        self.index = Index(folder / "index.db")
        self.names = Names(folder / "names.db")
        self.kept: dict[str, str] = {}
        for number, (kind, days) in enumerate((kind, days) for kind in (BOTS, RATED, UNRATED) for days in (10, 20)):
            record = a_record(number, kind, days)
            path = f"2026/12/{days:02}/{record.head.terms.match}.ktr.zst"
            self.store._write(path, b"kept as it is")
            self.index.add([listed(record, path)])
            self.kept[f"{kind} {days}"] = path

    def keeper(self, days: Mapping[str, int]) -> Keeper:
        """As a process has it."""
        return Keeper(self.store, self.index, self.names, days, wall_ms=lambda: NOW_MS)

    def left(self) -> set[str]:
        """What is there still, and is found: files and rows are the same."""
        rows = {row.path for row in self.index.page(Query(), 50)[0]}
        assert rows == set(self.store.paths())
        return {name for name, path in self.kept.items() if path in rows}


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[Archive]:
    found = Archive(tmp_path)
    yield found
    found.index.close()


def test_records_are_kept_for_ever_unless_it_is_set_otherwise(archive: Archive) -> None:
    keeper = archive.keeper({BOTS: 0, RATED: 0, UNRATED: 0})
    assert keeper.apply_limits() == 0
    assert len(archive.left()) == 6
    defaults = Settings()
    assert (defaults.keep_bots_days, defaults.keep_rated_days, defaults.keep_unrated_days) == (0, 0, 0)


def test_kinds_have_limits_of_their_own(archive: Archive) -> None:
    """The file and the row go."""
    assert archive.keeper({BOTS: 5, RATED: 0, UNRATED: 15}).apply_limits() == 3
    assert archive.left() == {"rated 10", "rated 20", "unrated 10"}
    assert archive.keeper({BOTS: 5, RATED: 1, UNRATED: 1}).apply_limits() == 3
    assert archive.left() == set()
    assert list(Path(archive.store.url).rglob("*.zst")) == []


def _after(owner: type, name: str) -> Callable[[pytest.MonkeyPatch], None]:
    def patch(monkeypatch: pytest.MonkeyPatch) -> None:
        call = getattr(owner, name)

        def dying(*args: object) -> None:
            call(*args)
            raise Killed

        monkeypatch.setattr(owner, name, dying)

    return patch


def _at(owner: type, name: str) -> Callable[[pytest.MonkeyPatch], None]:
    def patch(monkeypatch: pytest.MonkeyPatch) -> None:
        def dying(*_: object) -> None:
            raise Killed

        monkeypatch.setattr(owner, name, dying)

    return patch


STEPS: Mapping[str, Callable[[pytest.MonkeyPatch], None]] = {
    "before the file": _at(RecordStore, "remove"),
    "after the file": _after(RecordStore, "remove"),
    "before the row": _at(Index, "remove"),
    "in the row": _at(Index, "_drop"),
    "after some of the row": _after(Index, "_drop"),
    "after the row": _after(Index, "remove"),
}


@pytest.mark.parametrize("name", STEPS)
def test_killed_at_every_step_of_a_removal(archive: Archive, name: str) -> None:
    """The next round ends it: no row without a file, no file without a row."""
    days = {BOTS: 5, RATED: 15}
    with pytest.MonkeyPatch.context() as patch:
        STEPS[name](patch)
        with pytest.raises(Killed):
            archive.keeper(days).apply_limits()
    for row in archive.index.page(Query(), 50)[0]:
        assert archive.store.exists(row.path) or row.path in (archive.kept["bots 10"], archive.kept["bots 20"])
    archive.keeper(days).apply_limits()
    assert archive.left() == {"rated 10", "unrated 10", "unrated 20"}


def test_one_process_at_a_time(archive: Archive) -> None:
    """Another one of this folder waits for its turn."""
    first, second = archive.keeper({BOTS: 5}), archive.keeper({BOTS: 5})
    done: list[int] = []
    with first._turn():
        waiting = threading.Thread(target=lambda: done.append(second.apply_limits()))
        waiting.start()
        time.sleep(0.3)
        assert done == []
        assert len(archive.left()) == 6
    waiting.join(10)
    assert done == [2]


async def test_whoever_waits_for_a_turn_can_be_stopped(archive: Archive) -> None:
    first, second = archive.keeper({BOTS: 5}), archive.keeper({BOTS: 5})
    with first._turn():
        second.start()
        await asyncio.sleep(0.2)
        await asyncio.wait_for(second.stop(), 60)
    assert len(archive.left()) == 6


async def test_what_other_nodes_have_written_is_taken_up(tmp_path: Path) -> None:
    """Of the last two days: their records lie in the same archive, their index elsewhere."""
    store = RecordStore(str(tmp_path / "archive"))
    records = [play(PARROT, number).record for number in range(3)]
    index = Index(tmp_path / "one.db")
    ended = records[0].head.outcome.ended_ms
    keeper = Keeper(store, index, Names(tmp_path / "n.db"), {}, wall_ms=lambda: ended + DAY_MS)
    assert keeper.catch_up() == 0
    paths = [store.put(record) for record in records]
    assert keeper.catch_up() == 3
    assert keeper.catch_up() == 0
    assert {row.path for row in index.page(Query(), 9)[0]} == set(paths)
    index.close()
    other = Index(tmp_path / "two.db")
    late = Keeper(store, other, Names(tmp_path / "n.db"), {}, wall_ms=lambda: ended + 9 * DAY_MS)
    assert late.catch_up() == 0
    await late.filled()
    assert late.looked_at == 3
    other.close()


async def test_names_of_deleted_accounts_go_at_every_node(archive: Archive) -> None:
    """What another gateway has deleted, this one forgets within a round; later notes do not bring it back."""
    archive.names.note({"a": "Ann", "b": "Bob"}, 1)
    asked: list[int] = []

    async def deleted(since_ms: int) -> list[str]:
        asked.append(since_ms)
        return ["a"]

    keeper = Keeper(archive.store, archive.index, archive.names, {}, deleted, lambda: NOW_MS)
    await keeper.forget()
    await keeper.forget()
    archive.names.note({"a": "Ann", "b": "Bob"}, 2)
    assert archive.names.of(["a", "b"], 3) == {"b": "Bob"}
    assert asked == [0, NOW_MS - DAY_MS]


def test_what_a_killed_process_has_left_half_written(tmp_path: Path) -> None:
    """Goes after a day; what is being written stays."""
    store = RecordStore(str(tmp_path))
    store.put(play(PARROT, 1).record)
    day = tmp_path / "2026/11/30"
    for name in (".old.tmp", ".new.tmp"):
        (day / name).write_bytes(b"half")
    os.utime(day / ".old.tmp", (1, 1))
    assert store.sweep() == 1
    assert sorted(path.name for path in day.glob(".*")) == [".new.tmp"]
