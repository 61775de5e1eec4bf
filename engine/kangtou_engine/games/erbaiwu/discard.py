"""Phase `discard`, after drawing; discarding and keeping, also in the dealer's first turn. EB-4.5, EB-4.6."""

from __future__ import annotations

from collections.abc import Mapping

from ...actions import Action, cards_of, only_keys, plain
from ...cards import JOKERS, Card, Cards, Seat
from ...errors import IllegalAction
from ...events import Event
from ...game import Legal, Phase
from .asking import alone, asked, capped
from .events import Discarded, ExtraNoted, Kept
from .pack import PACK, PLACE, SEVENS, VALUE
from .pack import plain as plain_cards
from .state import Position, Round

KEEP = Action("keep")
DISCARD: Mapping[Card, Action] = {card: Action("discard", (card,)) for card in PACK}
ROW = 4  # EB-9.6: the dealer's first discard and the next three


def discard(state: Position, seat: Seat, action: Action) -> tuple[Event, ...]:
    """`discard C`: one plain card, openly. EB-4.5."""
    only_keys(action)
    cards = cards_of(action)
    if len(cards) != 1:
        raise IllegalAction("EB-4.5", "wants_cards", verb="discard", count=1)
    card, own = cards[0], state.game
    if card not in own.hands[seat]:
        raise IllegalAction("EB-4.5", "not_in_hand", cards=card)
    if card in SEVENS or card in JOKERS:
        raise IllegalAction("EB-4.5", "never_discarded", card=card)
    if card in own.area.black:
        raise IllegalAction("EB-6.6", "black_discard", card=card)
    row = row_with(state, card)
    thrown = Discarded(seat, card, own.top, row)
    if len(row) == ROW and state.config.options.follow:
        return (thrown, ExtraNoted(state.sheet.dealer or 0, state.config.options.follow, "follow", card))
    return (thrown,)


def row_with(state: Position, card: Card) -> Cards:
    """The row of equal discards from the dealer's first one on, with this one; () once it is broken. EB-9.6."""
    row = state.game.closed.row
    if state.phase == "first":
        return (card,)
    if 0 < len(row) < ROW and row[0][1] == card[1]:
        return (*row, card)
    return ()


def keep(state: Position, seat: Seat, action: Action) -> tuple[Event, ...]:
    """`keep`: only without a plain card. EB-4.6."""
    plain(action)
    own = state.game
    if plain_cards(own.hands[seat], own.area.black):
        raise IllegalAction("EB-4.6", "must_discard")
    return (Kept(seat),)


def throwing(cards: list[Card]) -> list[Action]:
    """The discards of a hand with these plain cards, or `keep`. EB-4.5, EB-4.6."""
    return [DISCARD[card] for card in cards] or [KEEP]


def highest(own: Round, seat: Seat) -> Action:
    """The default: the plain card of the highest value, among equals the first in suit order; else `keep`. EB-4.4."""
    cards = plain_cards(own.hands[seat], own.area.black)
    return DISCARD[max(cards, key=VALUE.__getitem__)] if cards else KEEP


def _decide(state: Position, seat: Seat, action: Action) -> tuple[Event, ...]:
    if action.verb == "discard":
        return discard(state, seat, action)
    if action.verb == "keep":
        return keep(state, seat, action)
    raise IllegalAction("EB-4.3", "drawn_already", verb=action.verb)


def _legal(state: Position, seat: Seat, limit: int) -> Legal:
    own = state.game
    return capped(throwing(plain_cards(own.hands[seat], own.area.black)), limit)


def _default(state: Position, seat: Seat) -> Action:
    own, drawn = state.game, state.game.turn.drawn
    if drawn in PLACE and drawn in own.hands[seat] and drawn not in own.area.black:
        return DISCARD[drawn]
    return highest(own, seat)


PHASE: Phase[Round] = Phase(alone, _decide, _legal, _default, asked)
