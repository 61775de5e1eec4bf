"""Phase `first`: the dealer's first turn, without a draw. EB-4.2."""

from __future__ import annotations

from ...actions import Action
from ...cards import Seat
from ...errors import IllegalAction
from ...events import Event
from ...game import Legal, Phase
from .asking import alone, asked, capped
from .discard import discard, highest, keep, throwing
from .pack import plain
from .reductions import REDUCTIONS, list_reductions
from .settle import SETTLE, may_settle, settle
from .state import Position, Round

_VERBS = {**REDUCTIONS, "settle": settle, "discard": discard, "keep": keep}


def _decide(state: Position, seat: Seat, action: Action) -> tuple[Event, ...]:
    act = _VERBS.get(action.verb)
    if act is None:
        raise IllegalAction("EB-4.2", "unknown_verb", verb=action.verb)
    return act(state, seat, action)


def _legal(state: Position, seat: Seat, limit: int) -> Legal:
    own = state.game
    cards = plain(own.hands[seat], own.area.black)
    found = list_reductions(own, seat, cards)
    if may_settle(state, seat):
        found.append(SETTLE)
    return capped(found + throwing(cards), limit)


def _default(state: Position, seat: Seat) -> Action:
    return highest(state.game, seat)  # EB-4.4


PHASE: Phase[Round] = Phase(alone, _decide, _legal, _default, asked)
