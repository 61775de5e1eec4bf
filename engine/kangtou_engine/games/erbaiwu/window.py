"""Phase `window`: every other seat answers a discard. EB-7.1 to EB-7.6."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from ...actions import Action, only_keys, plain
from ...cards import Cards, Seat
from ...errors import IllegalAction
from ...events import Event
from ...game import Legal, Phase
from ...match.state import State
from .asking import asked, capped
from .events import Passed, Ponged
from .pack import PLACE, SAME_RANK
from .state import Position, Round

PASS = Action("pass")
CAN_PONG = "can_pong"
PEOPLE_MS = 3_000  # one window after each discard: a person is not waited for as long as in a turn


def _to_act(state: Position) -> tuple[Seat, ...]:
    """All but the discarder, also those that cannot pong, so that waiting tells nothing. EB-7.1."""
    turn = state.game.turn
    return tuple(seat for seat in range(state.config.seats) if seat != turn.seat and seat not in turn.passed)


def helpers(own: Round, seat: Seat) -> Cards:
    """The plain cards in a seat's hand of the rank of the discard. EB-7.2."""
    hand, black = own.hands[seat], own.area.black
    if own.top is None:
        return ()
    return tuple(card for card in SAME_RANK[own.top] if card in hand and card not in black)


def _pong(state: Position, seat: Seat, action: Action) -> tuple[Event, ...]:
    """`pong S9 H9`. EB-7.2."""
    only_keys(action)
    own, cards = state.game, action.args
    if len(cards) != 2:
        raise IllegalAction("EB-7.2", "wants_cards", verb="pong", count=2)
    for card in cards:
        if card not in PLACE:
            raise IllegalAction("EB-7.2", "pong_plain", card=card[:20])
        if card not in own.hands[seat]:
            raise IllegalAction("EB-7.2", "not_in_hand", cards=card)
    if cards[0] == cards[1]:
        raise IllegalAction("EB-1.2", "card_twice", cards=cards[0])
    allowed = helpers(own, seat)
    for card in cards:
        if card in own.area.black:
            raise IllegalAction("EB-6.4", "black_card", card=card)
        if card not in allowed:
            raise IllegalAction("EB-7.2", "pong_rank", card=card, discard=own.top or "")
    return (Ponged(seat, cards, own.top or ""),)


def _decide(state: Position, seat: Seat, action: Action) -> tuple[Event, ...]:
    if action.verb == "pong":
        return _pong(state, seat, action)
    if action.verb != "pass":
        raise IllegalAction("EB-7.1", "unknown_verb", verb=action.verb)
    plain(action)
    return (Passed(seat),)


def _legal(state: Position, seat: Seat, limit: int) -> Legal:
    cards = helpers(state.game, seat)
    if len(cards) < 2:
        return capped((PASS,), limit)
    return capped((PASS, *(Action("pong", pair) for pair in combinations(cards, 2))), limit)


def standing(state: State[Any], seat: Seat, answer: Action, until: str) -> bool | None:
    """Whether a seat's standing `pass` still holds: for ever, or until it could pong. EB-7.1, EB-7.2.

    Outside a window it waits for the next one.
    """
    if answer != PASS:
        return False
    if state.phase != "window":
        return None
    return until != CAN_PONG or len(helpers(state.game, seat)) < 2


PHASE: Phase[Round] = Phase(_to_act, _decide, _legal, lambda state, seat: PASS, asked)
