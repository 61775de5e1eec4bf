"""Replay from events: any position, any view; equal to what was sent live."""

from __future__ import annotations

import timeit
from dataclasses import replace

import pytest

from kangtou.v1 import play_pb2 as pb
from kangtou.wire import event_from_pb
from kangtou_engine.events import Event
from kangtou_engine.match.match import Game
from kangtou_engine.record import write_record
from kangtou_engine.registry import REGISTRY, Registry
from kangtou_engine.replay import OPEN, Replay, Who, find_game
from tests.conftest import Bound, Counts
from tests.games.parrot import GAME
from tests.records.make import Played, play

PARROT = Game(GAME)


def sent(played: Played, who: int | None) -> list[Event]:
    """All events that a seat or a spectator was sent live, one after another."""
    return [
        event_from_pb(played.game, event)
        for payload in played.sent[who]
        for update in pb.PlayResponse.FromString(payload).updates
        for event in update.entry.events
    ]


def replayed(replay: Replay, who: Who) -> list[Event]:
    """The same from the record."""
    return [event for moment in replay.moments for event in replay.seen(moment.number, who)]


@pytest.mark.parametrize("name", REGISTRY.names())
def test_replay_equals_live(name: str, counts: Counts) -> None:
    """For every seat and a spectator, of every game, also after takeovers."""
    for number in range(counts(2, 40)):
        played = play(REGISTRY.game(name), number, {"rounds": 1}, takeover_every=19, timeout_every=13)
        replay = Replay(played.game, played.record)
        for who in (*range(replay.config.seats), None):
            assert replayed(replay, who) == sent(played, who)


def test_any_position_is_what_folding_from_the_beginning_gives() -> None:
    """Whatever was asked before: seeking back and forth."""
    played = play(PARROT, 3, {"rounds": 3, "between": True})
    replay = Replay(PARROT, played.record)
    state = PARROT.before(replay.config)
    folded = [state]
    for moment in replay.moments:
        state = PARROT.fold(replay.events(moment.number), state)
        folded.append(state)
    last = len(replay.moments)
    for position in (last, 0, 1, 2, last // 2, last // 2 + 1, last - 1, 5, last, 3):
        assert replay.state(position).game == folded[position].game
        assert replay.state(position).phase == folded[position].phase
        assert replay.state(position).sheet.scores == folded[position].sheet.scores
        for who in (0, 1, None):
            assert replay.view(position, who) == PARROT.view(replay.state(position), who)
    assert replay.view(last, OPEN) == replay.state(last)


def test_seeking_by_round_trick_seq_and_time() -> None:
    """Positions from what people say."""
    played = play(PARROT, 3, {"rounds": 3})
    replay = Replay(PARROT, played.record)
    at = replay.find(2, 3)
    assert replay.state(at).sheet.round == 2
    won = [event for n in range(replay.find(2), at) for event in replay.moments[n].events if "trick_won" in event]
    assert len(won) == 2
    assert replay.find(9) == len(replay.moments)
    assert replay.find(1) == 1  # after the lot and the deal
    middle = replay.moments[20]
    assert replay.moments[replay.find_seq(middle.seq) - 1].seq == middle.seq
    assert replay.moments[replay.find_time(middle.time_ms) - 1].time_ms == middle.time_ms


def test_lines_of_moments_are_those_of_the_text() -> None:
    """So that whoever shows a moment can name its line."""
    record = play(PARROT, 5, takeover_every=7, timeout_every=5).record
    lines = write_record(record).split("\n")
    for moment in Replay(PARROT, record).moments:
        head = lines[moment.line - 1]
        assert head.startswith(("> ", "~ ", "= begin", "= end"))
        assert tuple(lines[moment.line : moment.line + len(moment.events)]) == moment.events


def test_seeking_is_fast(counts: Counts, bound: Bound) -> None:
    """Any position of a long match within 50 ms, the best of three tries."""
    replay = Replay(PARROT, play(PARROT, 1, {"rounds": counts(60, 400)}).record)
    slowest = 0.0
    for position in range(0, len(replay.moments), len(replay.moments) // 40):
        slowest = max(slowest, min(timeit.repeat(lambda at=position: replay.state(at), number=1, repeat=3)))  # type: ignore[misc]
    assert slowest < bound(0.050)


def test_a_rules_version_that_is_not_here_replays_from_its_events() -> None:
    """By the newest version that reads it; without any there is nothing to show but the lines."""
    record = play(Game(replace(GAME, version=7)), 2).record
    found = find_game(Registry([GAME]), record)
    assert found is not None
    assert found[1] is False
    replay = Replay(found[0], record)
    assert replay.state(len(replay.moments)).sheet.places is not None
    assert find_game(Registry([]), record) is None
