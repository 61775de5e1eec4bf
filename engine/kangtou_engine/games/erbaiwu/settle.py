"""Settling and the end of a round. EB-8."""

from __future__ import annotations

from ...actions import Action, plain
from ...cards import Seat
from ...errors import IllegalAction
from ...events import Event
from .events import Settled
from .pack import SEVENS, hand_value
from .state import Position

SETTLE = Action("settle")


def may_settle(state: Position, seat: Seat) -> bool:
    """A seven lies shown, and the hand is small enough or is sevens only. EB-8.1."""
    own = state.game
    if not own.area.runs:
        return False
    return small_enough(state, seat) or only_sevens(own.hands[seat])


def small_enough(state: Position, seat: Seat) -> bool:
    """Jokers and black cards count 30, so with one of them it never is. EB-8.1, EB-8.3."""
    own = state.game
    limit: int = state.config.options.settle_at
    return hand_value(own.hands[seat], own.area.black) <= limit


def only_sevens(hand: tuple[str, ...]) -> bool:
    """One or more sevens and nothing else: 带七. EB-9.4."""
    return bool(hand) and all(card in SEVENS for card in hand)


def settle(state: Position, seat: Seat, action: Action) -> tuple[Event, ...]:
    """`settle`: the round ends at once. EB-8.1, EB-8.2."""
    plain(action)
    own = state.game
    if not own.area.runs:
        raise IllegalAction("EB-8.1", "settle_no_seven")
    if not may_settle(state, seat):
        value = hand_value(own.hands[seat], own.area.black)
        raise IllegalAction("EB-8.1", "settle_too_much", value=value, limit=state.config.options.settle_at)
    return (Settled(seat),)
