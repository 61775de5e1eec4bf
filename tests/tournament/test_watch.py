"""Who is at fault, for every order in which time-outs, exits, the end and losses may be seen. docs/tournaments.md."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from kangtou.internal.v1 import link_pb2 as lpb
from kangtou_engine.games import hongshi
from kangtou_engine.match.match import Game
from kangtou_engine.record import Record
from kangtou_services.tournament import game_run, watch
from kangtou_services.tournament.forfeits import penalty
from kangtou_services.tournament.game_run import Done, Void
from kangtou_services.tournament.sets import config_of

from ..records.make import play
from .made import spec_of
from .pretended import SETTLE_LOOKS, Pretended

QUIET = " | /" * SETTLE_LOOKS  # nothing happens until it is judged
WORST = penalty(config_of(spec_of(4)))

# What happens, and who has faulted.
COURSES: Mapping[str, Mapping[int, str]] = {
    # the end alone, and what comes after it
    "rules /": {},
    "/ | / | rules /": {},
    "rules / | exit0 exit1 exit2 exit3 /": {},
    # in one look nobody can tell what came first, and nobody's clock has run out
    "exit1 rules /": {},
    "rules exit1 /": {},
    # who has ended when the log has no end has left early, whatever comes after
    "exit1 / | / | rules /": {1: "crash"},
    "exit1 / | / | late1 / | rules /": {1: "crash"},
    "exit1 / | /" + QUIET: {1: "crash"},
    "exit1 exit2 / | / | rules /": {1: "crash", 2: "crash"},
    "exit1 / | / | exit2 / | / | rules /": {1: "crash", 2: "crash"},
    "exit1 / | / | rules / | exit2 /": {1: "crash"},
    "exit1 / | late1 rules /": {1: "crash"},
    # a time-out, however the match ends
    "late1 /" + QUIET: {1: "timeout"},
    "late1 rules /": {1: "timeout"},
    "late1 / | rules /": {1: "timeout"},
    "late1 late1 rules exit1 /": {1: "timeout"},
    "late1 / | late2 / | rules /": {1: "timeout", 2: "timeout"},
    "late1 / | exit2 / | / | rules /": {1: "timeout", 2: "crash"},
    "late2 rules / | exit1 / | /": {2: "timeout"},
}

# What happens, and why nobody is blamed and it is played again.
NOBODY: Mapping[str, str] = {
    "late1 epoch /" + QUIET: "the table was taken over",
    "epoch / | late1 rules /": "the table was taken over",
    "late1 / | world /" + QUIET: "a gateway, an actor or the store was lost",
    "world late1 rules /": "a gateway, an actor or the store was lost",
    "exit1 / | / | world rules /": "a gateway, an actor or the store was lost",
    "down / | / | late1 /" + QUIET: "the store could not be reached",
    "exit1 / | / | down /" + QUIET: "the store could not be reached",
    "aborted /": "the match ended: aborted",
    "operator /": "the match ended: operator",
    "late1 / | operator /": "the match ended: operator",
}


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The course says what comes when; nothing is waited for."""
    monkeypatch.setattr(watch, "LOOK_S", 0.0)
    monkeypatch.setattr(game_run, "PAUSE_S", 0.0)
    monkeypatch.setattr(game_run, "LOOK_ALONE_S", 0.0)


def recorded(timeout_every: int = 0) -> Record:
    """A match that has ended by the rules."""
    return play(Game(hongshi.GAME), options={"rounds": 1}, timeout_every=timeout_every).record


async def outcome(here: Pretended) -> Done | Void:
    """What becomes of it. Nobody's process is left, none was ended before its match."""
    async with asyncio.timeout(60):
        found = await here.run.run()
    assert all(process.killed for process in here.processes.values())
    return found


def faults(found: Done | Void) -> dict[int, str]:
    """Who has faulted, and how."""
    assert isinstance(found, Done), found
    return {seat: fault for seat, fault in enumerate(found.result.faults) if fault}


@pytest.mark.parametrize("course", COURSES)
async def test_who_has_faulted_pays(course: str) -> None:
    """It gets a score that is worse than any by the rules, all others 0. Without a fault the record's are taken."""
    record = recorded()
    silent, away = lpb.LATENESS_SILENT, lpb.LATENESS_DISCONNECTED
    here = Pretended(course, kept={1: away if course.startswith("exit1") else silent, 2: silent}, record=record)
    found = await outcome(here)
    guilty = COURSES[course]
    assert faults(found) == guilty
    assert isinstance(found, Done)
    paid = tuple(WORST if seat in guilty else 0 for seat in range(4))
    assert found.result.scores == (paid if guilty else record.head.outcome.scores)
    assert found.details == {str(seat): "the last words" for seat in guilty}
    assert here.cause == ("rules" if "rules" in course else "forfeit")


@pytest.mark.parametrize("course", NOBODY)
async def test_nobody_is_blamed_for_what_was_lost(course: str) -> None:
    """It is played again, also if it has come to its end, which is brought about if not."""
    here = Pretended(course, kept={}, record=recorded())
    found = await outcome(here)
    assert isinstance(found, Void)
    assert found.why == NOBODY[course]
    assert here.cause


async def test_a_hiccup_of_the_store_ends_no_process() -> None:
    """They play on, and nobody is blamed."""
    here = Pretended("down / | / | rules /", record=recorded())
    assert faults(await outcome(here)) == {}
    assert here.seconds >= 3


async def test_a_built_in_bot_is_never_at_fault() -> None:
    """Its clock has run out: whatever the others have done, it is played again."""
    found = await outcome(Pretended("late0 exit1 / | /" + QUIET, bots=(0,), kept={}))
    assert isinstance(found, Void)
    assert found.why == "a built-in bot was not played"


@pytest.mark.parametrize("bots", [(), (0, 1, 2, 3)])
async def test_a_table_that_stands_still(bots: tuple[int, ...]) -> None:
    """It cannot be played on, and may not even be ended: nobody's fault, and not waited for for ever."""
    here = Pretended("/", bots=bots, kept=None, stoppable=not bots)
    found = await outcome(here)
    assert isinstance(found, Void)
    assert found.why == "the table stands still"
    assert here.cause == ("" if bots else "aborted")


KINDS = {
    lpb.LATENESS_ILLEGAL: "illegal",
    lpb.LATENESS_DISCONNECTED: "disconnected",
    lpb.LATENESS_SILENT: "timeout",
}


@pytest.mark.parametrize("kept", KINDS)
async def test_the_kind_is_what_the_table_kept(kept: lpb.Lateness.ValueType) -> None:
    """Also when the match has ended since."""
    assert faults(await outcome(Pretended("late1 rules /", kept={1: kept}))) == {1: KINDS[kept]}


async def test_a_table_that_is_gone_knows_no_kind() -> None:
    """It has faulted all the same."""
    assert faults(await outcome(Pretended("late1 rules /", kept=None))) == {1: "timeout"}


# ---- built-in bots alone ----


async def alone(record: Record | None, *said: Mapping[str, Any]) -> tuple[Done | Void, int]:
    """What becomes of it when the seats have said that, and how often the log was read."""
    here = Pretended("rules", bots=(0, 1, 2, 3), record=record)
    for seat, one in enumerate(said):
        told = {"seat": seat, "cause": "rules", "scores": [3, 1, -1, -3], "places": [1, 2, 3, 4], "moves": 10}
        here.run.told({**told, "late": 0, "whole": True, **one})
    if record is not None:
        here.end("rules")
    return await outcome(here), here.seconds


async def test_a_game_as_the_bots_have_seen_it() -> None:
    """The log need not be read."""
    found, readings = await alone(None, {}, {}, {}, {})
    assert isinstance(found, Done)
    assert (found.result.scores, found.result.moves, readings) == ((3, 1, -1, -3), 40, 0)


async def test_a_game_in_which_the_clock_played_is_void() -> None:
    """It is not what the seed gives: whether a bot has seen it, or only the record says so."""
    for found, _ in (
        await alone(None, {}, {"late": 1}, {"whole": False}, {}),
        await alone(recorded(timeout_every=5), {}, {"whole": False}, {}, {}),
    ):
        assert isinstance(found, Void)
        assert found.why == game_run.CLOCK_PLAYED


async def test_a_game_that_no_bot_has_seen_whole_is_as_the_record_has_it() -> None:
    """With all its moves."""
    record = recorded()
    found, _ = await alone(record, {}, {"whole": False}, {}, {})
    assert isinstance(found, Done)
    assert (found.result.scores, found.result.moves) == (record.head.outcome.scores, record.head.outcome.moves)
