"""Phases `turn` and `must_draw`: an ordinary turn up to the draw, and the draw after a pong. EB-4.3, EB-6.6, EB-7.4."""

from __future__ import annotations

from collections.abc import Mapping

from ...actions import Action, cards_of, only_keys, plain
from ...cards import Card, Seat
from ...errors import IllegalAction
from ...events import Event
from ...game import Legal, Phase
from .asking import alone, asked, capped
from .events import Drawn, Dumped
from .pack import PACK
from .pack import plain as plain_cards
from .reductions import REDUCTIONS, list_reductions
from .settle import SETTLE, may_settle, settle
from .state import Position, Round

DRAW = Action("draw")
DUMP: Mapping[Card, Action] = {card: Action("dump", (card,)) for card in PACK}


def draw(state: Position, seat: Seat, action: Action) -> tuple[Event, ...]:
    """`draw`: the top card of the stock. EB-4.3."""
    plain(action)
    return (Drawn(seat, state.game.closed.stock[0]),)


def dump(state: Position, seat: Seat, action: Action) -> tuple[Event, ...]:
    """`dump C`: a black card goes first, then one is drawn, and the turn is over. EB-6.6."""
    only_keys(action)
    cards = cards_of(action)
    if len(cards) != 1:
        raise IllegalAction("EB-6.6", "wants_cards", verb="dump", count=1)
    card, own = cards[0], state.game
    if card not in own.hands[seat]:
        raise IllegalAction("EB-6.6", "not_in_hand", cards=card)
    if card not in own.area.black:
        raise IllegalAction("EB-6.6", "not_black", card=card)
    return (Dumped(seat, card, own.top, own.closed.stock[0]),)


_VERBS = {**REDUCTIONS, "settle": settle, "draw": draw, "dump": dump}


def _decide(state: Position, seat: Seat, action: Action) -> tuple[Event, ...]:
    act = _VERBS.get(action.verb)
    if act is None:
        raise IllegalAction("EB-4.3", "unknown_verb", verb=action.verb)
    return act(state, seat, action)


def _legal(state: Position, seat: Seat, limit: int) -> Legal:
    own = state.game
    hand, black = own.hands[seat], own.area.black
    found = list_reductions(own, seat, plain_cards(hand, black))
    if may_settle(state, seat):
        found.append(SETTLE)
    found.append(DRAW)
    if black:
        found += [DUMP[card] for card in hand if card in black]
    return capped(found, limit)


def _decide_draw(state: Position, seat: Seat, action: Action) -> tuple[Event, ...]:
    if action.verb != "draw":
        raise IllegalAction("EB-7.4", "must_draw", verb=action.verb)
    return draw(state, seat, action)


PHASE: Phase[Round] = Phase(alone, _decide, _legal, lambda state, seat: DRAW, asked)
MUST_DRAW: Phase[Round] = Phase(
    alone, _decide_draw, lambda state, seat, limit: capped((DRAW,), limit), lambda state, seat: DRAW, asked
)
