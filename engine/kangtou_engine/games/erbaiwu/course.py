"""What follows by itself: the next turn, or the end of the round. EB-4.7, EB-8.4."""

from __future__ import annotations

from ...cards import after
from ...events import Event
from ...match.state import SCORED
from .events import TurnBegan
from .score import closing
from .state import Position


def automatic(state: Position) -> tuple[Event, ...]:
    """Closes a window that all have answered, and a turn that is over."""
    own, seats = state.game, state.config.seats
    turn = own.turn
    if state.phase == "window":
        if not own.closed.stock:
            return closing(state, None)  # EB-8.4, EB-7.7: the last discard
        if len(turn.passed) < seats - 1:
            return ()
    elif not turn.done or state.phase == SCORED:
        return ()
    elif turn.done == "settled":
        return closing(state, turn.seat)
    elif not own.closed.stock:
        return closing(state, None)  # EB-8.4
    return (TurnBegan(after(turn.seat, seats)),)
