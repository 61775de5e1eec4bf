"""Who is asked, and how a list of legal actions is given. EB-4.1."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from ...actions import Action
from ...cards import Seat
from ...game import Legal, TooMany
from .state import Position


def alone(state: Position) -> tuple[Seat, ...]:
    """The seat in turn."""
    return (state.game.turn.seat,)


def asked(state: Position) -> Hashable:
    """What the seats in turn have done so far: each time the question is new; a `pass` changes nothing."""
    return state.game.turn.number


def capped(actions: Sequence[Action], limit: int) -> Legal:
    """The whole list, unless a shorter one was asked for. EB-12.1."""
    if len(actions) > limit:
        return TooMany("EB-12.1", "longer_list", {"count": len(actions)})
    return tuple(actions)
