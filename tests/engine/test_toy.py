"""Rules versions, shown with the toy game; and that the registry-wide tests notice what is wrong with a game."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import pytest

from kangtou_engine.actions import Action, parse_action
from kangtou_engine.cards import Cards, Seat
from kangtou_engine.errors import BadOptions, BadText, IllegalAction
from kangtou_engine.events import Event, from_text, to_text
from kangtou_engine.game import GameSpec, Legal
from kangtou_engine.match.events import Scored
from kangtou_engine.match.match import AnyState, Game
from kangtou_engine.match.state import State
from kangtou_engine.registry import SPECS, Registry
from tests.engine import test_registry_leaks as leaks
from tests.engine import toy
from tests.engine.laws import watch_match
from tests.engine.tables import Table, chance_of, facts_of, pick_of
from tests.engine.toy import TOY_1, TOY_2, Own

REGISTRY = Registry((TOY_2, *SPECS, TOY_1))


def tables_of(spec: GameSpec[Any]) -> list[Table]:
    """As tests.engine.tables gives for registered games."""
    return [Table(Game(spec), toy, seats, options, 3) for seats, options in toy.OPTION_SETS]


# ---- versions ----


def test_new_matches_take_the_newest_version() -> None:
    """By name the newest, whatever the order of registration; every version under its number."""
    assert REGISTRY.game("toy").spec is TOY_2
    assert REGISTRY.game("toy", 1).spec is TOY_1
    assert REGISTRY.game("toy", 2).spec is TOY_2
    assert REGISTRY.names().count("toy") == 1
    assert REGISTRY.game("toy").config({}).version == 2


@pytest.mark.parametrize(("name", "version"), [("toy", 3), ("tou", None), ("hongshi", 99)])
def test_unknown_versions_are_refused(name: str, version: int | None) -> None:
    """And it says what there is."""
    with pytest.raises(BadOptions) as refused:
        REGISTRY.game(name, version)
    assert "toy" in refused.value.allowed


def play(game: Game, state: AnyState, steps: int, rng: Random, log: list[tuple[int, str, list[str]]]) -> AnyState:
    """Some steps of a match, logged as texts."""
    for _ in range(steps):
        if state.phase == "over":
            break
        seat = game.to_act(state)[0]
        action = game.spec.random(state, seat, game.legal(state, seat, 9), pick_of(rng))
        events, state = game.step(state, seat, action, chance_of(1))
        log.append((seat, str(action), [to_text(event) for event in events]))
    return state


def test_an_old_match_goes_on_under_its_version() -> None:
    """A match of version 1 that is found unfinished ends under version 1, though new ones take version 2."""
    old = Registry((TOY_1,)).game("toy")
    config = old.config({"rounds": 3})
    events, state = old.begin(config, chance_of(1))
    begun = [to_text(event) for event in events]
    log: list[tuple[int, str, list[str]]] = []
    whole = play(old, state, 10_000, Random(5), log)
    half = log[: len(log) // 2]

    game = REGISTRY.game(config.game, config.version)  # what a table does that finds the match
    texts = [*begun, *(text for _, _, caused in half for text in caused)]
    state = game.fold((from_text(game.events, text) for text in texts), game.before(config))
    for seat, text, caused in log[len(half) :]:
        events, state = game.step(state, seat, parse_action(text), chance_of(1))
        assert [to_text(event) for event in events] == caused
    assert state == whole
    assert state.phase == "over"


def test_the_versions_differ() -> None:
    """The same actions under the newer version score otherwise or are refused."""
    old, new = REGISTRY.game("toy", 1), REGISTRY.game("toy", 2)
    log: list[tuple[int, str, list[str]]] = []
    config = old.config({"rounds": 1})
    ended = play(old, old.begin(config, chance_of(1))[1], 10_000, Random(2), log)
    _, state = new.begin(replace(config, version=2), chance_of(1))
    try:
        for seat, text, _ in log:
            _, state = new.step(state, seat, parse_action(text), chance_of(1))
    except IllegalAction as error:
        assert error.rule == "TY-3"  # noqa: PT017
    else:
        assert state.sheet.scores != ended.sheet.scores


# ---- the tests themselves ----


@pytest.mark.parametrize("table", [*tables_of(TOY_1), *tables_of(TOY_2)], ids=str)
def test_laws_and_leaks_of_the_toy(table: Table) -> None:
    """A sound game passes."""
    for seed in range(5):
        watch_match(table, seed)
    assert sum(leaks.compare(table, seed) for seed in range(5)) > 15


def test_a_game_without_facts_fails_clearly() -> None:
    """The failure says which file is wanted."""
    with pytest.raises(pytest.fail.Exception, match=r"tests/engine/nosuchgame/facts\.py"):
        facts_of("nosuchgame")


@dataclass(frozen=True, slots=True)
class OpenlyDealt(toy.Dealt):
    """Shows a spectator the stock's first card."""

    def seen_by(self, seat: Seat | None) -> toy.Dealt:
        """Too much."""
        seen = toy.Dealt.seen_by(self, seat)
        return replace(seen, stock=(self.stock or ())[:1])


def _peek(state: State[Own], seat: Seat | None) -> Own:
    own = toy.view(state, seat)
    return replace(own, stock=(state.game.stock or ())[:1]) if state.phase == "play" else own


def _all_hands(state: State[Own], seat: Seat | None) -> Own:
    return replace(toy.view(state, seat), hands=state.game.hands)


def _openly(state: State[Own]) -> tuple[Event, ...]:
    (dealt,) = toy.deal(state)
    assert isinstance(dealt, toy.Dealt)
    return (OpenlyDealt(dealt.hands, dealt.stock),)


def _opened(state: State[Own], event: Event) -> State[Own]:
    return toy.evolve(state, event)


def phase(**changes: Any) -> dict[str, Any]:
    """The phase of version 1 with something else."""
    return {"phases": {"play": replace(toy.phase_of(toy.ONE), **changes)}}


def _telling(state: State[Own], seat: Seat, action: Action) -> tuple[Event, ...]:
    """Names the next seat's card in a refusal."""
    try:
        return toy.decide(toy.ONE, state, seat, action)
    except IllegalAction:
        other = state.game.hands[(seat + 1) % len(state.game.hands)]
        raise IllegalAction("TY-2", "not_in_hand", cards=" ".join(other[:1])) from None


def _short(state: State[Own], seat: Seat, limit: int) -> Legal:
    listed = toy.legal(toy.ONE, state, seat, limit)
    assert isinstance(listed, tuple)
    return listed[:-1] or listed


def _twice(state: State[Own], seat: Seat, limit: int) -> Legal:
    listed = toy.legal(toy.ONE, state, seat, limit)
    assert isinstance(listed, tuple)
    return (*listed, listed[0])


def _losing(state: State[Own], event: Event) -> State[Own]:
    after = toy.evolve(state, event)
    if isinstance(event, toy.Buried):
        return after.with_game(replace(after.game, laid=(*after.game.laid[:-1], "RJ")))
    return after


def _generous(state: State[Own]) -> tuple[Event, ...]:
    events = toy.automatic(toy.ONE, state)
    return tuple(
        replace(event, points=(1,) * state.config.seats) if isinstance(event, Scored) else event for event in events
    )


def _stock_seen(state: State[Own], seat: Seat) -> Action:
    """A default that depends on hidden cards."""
    others: Cards = state.game.hands[(seat + 1) % len(state.game.hands)]
    hand = state.game.hands[seat]
    return Action("play", (hand[-1 if others and others[0][0] == "S" else 0],))


WRONG: dict[str, tuple[dict[str, Any], Callable[[Table, int], object]]] = {
    "the view shows all hands": ({"view": _all_hands}, watch_match),
    "an action is not listed": (phase(legal=_short), watch_match),
    "an action is listed twice": (phase(legal=_twice), watch_match),
    "the default is not legal": (phase(default=lambda state, seat: Action("play", ("RJ",))), watch_match),
    "a card is lost": ({"evolve": _losing}, watch_match),
    "scores are not zero-sum": ({"automatic": _generous}, watch_match),
    "a question depends on hidden cards": (phase(asked=lambda state: str(state.game.hands)), watch_match),
    "an event and the view show a hidden card": (
        {"deal": _openly, "view": _peek, "events": (OpenlyDealt, *toy.EVENTS)},
        leaks.compare,
    ),
    "a refusal names a hidden card": (phase(decide=_telling), leaks.compare),
    "the default depends on hidden cards": (phase(default=_stock_seen), leaks.compare),
}


@pytest.mark.parametrize("fault", WRONG)
def test_a_fault_is_noticed(fault: str) -> None:
    """Each fault fails within a few matches."""
    changes, run = WRONG[fault]
    table = tables_of(replace(TOY_1, **changes))[0]
    with pytest.raises((AssertionError, IllegalAction, BadText)):
        _some(run, table)


def _some(run: Callable[[Table, int], object], table: Table) -> None:
    for seed in range(30):
        run(table, seed)
