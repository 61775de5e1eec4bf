"""The phases `cut` and `between`, common to all games. CM-4, CM-6."""

from __future__ import annotations

from typing import Any

from ..actions import Action, number_of, plain
from ..cards import Seat
from ..errors import IllegalAction
from ..events import Event
from ..game import GameSpec, Phase, TooMany
from .events import Answered, PileCut
from .state import State


def cut_phase(spec: GameSpec[Any]) -> Phase[Any]:
    """Phase `cut`. CM-4."""

    def size(state: State[Any]) -> int:
        return len(spec.pack(state.config))

    def to_act(state: State[Any]) -> tuple[Seat, ...]:
        return ((state.sheet.first - 1) % state.config.seats,)  # CM-4.1: the dealer's 上家

    def decide(state: State[Any], seat: Seat, action: Action) -> tuple[Event, ...]:
        if action.verb != "cut":
            raise IllegalAction("CM-4.1", "unknown_verb", verb=action.verb)
        n = number_of(action)
        if not 1 <= n < size(state):
            raise IllegalAction("CM-4.1", "cut_range", low=1, high=size(state) - 1)
        return (PileCut(seat, n),)

    def legal(state: State[Any], seat: Seat, limit: int) -> tuple[Action, ...] | TooMany:
        if size(state) - 1 > limit:
            return TooMany("CM-4.1", "cut_range", {"low": 1, "high": size(state) - 1})
        return tuple(Action("cut", (str(n),)) for n in range(1, size(state)))

    def default(state: State[Any], seat: Seat) -> Action:
        return Action("cut", (str(size(state) // 2),))  # CM-8.1

    return Phase(to_act, decide, legal, default)


def _to_act(state: State[Any]) -> tuple[Seat, ...]:
    return tuple(seat for seat, answer in enumerate(state.sheet.answers) if not answer)


def _decide(state: State[Any], seat: Seat, action: Action) -> tuple[Event, ...]:
    if action.verb not in ("ready", "vote_end"):
        raise IllegalAction("CM-6.1", "unknown_verb", verb=action.verb)
    plain(action)
    if action.verb == "vote_end" and not state.config.options.vote_end:
        raise IllegalAction("CM-6.5", "no_vote")
    return (Answered(seat, action.verb),)


def _legal(state: State[Any], seat: Seat, limit: int) -> tuple[Action, ...]:
    ready = (Action("ready"),)
    return (*ready, Action("vote_end")) if state.config.options.vote_end else ready


BETWEEN_PHASE: Phase[Any] = Phase(_to_act, _decide, _legal, lambda state, seat: Action("ready"))
