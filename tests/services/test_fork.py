"""Forks: a match goes on from any place in a record, under the record's chance, and makes a record that is in order."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from kangtou_engine.game import TooMany
from kangtou_engine.match.match import Game
from kangtou_engine.notation import Left, read_body
from kangtou_engine.record import Record, make_record, write_record
from kangtou_engine.registry import REGISTRY, Registry
from kangtou_engine.replay import Replay
from kangtou_engine.verify import verify
from kangtou_services.agreement import BOT, HUMAN, Member
from kangtou_services.archive.archiver import terms_of
from kangtou_services.fork import CannotFork, Fork, fork, store
from kangtou_services.log.memory import MemoryLog, MemoryMatchStore, MemoryServer
from kangtou_services.table.commands import Command
from kangtou_services.table.core import Table
from kangtou_services.table.load import entries_to_load, load
from tests.conftest import Counts
from tests.games.parrot import GAME
from tests.records.make import play

PARROT = Game(GAME)
REGISTRIES = {"parrot": Registry([GAME]), **dict.fromkeys(REGISTRY.names(), REGISTRY)}
NOW_MS = 1_900_000_000_000
TURN_MS = 60_000


def members(seats: int) -> list[Member]:
    """Others than in the record; a person at seat 0."""
    return [Member(f"new{seat}", f"New {seat}", BOT if seat else HUMAN) for seat in range(seats)]


def forked(record: Record, position: int, game: str) -> Fork:
    """A fork of it."""
    return fork(REGISTRIES[game], record, position, members(len(record.head.terms.seats)), NOW_MS, TURN_MS)


async def loaded(made: Fork, game: Game) -> Table:
    """Through a log, and as a table host loads it."""
    server = MemoryServer()
    log, matches = MemoryLog(server), MemoryMatchStore(server)
    await store(made, log, matches)
    match = made.agreement.match_id
    assert await log.read(match) == list(made.entries)
    assert await matches.live() == [match]
    table = Table(game, made.agreement, made.seed, lambda: 0)
    load(table, await entries_to_load(log, match))
    return table


def played_on(made: Fork, table: Table, chance: random.Random) -> Record:
    """To its end, by random play."""
    entries = list(made.entries)
    now = NOW_MS
    while not table.over:
        now += 5
        seat = chance.choice(table.game.to_act(table.state))
        asked = table.prompts.asked[seat]
        assert asked is not None
        legal = table.game.legal(table.state, seat, 1000)
        action = table.game.default(table.state, seat) if isinstance(legal, TooMany) else chance.choice(legal)
        table.submit(Command(seat, f"f{table.seq}", asked.number, action))
        draft, answers = table.draft(now)
        assert draft is not None, answers
        assert draft.entry is not None
        table.commit(draft)
        entries.append(draft.entry)
    rows = [(entry.epoch, entry.seq, entry.chain, entry.body) for entry in entries]
    return make_record(terms_of(made.agreement), rows, made.seed, "0.1.0")


def places(replay: Replay, count: int, chance: random.Random) -> Sequence[int]:
    """Some of all: the first, the last before the end, and others."""
    last = len(replay.moments) - 2
    return [0, last, *(chance.randrange(1, last) for _ in range(count))]


@pytest.mark.parametrize("name", sorted(REGISTRIES))
async def test_it_goes_on_from_any_place(name: str, counts: Counts) -> None:
    """Same state, time for whoever is asked, the record's packs from then on; what comes of it can be verified."""
    game = REGISTRIES[name].game(name)
    again = 0
    for number in range(counts(1, 12)):
        chance = random.Random(number)
        record = play(game, number, {"rounds": 2}, takeover_every=9, timeout_every=7).record
        replay = Replay(game, record)
        packs = [event for moment in replay.moments for event in moment.events if event.startswith("round_began ")]
        for place in places(replay, counts(2, 10), chance):
            made = forked(record, place, name)
            table = await loaded(made, game)
            at = max(place, 1)
            assert table.state == replay.state(at)
            assert [one.deadline_ms > NOW_MS for one in table.prompts.asked if one] != []
            assert all(one.deadline_ms > NOW_MS for one in table.prompts.asked if one)
            end = played_on(made, table, chance)
            report = verify(write_record(end), REGISTRIES[name])
            assert report.ok, report.findings
            assert report.rerun
            later = Replay(game, end)
            assert [later.events(n) for n in range(at)] == [replay.events(n) for n in range(at)]
            begun = [event for moment in later.moments for event in moment.events if event.startswith("round_began ")]
            for one, other in zip(begun, packs, strict=False):
                assert one.partition(" pile=")[2] == other.partition(" pile=")[2]
                again += 1
    assert again > 2


def test_within_an_entry() -> None:
    """An entry that holds several things is cut behind the one that happened last."""
    record = play(REGISTRY.game("hongshi"), 2, {"rounds": 1, "between": False}).record
    replay = Replay(REGISTRY.game("hongshi"), record)
    made = forked(record, 1, "hongshi")
    first = read_body(made.entries[-2].body)
    assert (first.begin is not None, first.items) == (True, ())
    assert replay.moments[0].begin


def test_standing_answers_do_not_go_on() -> None:
    """What somebody else had left is revoked."""
    played = play(PARROT, 3)
    table = Table(PARROT, played.agreement, played.seed, lambda: 0)
    load(table, played.entries[:6])
    action = PARROT.default(table.state, PARROT.to_act(table.state)[0])
    table.submit(Command(1, "s1", 0, action, standing=True))
    draft, _ = table.draft(NOW_MS - 1_000_000)
    assert draft is not None
    assert draft.entry is not None
    table.commit(draft)
    closing = table.close(NOW_MS - 999_000, "abandoned")
    assert closing is not None
    assert closing.entry is not None
    entries = [*played.entries[:6], draft.entry, closing.entry]
    rows = [(entry.epoch, entry.seq, entry.chain, entry.body) for entry in entries]
    record = make_record(terms_of(played.agreement), rows, played.seed, "0.1.0")
    made = forked(record, 1_000, "parrot")
    assert Left(1, "fork-1", None) in read_body(made.entries[-1].body).items
    again = Table(PARROT, made.agreement, made.seed, lambda: 0)
    load(again, made.entries)
    assert again.standing == {}
    assert again.cause == ""


def test_where_nothing_can_go_on() -> None:
    """After the end, before the beginning, under rules that are not here."""
    record = play(PARROT, 3).record
    with pytest.raises(CannotFork) as caught:
        forked(record, len(Replay(PARROT, record).moments), "parrot")
    assert caught.value.code == "over"
    empty = play(PARROT, 4, stop_after=1, closed=(0,)).record
    with pytest.raises(CannotFork) as caught:
        forked(empty, 0, "parrot")
    assert caught.value.code == "not_begun"
    with pytest.raises(CannotFork) as caught:
        fork(REGISTRY, record, 0, members(4), NOW_MS, TURN_MS)
    assert caught.value.code == "not_here"
