"""Matches that go where a golden record wants them: a driver that sees all hands and tries a round until it fits.

Packs follow from the match's number, so only what the seats do can be steered. Each round is tried many times, with
other numbers for the policy, and the try that holds most of what is still wanted is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from kangtou_engine.actions import Action
from kangtou_engine.cards import Cards, Seat
from kangtou_engine.events import Event
from kangtou_engine.match.events import RoundBegan
from kangtou_engine.match.match import AnyState, Game
from kangtou_engine.match.state import OVER
from kangtou_engine.shuffle import SeededChance

from .policies import Wants
from .specials import OF

Choose = Callable[[AnyState, Seat, Wants, Random, Game], Action]


@dataclass(frozen=True, slots=True)
class Move:
    """One action, and the question it answers: those of one window may be in one entry."""

    seat: Seat
    action: Action
    token: Hashable
    alone: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """What one golden record is to hold. `worth` ranks tries; what is not in it counts 1 if it is wanted."""

    game: str
    options: Mapping[str, object]
    seats: int | None
    wanted: frozenset[str]
    choose: Choose
    tries: int = 60
    rounds: int = 6
    worth: Callable[[AnyState, set[str]], int] = lambda state, found: 0
    patience: int = 2  # rounds in a row that may bring nothing new
    promising: Callable[[Sequence[Cards]], bool] = lambda piles: True  # whether these packs are worth a try


@dataclass(slots=True)
class Try:
    """A round as it was played once."""

    state: AnyState
    moves: list[Move]
    events: list[Event]
    found: set[str]


def steer(plan: Plan, game: Game, chance: SeededChance, number: int) -> tuple[list[Move], int] | None:
    """The moves of a match in which all that is wanted happens, and its rounds; None if it does not get there.

    Gives up after some rounds that bring nothing new.
    """
    config = game.config(plan.options, plan.seats)
    pack = game.spec.pack(config)
    if not plan.promising([chance.shuffle(pack, "pack", deal) for deal in range(1, plan.rounds + 1)]):
        return None
    begun, state = game.begin(config, chance)
    moves: list[Move] = []
    missing, idle, before = set(plan.wanted), 0, list(begun)
    for round_ in range(1, plan.rounds + 1):
        best, value = None, -1
        for number_of_try in range(plan.tries):
            one = _round(
                plan,
                game,
                chance,
                state,
                frozenset(missing),
                Random(f"{number} {round_} {number_of_try}"),
                number_of_try * 0.381966 % 1,
                before,
            )
            got = 10 * len(missing & one.found) + plan.worth(state, one.found)
            if one.state.phase == OVER and missing - one.found:
                got = -1
            if got > value:
                best, value = one, got
            if missing <= one.found:
                break
        if best is None:
            return None
        idle = 0 if value > 0 else idle + 1
        missing -= best.found
        moves += best.moves
        state = best.state
        before = best.events[_begins(best.events) :]
        if not missing:
            return moves, round_
        if idle >= plan.patience or state.phase == OVER:
            return None
    return None


def _begins(events: Sequence[Event]) -> int:
    return next((place for place, event in enumerate(events) if isinstance(event, RoundBegan)), len(events))


def _round(
    plan: Plan,
    game: Game,
    chance: SeededChance,
    state: AnyState,
    missing: frozenset[str],
    rng: Random,
    style: float,
    before: list[Event],
) -> Try:
    """Play to the beginning of the next round, or to the end of the match."""
    round_ = state.sheet.round
    wants = Wants(missing, rng.choice(sorted(missing)) if missing else "", style)
    moves: list[Move] = []
    events: list[Event] = []
    while state.phase != OVER and state.sheet.round == round_:
        to_act = game.to_act(state)
        seat = to_act[0]
        action = plan.choose(state, seat, wants, rng, game)
        moves.append(Move(seat, action, game.asked(state), len(to_act) == 1))
        caused, state = game.step(state, seat, action, chance)
        events += caused
    return Try(state, moves, events, OF[plan.game]([*before, *events[: _begins(events)]]))


def shortened(plan: Plan, rounds: int) -> Plan:
    """The same for a match of that many rounds."""
    return replace(plan, options={**plan.options, "rounds": rounds})


__all__ = ["Any", "Collection", "Move", "Plan", "shortened", "steer"]
