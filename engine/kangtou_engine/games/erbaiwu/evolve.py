"""One event onto the state. Checks nothing, works on hidden cards as well."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from ...cards import Card, Cards, Seat, without
from ...events import Event
from ...match.events import Scored
from .events import (
    Dealt,
    Discarded,
    Drawn,
    Dumped,
    Extended,
    ExtraNoted,
    Kept,
    Lifted,
    Locked,
    Melded,
    Passed,
    PileOpened,
    Ponged,
    Settled,
    SevenShown,
    TurnBegan,
)
from .pack import in_order, names_in, real
from .state import HIGH, Area, Closed, Position, Round, Run, Turn, groups, run_of, side_of

Hands: TypeAlias = tuple[Cards, ...]


def evolve(state: Position, event: Event) -> Position:
    """One recorded event; an unknown one changes nothing."""
    change = _EVOLVE.get(type(event))
    return change(state, event) if change else state


def _less(hands: Hands, seat: Seat, cards: Cards) -> Hands:
    return (*hands[:seat], without(hands[seat], cards), *hands[seat + 1 :])


def _more(hands: Hands, seat: Seat, card: Card) -> Hands:
    return (*hands[:seat], in_order((*hands[seat], card)), *hands[seat + 1 :])


def _next(turn: Turn) -> Turn:
    """The same seat has done one thing more."""
    return Turn(turn.seat, turn.number + 1, turn.drawn)


def _dealt(state: Position, event: Dealt) -> Position:
    own = Round(event.hands, Closed(event.stock), Area(), Turn(event.dealer), None, state.game.extras)
    return state.with_sheet(replace(state.sheet, pile=())).with_game(own, "first")


def _turn_began(state: Position, event: TurnBegan) -> Position:
    own = state.game
    turn = Turn(event.seat, own.turn.number + 1)
    return state.with_game(Round(own.hands, own.closed, own.area, turn, own.top, own.extras), "turn")


# ---- reductions (EB-5) ----


def _laid(state: Position, seat: Seat, cards: Cards, area: Area) -> Position:
    """Cards have left the hand for the show area; what jokers name becomes black. EB-6.3."""
    own = state.game
    if names := names_in(cards):
        area = Area(area.runs, area.sets, in_order((*area.black, *names)))
    hands = _less(own.hands, seat, real(cards))
    return state.with_game(Round(hands, own.closed, area, _next(own.turn), own.top, own.extras))


def _with_run(area: Area, run: Run) -> Area:
    return Area(tuple(run if old.suit == run.suit else old for old in area.runs), area.sets, area.black)


def _seven_shown(state: Position, event: SevenShown) -> Position:
    area = state.game.area
    runs = sorted((*area.runs, Run(event.card[0])), key=lambda run: "SHCD".index(run.suit))
    return _laid(state, event.seat, (event.card,), Area(tuple(runs), area.sets, area.black))


def _extended(state: Position, event: Extended) -> Position:
    area, card = state.game.area, event.card
    run = run_of(area, card[-2])
    if run is not None:
        if side_of(card[-2:]) == HIGH:
            run = Run(run.suit, (*run.high, card), run.low, run.high_lock, run.low_lock)
        else:
            run = Run(run.suit, run.high, (*run.low, card), run.high_lock, run.low_lock)
        area = _with_run(area, run)
    return _laid(state, event.seat, (card,), area)


def _locked(state: Position, event: Locked) -> Position:
    area = state.game.area
    run = run_of(area, event.run)
    if run is not None:
        if side_of(event.cards[0][-2:]) == HIGH:
            run = Run(run.suit, run.high, run.low, event.cards, run.low_lock)
        else:
            run = Run(run.suit, run.high, run.low, run.high_lock, event.cards)
        area = _with_run(area, run)
    return _laid(state, event.seat, event.cards, area)


def _melded(state: Position, event: Melded) -> Position:
    area = state.game.area
    return _laid(state, event.seat, event.cards, Area(area.runs, (*area.sets, event.cards), area.black))


def _lifted(state: Position, event: Lifted) -> Position:
    """The four cards go under the pile, and a locked end opens again. EB-5.7, EB-11.3."""
    own = state.game
    group = groups(own.area).get(event.card[-2:], ())
    under = real((*group, event.card)) if state.config.options.open_discards else event.under
    closed = Closed(own.closed.stock, under + own.closed.pile, own.closed.row)
    moved = state.with_game(Round(own.hands, closed, own.area, own.turn, own.top, own.extras))
    return _laid(moved, event.seat, (event.card,), lifted(own.area, group))


def lifted(area: Area, group: Cards) -> Area:
    """The show area without a group; the side of a locked end is open again. EB-5.7."""
    sets = tuple(cards for cards in area.sets if cards != group)
    runs = []
    for run in area.runs:
        if run.high_lock and (run.high[-1], *run.high_lock) == group:
            run = Run(run.suit, run.high[:-1], run.low, (), run.low_lock)
        elif run.low_lock and (run.low[-1], *run.low_lock) == group:
            run = Run(run.suit, run.high, run.low[:-1], run.high_lock, ())
        runs.append(run)
    return Area(tuple(runs), sets, area.black)


def _extra_noted(state: Position, event: ExtraNoted) -> Position:
    own = state.game
    extras = tuple(points + event.points * (seat == event.seat) for seat, points in enumerate(own.extras))
    return state.with_game(Round(own.hands, own.closed, own.area, own.turn, own.top, extras))


# ---- drawing and discarding (EB-4) ----


def _drawn(state: Position, event: Drawn) -> Position:
    own = state.game
    hands = _more(own.hands, event.seat, event.card)
    closed = Closed(own.closed.stock[1:], own.closed.pile, own.closed.row)
    turn = Turn(event.seat, own.turn.number + 1, event.card)
    return state.with_game(Round(hands, closed, own.area, turn, own.top, own.extras), "discard")


def _covering(state: Position, covered: Card | None) -> Cards:
    """The pile after the card that lay face up on it has been covered. EB-11.3."""
    own = state.game
    if own.top is None:
        return own.closed.pile
    known = own.top if state.config.options.open_discards else covered
    return own.closed.pile if known is None else (*own.closed.pile, known)


def _discarded(state: Position, event: Discarded) -> Position:
    own = state.game
    hands = _less(own.hands, event.seat, (event.card,))
    closed = Closed(own.closed.stock, _covering(state, event.covered), event.row)
    turn = Turn(event.seat, own.turn.number + 1)
    return state.with_game(Round(hands, closed, own.area, turn, event.card, own.extras), "window")


def _kept(state: Position, event: Kept) -> Position:
    own = state.game
    turn = Turn(event.seat, own.turn.number + 1, done="kept")
    return state.with_game(Round(own.hands, own.closed, own.area, turn, own.top, own.extras))


def _dumped(state: Position, event: Dumped) -> Position:
    own = state.game
    hands = _more(_less(own.hands, event.seat, (event.card,)), event.seat, event.drawn)
    closed = Closed(own.closed.stock[1:], _covering(state, event.covered), ())
    turn = Turn(event.seat, own.turn.number + 1, done="dumped")
    return state.with_game(Round(hands, closed, own.area, turn, event.card, own.extras))


def _ponged(state: Position, event: Ponged) -> Position:
    own, area = state.game, state.game.area
    hands = _less(own.hands, event.seat, event.cards)
    closed = Closed(own.closed.stock, own.closed.pile)
    shown = Area(area.runs, (*area.sets, in_order((*event.cards, event.discard))), area.black)
    turn = Turn(event.seat, own.turn.number + 1)
    return state.with_game(Round(hands, closed, shown, turn, None, own.extras), "must_draw")


def _passed(state: Position, event: Passed) -> Position:
    own, turn = state.game, state.game.turn
    passed = tuple(sorted((*turn.passed, event.seat)))
    turn = Turn(turn.seat, turn.number, None, passed)
    return state.with_game(Round(own.hands, own.closed, own.area, turn, own.top, own.extras))


# ---- the end of the round (EB-8, EB-9) ----


def _settled(state: Position, event: Settled) -> Position:
    own = state.game
    turn = Turn(event.seat, own.turn.number + 1, done="settled")
    return state.with_game(Round(own.hands, own.closed, own.area, turn, own.top, own.extras))


def _pile_opened(state: Position, event: PileOpened) -> Position:
    own = state.game
    closed = Closed(own.closed.stock, event.cards)
    return state.with_game(Round(own.hands, closed, own.area, own.turn, own.top, own.extras))


def _scored(state: Position, event: Scored) -> Position:
    own = state.game
    return state.with_game(Round(event.hands, own.closed, own.area, own.turn, own.top, own.extras))


_EVOLVE: Mapping[type[Event], Callable[[Position, Any], Position]] = {
    Dealt: _dealt,
    TurnBegan: _turn_began,
    SevenShown: _seven_shown,
    Extended: _extended,
    Locked: _locked,
    Melded: _melded,
    Lifted: _lifted,
    ExtraNoted: _extra_noted,
    Drawn: _drawn,
    Discarded: _discarded,
    Kept: _kept,
    Dumped: _dumped,
    Ponged: _ponged,
    Passed: _passed,
    Settled: _settled,
    PileOpened: _pile_opened,
    Scored: _scored,
}
