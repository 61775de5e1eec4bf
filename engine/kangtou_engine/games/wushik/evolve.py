"""Events onto the state, and what a seat sees of it. WK-13.

`evolve` never checks, and works on hidden hands as on open ones: of a hand that is hidden, hidden cards go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...cards import HIDDEN, RANKS, Cards, Seat, in_order, without
from ...events import Event
from ...match.events import Scored
from ...match.state import BETWEEN, OVER, SCORED
from .combos import CARD_POINTS
from .events import Dealt, Passed, Played, PlayOpened, Shown, ShowPassed, TrickWon, WentOut
from .state import Announced, Round, Tally, Trick, WushikState, next_with_cards, points_of


def evolve(state: WushikState, event: Event) -> WushikState:
    """One event of this game."""
    return _EVOLVE[type(event)](state, event)


def _dealt(state: WushikState, event: Dealt) -> WushikState:
    own = state.game
    first = Round(event.hands, own.played, event.leader, None, event.drawn, own.tally, own.announced)
    return state.with_game(first, "show" if state.config.options.announce else "play")  # WK-6.1


def _shown(state: WushikState, event: Shown) -> WushikState:
    own, seat = state.game, event.seat
    ranks = list(own.announced.ranks)
    ranks[seat] = "".join(sorted(ranks[seat] + event.rank, key=RANKS.index))
    hand = own.hands[seat]
    if HIDDEN in hand:  # WK-10.6: these cards are known now
        known = [card for card in hand if card != HIDDEN]
        hidden = [HIDDEN] * (len(hand) - len(known) - len(event.cards))
        hand = in_order((*known, *event.cards, *hidden))
    announced = Announced(tuple(ranks), own.announced.passed)
    hands = _with(own.hands, seat, hand)
    return state.with_game(Round(hands, own.played, own.turn, None, own.first_lead, own.tally, announced))


def _show_passed(state: WushikState, event: ShowPassed) -> WushikState:
    own = state.game
    announced = Announced(own.announced.ranks, tuple(sorted((*own.announced.passed, event.seat))))
    return state.with_game(Round(own.hands, own.played, own.turn, None, own.first_lead, own.tally, announced))


def _play_opened(state: WushikState, event: PlayOpened) -> WushikState:
    own = state.game
    return state.with_game(
        Round(own.hands, own.played, event.leader, None, own.first_lead, own.tally, own.announced), "play"
    )


def _with(parts: tuple[Cards, ...], seat: Seat, cards: Cards) -> tuple[Cards, ...]:
    return (*parts[:seat], cards, *parts[seat + 1 :])


def _played(state: WushikState, event: Played) -> WushikState:
    own, seat, cards = state.game, event.seat, event.cards
    hands = _with(own.hands, seat, without(own.hands[seat], cards))
    played = _with(own.played, seat, own.played[seat] + cards)
    old = own.trick
    points = points_of(cards) + (old.points if old else 0)
    laid = (*old.laid, (seat, cards)) if old else ((seat, cards),)
    trick = Trick(seat, cards, event.combo, points, (), laid)
    return state.with_game(Round(hands, played, next_with_cards(hands, seat), trick, False, own.tally, own.announced))


def _passed(state: WushikState, event: Passed) -> WushikState:
    own, seat = state.game, event.seat
    old = own.trick
    if old is None:  # cannot happen in a match
        return state
    trick = Trick(old.by, old.cards, old.combo, old.points, (*old.passed, seat), old.laid)
    turn = next_with_cards(own.hands, seat)
    return state.with_game(Round(own.hands, own.played, turn, trick, False, own.tally, own.announced))


def _went_out(state: WushikState, event: WentOut) -> WushikState:
    own = state.game
    tally = Tally((*own.tally.out, event.seat), own.tally.captured)
    return state.with_game(Round(own.hands, own.played, own.turn, own.trick, False, tally, own.announced))


def _trick_won(state: WushikState, event: TrickWon) -> WushikState:
    own = state.game
    captured = list(own.tally.captured)
    captured[event.seat] += event.points
    turn = event.seat if event.leader is None else event.leader
    tally = Tally(own.tally.out, tuple(captured))
    return state.with_game(Round(own.hands, own.played, turn, None, False, tally, own.announced))


def _scored(state: WushikState, event: Scored) -> WushikState:
    own = state.game
    return state.with_game(Round(event.hands, own.played, own.turn, None, False, own.tally, own.announced))


_EVOLVE: Mapping[type[Event], Callable[[WushikState, Any], WushikState]] = {
    Dealt: _dealt,
    Shown: _shown,
    ShowPassed: _show_passed,
    PlayOpened: _play_opened,
    Played: _played,
    Passed: _passed,
    WentOut: _went_out,
    TrickWon: _trick_won,
    Scored: _scored,
}


def view(state: WushikState, seat: Seat | None) -> Round:
    """What a seat (None: a spectator) may see: its own hand, and of the others' the announced cards. WK-13."""
    own = state.game
    open_hands = state.phase in (SCORED, BETWEEN, OVER)  # WK-13.5, CM-5.4
    hands = tuple(
        hand if open_hands or owner == seat else _seen(hand, own.announced.ranks[owner])
        for owner, hand in enumerate(own.hands)
    )
    return Round(
        hands=hands,
        played=own.played,
        turn=own.turn,
        trick=own.trick,
        first_lead=own.first_lead,
        tally=own.tally,
        announced=own.announced,
    )


def _seen(hand: Cards, shown: str) -> Cards:
    """Another seat's hand: hidden but for the cards of announced ranks. WK-13.4."""
    if not shown:
        return (HIDDEN,) * len(hand)
    known = [card for card in hand if card[1] in shown and card in _SUITED]
    return (*known, *(HIDDEN,) * (len(hand) - len(known)))


_SUITED = frozenset(card for card in CARD_POINTS if card[0] in "SHCD")
