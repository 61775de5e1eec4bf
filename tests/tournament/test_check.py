"""Specs: each error names the field, its value, and what may stand there."""

from __future__ import annotations

from typing import Any

import pytest

from kangtou_services.tournament.check import check_spec
from kangtou_services.tournament.events import Event, State, ended, event_from, replayed, scheduled, started, submitted
from kangtou_services.tournament.model import Entrant, Game, Result, Spec

GOOD: dict[str, Any] = {
    "name": "cup",
    "game": "hongshi",
    "entrants": [{"name": "A", "bot": "greedy"}, {"name": "B", "command": "python 'my bot.py'"}],
}


def test_a_good_one_with_its_defaults() -> None:
    """A command line becomes words."""
    spec = check_spec(GOOD)
    assert isinstance(spec, Spec)
    assert spec.entrants == (Entrant("A", bot="greedy"), Entrant("B", command=("python", "my bot.py")))


@pytest.mark.parametrize(
    ("change", "field", "value", "allowed"),
    [
        ({"game": "poker"}, "game", "poker", "hongshi"),
        ({"sets": 0}, "sets", "0", "a whole number, 1"),
        ({"sets": True}, "sets", "true", "a whole number"),
        ({"concurrency": 10_000}, "concurrency", "10000", "1 … 256"),
        ({"format": "cup"}, "format", "cup", "round-robin, swiss"),
        ({"turn": 5}, "turn", "5", "there is no such field"),
        ({"name": ""}, "name", "", "1 to 64"),
        ({"entrants": GOOD["entrants"][:1]}, "entrants", "[{", "2 to 256"),
        ({"entrants": [{"name": "A", "bot": "greedy"}] * 2}, "entrants[1].name", "A", "no other entrant"),
        ({"entrants": [{"name": "A"}, GOOD["entrants"][0]]}, "entrants[0]", "(none)", "exactly one"),
        ({"entrants": [GOOD["entrants"][0], {"name": "B", "bot": "x"}]}, "entrants[1].bot", "x", "random, greedy"),
        (
            {"entrants": [GOOD["entrants"][0], {"name": "B", "bot": "greedy", "cpu_s": 0}]},
            "entrants[1].cpu_s",
            "0",
            "1 … 86400",
        ),
        ({"unit": "pair"}, "unit", "pair", "single"),
        ({"options": {"cut": True}}, "options.cut", "true", "false"),
        ({"options": {"rounds": "many"}}, "rounds", "many", "1 … 1000"),
        ({"stopping": {"method": "guess"}}, "stopping.method", "guess", "none"),
        (
            {"entrants": [GOOD["entrants"][0], {"name": "B", "account": "x"}]},
            "rotation",
            "full",
            "cross",
        ),
    ],
)
def test_what_is_wrong(change: dict[str, Any], field: str, value: str, allowed: str) -> None:
    """One problem, exactly."""
    found = check_spec({**GOOD, **change})
    assert isinstance(found, tuple)
    (one,) = found
    assert one.name == field
    assert one.given.startswith(value)
    assert allowed in one.allowed


def test_commands_are_for_operators() -> None:
    """Others are told what they may enter."""
    found = check_spec(GOOD, commands=False)
    assert isinstance(found, tuple)
    assert (found[0].name, "operators" in found[0].allowed) == ("entrants[1].command", True)


def test_the_log_gives_the_state() -> None:
    """Whatever is written twice counts once; an attempt that came to nothing leaves its game to be played again."""
    spec = check_spec(GOOD)
    assert isinstance(spec, Spec)
    game = Game("1-1-1", 0, (0, 1), 0, (0, 1, 0, 1), 2)
    result = Result(game, "m1", (1, -1, 1, -1), (1, 3, 1, 3), ("", "", "", ""), 40, 9)
    events = [
        submitted(spec, "ann", "c0ffee", 1),
        scheduled([game], 2),
        started(game, 0, "m0", "world", True, 3),
        replayed(game, 0, "a gateway was lost", 4),
        started(game, 1, "m1", "world", False, 5),
    ]
    state = State("t_abcdefghjkmn")
    for event in events:
        state.fold(event_from(event.to_text()))
    flight = state.flights[game.id]
    assert (flight.attempt, flight.match, state.isolated, state.length) == (1, "m1", False, 5)
    assert state.matches == {"1-1-1": ["m0", "m1"]}
    for event in (ended(result, {}, 6), ended(result, {}, 7)):
        state.fold(event)
    assert (state.results, state.moves, state.counted, state.flights) == ([result], 40, {"1-1-1": 1}, {})
    state.fold(Event("closed", 8, {"cause": "complete", "seed": "00ff"}))
    assert (state.open, state.seed) == (False, b"\x00\xff")
