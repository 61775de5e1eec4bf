"""The archiver on every twin of the log: the record of a match that was played there."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

from kangtou_engine.match.match import Game
from kangtou_services.archive import Archiver, Index, Query, RecordStore
from kangtou_services.archive.names import Names
from tests.games.parrot import GAME
from tests.records.make import ENGINE, play

from .conftest import LogTwin


async def test_record_from_the_log(twin: LogTwin, match: str, tmp_path: Path) -> None:
    """Written, then retired, and written no more; equal to the one made without a store."""
    game = Game(GAME)
    played = play(game, 3, {"rounds": 1}, takeover_every=8, match=match)
    log = twin.writer()
    await twin.store.create(match, played.agreement.to_json(), played.seed)
    await log.claim(match, "actor-1", None, played.entries[0])
    for before, entry in itertools.pairwise(played.entries):
        if "= claim" in entry.body:
            assert await log.claim(match, f"actor-{entry.epoch}", before, entry)
        else:
            await log.append(match, entry)
    archiver = Archiver(
        log, twin.store, RecordStore(str(tmp_path / "a")), Index(tmp_path / "i.db"), Names(tmp_path / "n.db")
    )
    await archiver.archive(match)
    await twin.store.retire(match, 60_000)
    await archiver.archive(match)
    ((row,), token) = archiver.index.page(Query(), 5)
    assert (row.match, token) == (match, "")
    record = archiver.records.get(row.path)
    assert replace(record, head=replace(record.head, engine=ENGINE)) == played.record
    archiver.index.close()
