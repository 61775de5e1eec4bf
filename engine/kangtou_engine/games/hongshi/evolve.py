"""One recorded event onto the state: no checks; works on hidden cards too."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ...cards import HIDDEN, Cards, in_order, without
from ...events import Event
from ...match.events import Scored
from .combos import FOUR_TENS, RED_TENS
from .deal import up_side
from .events import (
    Dealt,
    LightningDeclared,
    Passed,
    Penalized,
    PlayBegan,
    Played,
    Revealed,
    RevealPassed,
    RoundShown,
    TrickWon,
)
from .state import PLAY, REVEAL, SEATS, Hongshi, Laid, Own, Past, Sides, next_in

NOBODY = (False,) * SEATS


def evolve(state: Hongshi, event: Event) -> Hongshi:
    """See GameSpec.evolve."""
    return _EVOLVE[type(event)](state, event)


def _dealt(state: Hongshi, event: Dealt) -> Hongshi:
    hands = event.hands
    known = all(HIDDEN not in hand for hand in hands)
    sides = Sides(up_side(hands) if known else None, state.game.sides.revealed)
    past = Past(hands, ()) if known else Past(None, None)
    own = replace(state.game, hands=hands, answered=NOBODY, sides=sides, past=past)
    return state.with_game(own, REVEAL)


def _reveal_passed(state: Hongshi, event: RevealPassed) -> Hongshi:
    answered = tuple(done or seat == event.seat for seat, done in enumerate(state.game.answered))
    return state.with_game(replace(state.game, answered=answered))


def _show(own: Own, seat: int, cards: Cards) -> Own:
    """These tens are seen in a hand from now on. HS-4.3."""
    revealed = list(own.sides.revealed)
    new = [card for card in cards if card not in revealed[seat]]
    revealed[seat] = in_order((*revealed[seat], *new))
    hands = list(own.hands)
    hands[seat] = in_order((*without(hands[seat], new), *new))
    known = tuple(sorted({*own.sides.known, seat}))  # HS-13.4
    return replace(own, hands=tuple(hands), sides=Sides(own.sides.up, tuple(revealed), known))


def _revealed(state: Hongshi, event: Revealed) -> Hongshi:
    """Everybody is asked again. HS-4.4."""
    return state.with_game(replace(_show(state.game, event.seat, event.cards), answered=NOBODY))


def _lightning(state: Hongshi, event: LightningDeclared) -> Hongshi:
    return state.with_game(replace(_show(state.game, event.seat, FOUR_TENS), out=(event.seat,)))


def _play_began(state: Hongshi, event: PlayBegan) -> Hongshi:
    return state.with_game(replace(state.game, turn=event.seat, opening=event.opening), PLAY)


def _played(state: Hongshi, event: Played) -> Hongshi:
    own, seat, cards = state.game, event.seat, event.cards
    left = without(own.hands[seat], cards)
    hands = (*own.hands[:seat], left, *own.hands[seat + 1 :])
    out = own.out if left else (*own.out, seat)  # HS-7.1
    sides = own.sides
    if seat not in sides.known and (RED_TENS[0] in cards or RED_TENS[1] in cards):
        sides = Sides(sides.up, sides.revealed, tuple(sorted((*sides.known, seat))))  # HS-13.4
    trick = (*own.trick, Laid(seat, cards, bool(event.as_ten)))
    turn = next_in(seat, out)
    new = Own(hands, turn, trick, out, False, own.answered, sides, own.past, own.penalties)
    return state.with_game(new)


def _passed(state: Hongshi, event: Passed) -> Hongshi:
    own = state.game
    trick = (*own.trick, Laid(event.seat, ()))
    turn = next_in(event.seat, own.out)
    new = Own(own.hands, turn, trick, own.out, False, own.answered, own.sides, own.past, own.penalties)
    return state.with_game(new)


def _trick_won(state: Hongshi, event: TrickWon) -> Hongshi:
    """The cards become discards. HS-6.6, HS-13.3."""
    own = state.game
    past = own.past if own.past.laid is None else Past(own.past.dealt, own.past.laid + own.trick)
    new = Own(own.hands, event.leader, (), own.out, False, own.answered, own.sides, past, own.penalties)
    return state.with_game(new)


def _round_shown(state: Hongshi, event: RoundShown) -> Hongshi:
    """HS-13.5."""
    laid = tuple(
        Laid(seat, cards, place in event.as_ten)
        for place, (seat, cards) in enumerate(zip(event.seats, event.laid, strict=True))
    )
    sides = Sides(event.up, state.game.sides.revealed, event.up)
    return state.with_game(replace(state.game, sides=sides, past=Past(event.dealt, laid)))


def _scored(state: Hongshi, event: Scored) -> Hongshi:
    return state.with_game(replace(state.game, hands=event.hands, out=tuple(event.result["order"])))


def _penalized(state: Hongshi, event: Penalized) -> Hongshi:
    """HS-11.2."""
    scores, penalties = list(state.sheet.scores), list(state.game.penalties)
    scores[event.seat] -= event.points
    penalties[event.seat] += 1
    state = state.with_sheet(replace(state.sheet, scores=tuple(scores)))
    return state.with_game(replace(state.game, penalties=tuple(penalties)))


_EVOLVE: Mapping[type[Event], Callable[[Hongshi, Any], Hongshi]] = {
    Dealt: _dealt,
    RevealPassed: _reveal_passed,
    Revealed: _revealed,
    LightningDeclared: _lightning,
    PlayBegan: _play_began,
    Played: _played,
    Passed: _passed,
    TrickWon: _trick_won,
    RoundShown: _round_shown,
    Scored: _scored,
    Penalized: _penalized,
}
