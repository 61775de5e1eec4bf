"""A place in a record: stepping, seeking, playing at a pace, other sides, clocks as they were."""

from __future__ import annotations

import time
from itertools import pairwise
from random import Random

import pytest

from kangtou_clients.replaying import NoPlace, Player, Times, position_of
from kangtou_engine.game import TooMany
from kangtou_engine.match.match import Game
from kangtou_engine.notation import Step
from kangtou_engine.registry import REGISTRY
from kangtou_engine.replay import OPEN, Replay
from kangtou_services.table.core import Table
from kangtou_services.table.load import load
from tests.conftest import Bound, Counts
from tests.games.parrot import GAME
from tests.records.make import play

PARROT = Game(GAME)


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.time = 0.0
        self.slept: list[float] = []

    def now(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds


def replay_of(number: int = 3, **options: object) -> Replay:
    """A match of the small game."""
    return Replay(PARROT, play(PARROT, number, {"rounds": 3, **options}, takeover_every=9, timeout_every=7).record)


@pytest.mark.parametrize("name", REGISTRY.names())
def test_questions_are_those_that_the_answers_name(name: str, counts: Counts) -> None:
    """Numbers of open questions, worked out from the record, are the prompts that the recorded actions answered."""
    checked = 0
    for number in range(counts(2, 30)):
        played = play(REGISTRY.game(name), number, {"rounds": 2}, takeover_every=19, timeout_every=13)
        replay = Replay(played.game, played.record)
        times = Times(replay)
        for moment in replay.moments:
            item = moment.item
            if isinstance(item, Step) and item.seat is not None:
                asked = times.asked(moment.number)[item.seat]
                assert asked is not None
                assert asked.number == item.prompt
                checked += 1
            thought = times.thought(moment.number)
            assert (thought is None) == (not isinstance(item, Step))
            if thought is not None and thought.late:
                assert thought.ms >= thought.limit_ms
    assert checked > 50


def test_clocks_are_those_of_the_table() -> None:
    """After every entry the questions and deadlines are those of a table that has loaded the log so far."""
    played = play(PARROT, 4, {"rounds": 3, "between": True}, takeover_every=9, timeout_every=7)
    replay = Replay(PARROT, played.record)
    times = Times(replay)
    asked = 0
    for count, entry in enumerate(played.entries, 1):
        position = replay.find_seq(entry.seq)
        if not position or replay.moments[position - 1].seq != entry.seq or count == len(played.entries):
            continue
        table = Table(PARROT, played.agreement, played.seed, lambda: 0)
        load(table, played.entries[:count])
        wanted = [one and (one.number, one.own_ms, one.deadline_ms) for one in table.prompts.asked]
        found = [
            one and (one.number, one.since_ms + one.limit_ms, one.since_ms + one.limit_ms + one.bank_ms)
            for one in times.asked(position)
        ]
        assert found == wanted
        asked += sum(one is not None for one in found)
    assert asked > 30


def test_thinking_leaves_out_what_was_given_back() -> None:
    """An outage between question and answer is nobody's thinking."""
    replay = replay_of()
    times = Times(replay)
    given = {entry.seq: entry.body.given_ms for entry in replay.record.entries}
    seen = 0
    for moment in replay.moments:
        thought = times.thought(moment.number)
        item = moment.item
        if thought is None or not isinstance(item, Step) or item.seat is None:
            continue
        put = next(entry for entry in replay.record.entries if entry.seq == item.prompt)
        outage = sum(ms for seq, ms in given.items() if item.prompt < seq <= moment.seq)
        assert thought.ms == max(0, moment.time_ms - put.body.time_ms - outage)
        seen += 1
    assert seen > 20


def test_steps_and_sides() -> None:
    """Forth and back; another side keeps the place; what one may not see is not given."""
    player = Player(replay_of())
    assert player.back() is None
    first = player.forward()
    assert first is not None
    assert (first.number, player.position) == (0, 1)
    player.seek("2:2")
    here = player.position
    seat = player.to_act()[0]
    legal = player.legal(seat)
    assert not isinstance(legal, TooMany)
    assert legal
    for who in (seat, None, OPEN):
        player.look(who)
        assert player.position == here
        assert player.view == player.replay.view(here, who)
    player.look((seat + 1) % 4)
    with pytest.raises(ValueError, match="closed"):
        player.legal(seat)
    for nobody in (9, -1, "closed"):
        with pytest.raises(ValueError, match="nobody"):
            player.look(nobody)
    player.seek("end")
    assert player.forward() is None
    assert player.to_act() == ()
    assert player.asked() == (None,) * 4
    assert player.since_ms > 0


def test_places() -> None:
    """As people write them; what is not there is said with what is."""
    replay = replay_of()
    last = replay.moments[-1]
    assert position_of(replay, "end") == len(replay.moments) == position_of(replay, f"@{last.seq}")
    assert position_of(replay, "=4") == 4
    assert position_of(replay, "2") == replay.find(2)
    assert position_of(replay, "2:2") == replay.find(2, 2)
    assert position_of(replay, "+0") == 1
    moment = replay.moments[12]
    since = moment.time_ms - replay.moments[0].time_ms
    for text in (f"+{since / 1000:.3f}", f"+0:{since / 1000:.3f}", f"+0:0:{since / 1000:.3f}"):
        assert replay.moments[position_of(replay, text) - 1].time_ms == moment.time_ms
    wrong = {
        "99:99": "no_round",
        "0": "no_round",
        "1:99": "no_trick",
        "1:0": "no_trick",
        "@99999": "no_seq",
        "+99999": "no_time",
        "=99999": "no_position",
        "+": "bad_place",
        "two": "bad_place",
        "": "bad_place",
    }
    for text, code in wrong.items():
        with pytest.raises(NoPlace) as caught:
            position_of(replay, text)
        assert caught.value.code == code


async def test_playing_takes_the_time_that_it_took() -> None:
    """At a speed, with no wait longer than the longest; on from where it was sought to; ended by a pause."""
    replay = replay_of()
    moments = replay.moments
    clock = Clock()
    player = Player(replay, 0, longest_s=2.0)
    numbers = [number async for number in player.play(4.0, clock=clock)]
    assert numbers == list(range(len(moments)))
    gaps = [min((b.time_ms - a.time_ms) / 4000, 2.0) for a, b in pairwise(moments)]
    assert clock.slept == pytest.approx([0.0, *gaps])
    player.go(5)
    seen = []
    async for number in player.play(0, until=20, clock=clock):
        seen.append(number)
        if number == 7:
            player.go(15)
        if number == 17:
            player.pause()
    assert seen == [5, 6, 7, 15, 16, 17]
    assert player.position == 18
    assert not player.playing


# Variants with the longest rounds. A match may have 1,000 rounds by every book.
LONG: dict[str, dict[str, object]] = {
    "hongshi": {},
    "duizhu": {"windows": "lap"},
    "erbaiwu": {"limit": 0},
    "wushik": {"variant": "chengde2"},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", REGISTRY.names())
def test_seeking_is_fast(name: str, counts: Counts, bound: Bound) -> None:
    """Any place of a very long match within 50 ms, view, clocks and search for the place included."""
    options = {**LONG[name], "between": False, "rounds": counts(3, 1000 if name == "hongshi" else 200)}
    replay = Replay(REGISTRY.game(name), play(REGISTRY.game(name), 1, options).record)
    player = Player(replay)
    last = replay.moments[-1]
    slowest: list[tuple[float, str]] = []
    for place in _places(player, last.round, counts(40, 400)):
        tries = []
        for far in ("=0", "end", "=0"):  # the best of three: another process may have the core
            player.seek(far)
            player.asked()
            began = time.perf_counter()
            player.seek(place)
            player.look(player.position % replay.config.seats)
            assert player.view.phase
            player.asked()
            tries.append(time.perf_counter() - began)
        slowest.append((min(tries), place))
    seconds, place = max(slowest)
    print(f"{name}: {player.length} moments, {last.round} rounds, slowest seek {seconds * 1000:.1f} ms (to {place})")
    assert seconds < bound(0.050)


def _places(player: Player, rounds: int, count: int) -> list[str]:
    """Positions, entries, times and rounds all over the match, one far from the other."""
    dice = Random(4)
    found = ["end", "=0", "=1"]
    length = player.replay.moments[-1].time_ms - player.replay.moments[0].time_ms
    for _ in range(count // 4):
        found += [f"={dice.randrange(player.length)}", f"{dice.randrange(1, rounds + 1)}"]
        found += [f"@{dice.randrange(1, player.replay.moments[-1].seq)}", f"+{dice.randrange(length) // 1000}"]
    return found
