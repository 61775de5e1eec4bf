"""For bots that search: states that fit a view, and actions worth comparing."""

from __future__ import annotations

from dataclasses import replace

from ...actions import Action
from ...cards import HIDDEN, Card, Cards, Seat
from ...events import Event
from ...game import Pick, TooMany
from ...match.events import RoundBegan
from ...match.state import CUT
from ...planning import NOTHING, Known, Planning, deal_out, gained, shuffled
from .bots import greedy, listed, throw_gain
from .events import Discarded, Dumped, Lifted, Ponged
from .pack import PACK, in_order, real
from .state import Closed, Position, Turn, groups, lying

PHASES = ("first", "turn", "must_draw", "discard", "window")
THROWS = 4
MOST = 8
UNLISTED = TooMany("EB-12.1", "longer_list", {"count": 2_000})  # greedy lists by itself then


def recall(known: Known, view: Position, event: Event) -> Known:
    """What lies in the discard pile. EB-4.5, EB-5.6, EB-6.6."""
    if isinstance(event, RoundBegan):
        return NOTHING
    if isinstance(event, (Discarded, Dumped)):
        return known.left((event.card,))
    if isinstance(event, Lifted):
        return known.left(real((*groups(view.game.area).get(event.card[-2:], ()), event.card)))
    if isinstance(event, Ponged):
        return replace(known, gone=known.gone.difference((event.discard,)))
    return known


def sample(view: Position, seat: Seat, pick: Pick, known: Known = NOTHING) -> Position:
    """A full state: hands, stock and pile. EB-11. A possible 跟牌 (EB-9.6) is left out."""
    if view.phase == CUT:
        return view.with_sheet(replace(view.sheet, pile=tuple(shuffled(PACK, pick))))
    if view.phase not in PHASES:
        return view
    own = view.game
    open_pile = [card for card in own.closed.pile if card != HIDDEN]
    seen = {*own.hands[seat], *real(lying(own.area)), *open_pile, own.top}
    unseen = [card for card in PACK if card not in seen]
    piled = [card for card in unseen if card in known.gone]
    pool = [card for card in unseen if card not in known.gone]
    pile: list[Card] = open_pile
    if own.closed.pile and not open_pile:
        size = len(own.closed.pile)
        lacking = size - len(piled)
        if lacking > 0:
            (more,), pool = deal_out(pool, (lacking,), pick)
            piled += more
        pile = shuffled(piled, pick)[:size]
    wants = [0 if place == seat else len(hand) for place, hand in enumerate(own.hands)]
    dealt, _ = deal_out(pool, [*wants, len(own.closed.stock)], pick)
    hands = tuple(own.hands[seat] if place == seat else in_order(dealt[place]) for place in range(len(wants)))
    turn = _with_drawn(own.turn, hands[own.turn.seat], pick)
    return view.with_game(
        replace(own, hands=hands, closed=Closed(tuple(dealt[-1]), tuple(pile), ()), turn=turn),
    )


def _with_drawn(turn: Turn, hand: Cards, pick: Pick) -> Turn:
    """The card that another seat has just drawn is one of its hand. EB-11.2."""
    if turn.drawn != HIDDEN:
        return turn
    return replace(turn, drawn=hand[pick(len(hand))])


def quick(state: Position, seat: Seat, pick: Pick) -> Action:
    """Greedy, on the full state."""
    return greedy(state, seat, UNLISTED, pick)


def candidates(view: Position, seat: Seat, pick: Pick) -> tuple[Action, ...]:
    """All that lays cards down or ends something, and the discards that look best."""
    if view.phase not in PHASES:
        return ()
    every = listed(view, seat, UNLISTED)
    throws = [action for action in every if action.verb in ("discard", "dump")]
    throws.sort(key=lambda action: -throw_gain(view, seat, action))
    others = [action for action in every if action.verb not in ("discard", "dump")]
    return (*others[:MOST], *throws[:THROWS])


def worth(before: Position, after: Position, seat: Seat) -> float:
    """Few points are good. EB-9."""
    return -gained(before, after, seat)


PLANNING = Planning(sample=sample, recall=recall, quick=quick, candidates=candidates, worth=worth)
