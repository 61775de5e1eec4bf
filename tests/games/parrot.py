"""Parrot: a tiny game for tests of the platform, with faults on demand.

Each seat holds five cards and plays one when it is its turn; the highest of a trick (by canonical order) scores a
point. Options: `raise_at` N: the Nth play of a round raises in evolve; `exit_at` N: it kills the process.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kangtou_engine.actions import Action, cards_of, only_keys
from kangtou_engine.cards import DECK54, ORDER, Cards, Seat, hidden, in_order, without
from kangtou_engine.errors import IllegalAction
from kangtou_engine.events import Event, PublicEvent
from kangtou_engine.game import CaseKeys, GameSpec, Legal, Phase, Pick, check_seats
from kangtou_engine.match.events import Scored
from kangtou_engine.match.state import Config, State
from kangtou_engine.options import option, option_specs, parse_options

HAND = 5


@dataclass(frozen=True, slots=True)
class Options:
    """House options."""

    rounds: int = option("PT-1", 2, low=1, high=1000)
    cut: bool = option("PT-1", False)
    between: bool = option("PT-1", False)
    vote_end: bool = option("PT-1", False)
    raise_at: int = option("PT-2", 0, low=0, high=20)
    exit_at: int = option("PT-2", 0, low=0, high=20)


@dataclass(frozen=True, slots=True)
class Own:
    """The game's own state."""

    hands: tuple[Cards, ...]
    trick: Cards = ()
    leader: Seat = 0
    points: tuple[int, ...] = ()
    played: int = 0


@dataclass(frozen=True, slots=True)
class Dealt(Event):
    """Hands are dealt."""

    hands: tuple[Cards, ...]
    leader: Seat

    def seen_by(self, seat: Seat | None) -> Dealt:
        """One's own hand only."""
        return Dealt(
            tuple(hand if owner == seat else hidden(len(hand)) for owner, hand in enumerate(self.hands)), self.leader
        )


@dataclass(frozen=True, slots=True)
class Played(PublicEvent):
    """A card is played."""

    seat: Seat
    cards: Cards


@dataclass(frozen=True, slots=True)
class TrickWon(PublicEvent):
    """A trick is won."""

    seat: Seat


def _configure(given: Mapping[str, object], seats: int | None) -> tuple[int, Options]:
    return check_seats(seats, (2, 3, 4), 4), parse_options(Options, given)


def _fresh(config: Config, carry: Mapping[str, Any]) -> Own:
    return Own(((),) * config.seats, points=(0,) * config.seats)


def _deal(state: State[Own]) -> tuple[Event, ...]:
    pile, seats = state.sheet.pile, state.config.seats
    hands = tuple(in_order(pile[seat : seats * HAND : seats]) for seat in range(seats))
    return (Dealt(hands, state.sheet.dealer or 0),)


def _to_act(state: State[Own]) -> tuple[Seat, ...]:
    return ((state.game.leader + len(state.game.trick)) % state.config.seats,)


def _decide(state: State[Own], seat: Seat, action: Action) -> tuple[Event, ...]:
    if action.verb != "play":
        raise IllegalAction("PT-3", "unknown_verb", verb=action.verb)
    only_keys(action)
    cards = cards_of(action)
    if len(cards) != 1 or cards[0] not in state.game.hands[seat]:
        raise IllegalAction("PT-3", "not_in_hand", cards=" ".join(cards))
    return (Played(seat, cards),)


def _legal(state: State[Own], seat: Seat, limit: int) -> Legal:
    return tuple(Action("play", (card,)) for card in state.game.hands[seat])


def _automatic(state: State[Own]) -> tuple[Event, ...]:
    own = state.game
    if state.phase != "play":
        return ()
    if len(own.trick) == state.config.seats:
        best = max(range(len(own.trick)), key=lambda place: ORDER[own.trick[place]])
        return (TrickWon((own.leader + best) % state.config.seats),)
    if not any(own.hands) and not own.trick:
        result = {"round": state.sheet.round, "dealer": state.sheet.dealer}
        return (Scored(points=own.points, next_dealer=own.leader, hands=own.hands, result=result),)
    return ()


def _evolve(state: State[Own], event: Event) -> State[Own]:
    own = state.game
    match event:
        case Dealt(hands=hands, leader=leader):
            return state.with_game(Own(hands, (), leader, own.points, 0), "play")
        case Played(seat=seat, cards=cards):
            if own.played + 1 == state.config.options.raise_at:
                raise ZeroDivisionError("the test's fault")
            if own.played + 1 == state.config.options.exit_at:
                os._exit(9)
            hands = tuple(without(hand, cards) if seat == owner else hand for owner, hand in enumerate(own.hands))
            return state.with_game(Own(hands, own.trick + cards, own.leader, own.points, own.played + 1))
        case TrickWon(seat=seat):
            points = tuple(point + (owner == seat) for owner, point in enumerate(own.points))
            return state.with_game(Own(own.hands, (), seat, points, own.played))
        case _:
            return state


def _view(state: State[Own], seat: Seat | None) -> Own:
    own = state.game
    hands = tuple(hand if owner == seat else hidden(len(hand)) for owner, hand in enumerate(own.hands))
    return Own(hands, own.trick, own.leader, own.points, own.played)


def _first(view: State[Own], seat: Seat, legal: Legal, pick: Pick) -> Action:
    assert isinstance(legal, tuple)
    return legal[pick(len(legal))]


GAME = GameSpec(
    name="parrot",
    version=1,
    prefix="PT",
    title=("Parrot", "鹦鹉"),
    seats_allowed=(2, 3, 4),
    configure=_configure,
    option_rows=option_specs(Options),
    pack=lambda config: DECK54,
    fresh=_fresh,
    carry=lambda state: {},
    deal=_deal,
    phases={"play": Phase(_to_act, _decide, _legal, lambda state, seat: _legal(state, seat, 1)[0])},  # type: ignore[index]
    automatic=_automatic,
    evolve=_evolve,
    view=_view,
    canonical=lambda action: action,
    is_over=lambda state: state.sheet.round >= state.config.options.rounds,
    events=(Dealt, Played, TrickWon),
    words={},
    cases=CaseKeys(lambda state, start: state, {}),
    random=_first,
    greedy=_first,
    show=lambda view, seat, lang: (" ".join(view.game.trick),),
)
