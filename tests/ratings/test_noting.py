"""From a match that ended to its rating: the archiver cut off at every step and called again, then once more."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import pytest

from kangtou_engine.match.match import Game
from kangtou_engine.record import Head
from kangtou_engine.registry import Registry
from kangtou_services.archive import Archiver, Index, RecordStore
from kangtou_services.archive.names import Names
from kangtou_services.identity import StoreUnavailable
from kangtou_services.log.memory import MemoryLog, MemoryMatchStore, MemoryServer
from kangtou_services.ratings import Applier, Ladder, MemoryRatingStore
from kangtou_services.ratings.noting import Noting
from tests.games.parrot import GAME
from tests.records.make import Played, play


class Killed(BaseException):
    """In place of a process that is killed."""


async def logged(played: Played, *, rated: bool) -> tuple[MemoryLog, MemoryMatchStore, str]:
    """The log of a match of bots, each of an account of its own."""
    members = tuple(
        replace(member, account_id=f"bot{seat}", kind="bot") for seat, member in enumerate(played.agreement.members)
    )
    agreement = replace(played.agreement, members=members, rated=rated)
    server = MemoryServer()
    log, store = MemoryLog(server), MemoryMatchStore(server)
    match = agreement.match_id
    await store.create(match, agreement.to_json(), played.seed)
    await log.claim(match, "actor-1", None, played.entries[0])
    for before, entry in itertools.pairwise(played.entries):
        if "= claim" in entry.body:
            await log.claim(match, "another", before, entry)
        else:
            await log.append(match, entry)
    return log, store, match


@pytest.mark.parametrize("cut", ["before", "after", "unreachable", "rated no", "abandoned"])
async def test_once_through_kills(cut: str, tmp_path: Path) -> None:
    game = Game(GAME)
    played = play(game, 4, {"rounds": 1}, stop_after=6 if cut == "abandoned" else 0)
    log, store, match = await logged(played, rated=cut != "rated no")
    ratings = MemoryRatingStore()
    noting = Noting(ratings, Registry([GAME]))
    archiver = Archiver(
        log, store, RecordStore(str(tmp_path / "a")), Index(tmp_path / "i.db"), Names(tmp_path / "n.db")
    )
    cuts = [cut]

    async def dying(head: Head) -> None:
        now = cuts.pop() if cuts else ""
        if now == "before":
            raise Killed
        ratings.reached = now != "unreachable"
        try:
            await noting(head)
        finally:
            ratings.reached = True
        if now == "after":
            raise Killed

    archiver.on_archived.append(dying)
    if cut in ("before", "after"):
        with pytest.raises(Killed):
            await archiver.archive(match)
    if cut == "unreachable":
        with pytest.raises(StoreUnavailable):
            await archiver.archive(match)
    for _ in range(2):
        await archiver.archive(match)
    await store.retire(match, 60_000)
    await archiver.archive(match)
    counts = cut not in ("rated no", "abandoned")
    assert await ratings.length() == counts
    assert await Applier(ratings).catch_up() == counts
    assert await Applier(ratings).catch_up() == 0
    held = (await ratings.everything())[1]
    if counts:
        ladder = held[Ladder("parrot", "", "bot")]
        places = played.record.head.outcome.places
        assert places is not None
        assert sorted(ladder) == [f"bot{seat}" for seat in range(len(places))]
        best = min(range(len(places)), key=lambda seat: places[seat])
        assert max(ladder, key=lambda name: ladder[name].mu) == f"bot{best}" or places.count(1) > 1
    else:
        assert held == {}
    archiver.index.close()
