"""Toy: a small game in two versions, for tests of the contract, of the registry and of the tests themselves.

Each seat draws three cards; the rest is the stock. In turn each seat lays one down, open (`play`) or face down
(`bury`), until all hands are empty. Whoever played the highest card of the round takes a point from every other
seat. A buried card counts nothing, and is shown with the score. What carries over: how many cards each seat has
buried in the match.

Version 2 changes the scoring (an ace is lowest, the win counts double), and a seat may not bury twice in a round.

The module is also its own facts (tests/engine/tables.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kangtou_engine.actions import Action, cards_of, only_keys
from kangtou_engine.cards import DECK52, HIDDEN, Card, Cards, Seat, hidden, in_order, without
from kangtou_engine.errors import IllegalAction
from kangtou_engine.events import Event, PublicEvent
from kangtou_engine.game import CaseKeys, GameSpec, Legal, Phase, Pick, TooMany, check_seats
from kangtou_engine.match.events import Scored
from kangtou_engine.match.state import Config, State
from kangtou_engine.options import option, option_specs, parse_options
from kangtou_engine.words import Words

HAND = 3


@dataclass(frozen=True, slots=True)
class Rules:
    """What differs between the versions."""

    ranks: str
    worth: int
    bury_again: bool


ONE = Rules("23456789TJQKA", 1, True)
TWO = Rules("A23456789TJQK", 2, False)


@dataclass(frozen=True, slots=True)
class Options:
    """House options."""

    rounds: int = option("TY-1", 2, low=1, high=1000)
    cut: bool = option("TY-1", True)
    between: bool = option("TY-1", True)
    vote_end: bool = option("TY-1", False)


@dataclass(frozen=True, slots=True)
class Own:
    """The game's own state: `laid` in order, from the seat that drew first; a buried card is HIDDEN in views."""

    hands: tuple[Cards, ...]
    laid: Cards = ()
    open: tuple[bool, ...] = ()
    stock: Cards | None = ()
    buried: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Dealt(Event):
    """Hands are dealt; the stock stays face down."""

    hands: tuple[Cards, ...]
    stock: Cards | None

    def seen_by(self, seat: Seat | None) -> Dealt:
        """One's own hand only."""
        hands = tuple(hand if owner == seat else hidden(len(hand)) for owner, hand in enumerate(self.hands))
        return Dealt(hands, None)


@dataclass(frozen=True, slots=True)
class Played(PublicEvent):
    """A card is laid down open."""

    seat: Seat
    cards: Cards


@dataclass(frozen=True, slots=True)
class Buried(Event):
    """A card is laid down face down."""

    seat: Seat
    cards: Cards

    def seen_by(self, seat: Seat | None) -> Buried:
        """The card only by who laid it."""
        return self if seat == self.seat else Buried(self.seat, hidden(len(self.cards)))


@dataclass(frozen=True, slots=True)
class Shown(PublicEvent):
    """The round has ended: everything that was laid down, and the stock."""

    laid: Cards
    stock: Cards


def configure(given: Mapping[str, object], seats: int | None) -> tuple[int, Options]:
    """Seats and options."""
    return check_seats(seats, (2, 3, 4), 4), parse_options(Options, given)


def fresh(config: Config, carry: Mapping[str, Any]) -> Own:
    """Before the deal."""
    return Own(((),) * config.seats, buried=tuple(carry.get("buried", (0,) * config.seats)))


def deal(state: State[Own]) -> tuple[Event, ...]:
    """Three cards each, in turn."""
    pile, seats, first = state.sheet.pile, state.config.seats, state.sheet.first
    drawn = seats * HAND
    hands = tuple(in_order(pile[(seat - first) % seats : drawn : seats]) for seat in range(seats))
    return (Dealt(hands, pile[drawn:]),)


def to_act(state: State[Own]) -> tuple[Seat, ...]:
    """In turn from who drew first."""
    return ((state.sheet.first + len(state.game.laid)) % state.config.seats,)


def may_bury(rules: Rules, state: State[Own]) -> bool:
    """TY-3."""
    own, seats = state.game, state.config.seats
    return rules.bury_again or all(own.open[len(own.laid) % seats :: seats])


def decide(rules: Rules, state: State[Own], seat: Seat, action: Action) -> tuple[Event, ...]:
    """TY-2, TY-3."""
    if action.verb not in ("play", "bury"):
        raise IllegalAction("TY-2", "unknown_verb", verb=action.verb)
    only_keys(action)
    cards = cards_of(action)
    if len(cards) != 1 or cards[0] not in state.game.hands[seat]:
        raise IllegalAction("TY-2", "not_in_hand", cards=" ".join(cards))
    if action.verb == "play":
        return (Played(seat, cards),)
    if not may_bury(rules, state):
        raise IllegalAction("TY-3", "bury_twice")
    return (Buried(seat, cards),)


def legal(rules: Rules, state: State[Own], seat: Seat, limit: int) -> Legal:
    """All of a hand, open; and face down where allowed."""
    verbs = ("play", "bury") if may_bury(rules, state) else ("play",)
    return tuple(Action(verb, (card,)) for verb in verbs for card in state.game.hands[seat])


def default(state: State[Own], seat: Seat) -> Action:
    """The first card."""
    return Action("play", state.game.hands[seat][:1])


def points(rules: Rules, state: State[Own]) -> tuple[int, ...]:
    """The highest open card wins; among equals the first."""
    own, seats = state.game, state.config.seats
    opened = [place for place, is_open in enumerate(own.open) if is_open]
    if not opened:
        return (0,) * seats
    best = max(opened, key=lambda place: (rules.ranks.index(own.laid[place][1]), -place))
    winner = (state.sheet.first + best) % seats
    return tuple(rules.worth * (seats - 1 if seat == winner else -1) for seat in range(seats))


def automatic(rules: Rules, state: State[Own]) -> tuple[Event, ...]:
    """The score, when all hands are empty."""
    own, sheet = state.game, state.sheet
    if state.phase != "play" or any(own.hands):
        return ()
    won = points(rules, state)
    result = {"round": sheet.round, "dealer": sheet.dealer, "points": won}
    next_dealer = (sheet.first + 1) % state.config.seats
    return (
        Shown(own.laid, own.stock or ()),
        Scored(points=won, next_dealer=next_dealer, hands=own.hands, result=result),
    )


def evolve(state: State[Own], event: Event) -> State[Own]:
    """One event."""
    own = state.game
    match event:
        case Dealt(hands=hands, stock=stock):
            return state.with_game(Own(hands, (), (), stock, own.buried), "play")
        case Played(seat=seat, cards=cards) | Buried(seat=seat, cards=cards):
            hands = tuple(without(hand, cards) if seat == owner else hand for owner, hand in enumerate(own.hands))
            is_open = isinstance(event, Played)
            buried = tuple(count + (owner == seat and not is_open) for owner, count in enumerate(own.buried))
            return state.with_game(Own(hands, own.laid + cards, (*own.open, is_open), own.stock, buried))
        case Shown(laid=laid, stock=stock):
            return state.with_game(replace(own, laid=laid, stock=stock))
        case _:  # Scored: the match layer has done all
            return state


def view(state: State[Own], seat: Seat | None) -> Own:
    """Own hand, own buried cards, everything open."""
    own = state.game
    if state.phase != "play":
        return own
    first, seats = state.sheet.first, state.config.seats
    laid = tuple(
        card if is_open or (first + place) % seats == seat else HIDDEN
        for place, (card, is_open) in enumerate(zip(own.laid, own.open, strict=True))
    )
    hands = tuple(hand if owner == seat else hidden(len(hand)) for owner, hand in enumerate(own.hands))
    return Own(hands, laid, own.open, None, own.buried)


def any_of(view: State[Own], seat: Seat, legal: Legal, pick: Pick) -> Action:
    """A bot."""
    if isinstance(legal, TooMany):
        return Action("cut", ("20",))
    return legal[pick(len(legal))]


def show(view: State[Own], seat: Seat | None, lang: str) -> tuple[str, ...]:
    """What is laid down."""
    return (" ".join(view.game.laid),)


WORDS: Words = {"bury_twice": ("you have buried a card in this round", "本局已扣过一张")}
EVENTS: tuple[type[Event], ...] = (Dealt, Played, Buried, Shown)


def spec_of(version: int, rules: Rules) -> GameSpec[Own]:
    """A version of the game."""
    return GameSpec(
        name="toy",
        version=version,
        prefix="TY",
        title=("Toy", "玩具"),
        seats_allowed=(2, 3, 4),
        configure=configure,
        option_rows=option_specs(Options),
        pack=lambda config: DECK52,
        fresh=fresh,
        carry=lambda state: {"buried": state.game.buried},
        deal=deal,
        phases={"play": phase_of(rules)},
        automatic=lambda state: automatic(rules, state),
        evolve=evolve,
        view=view,
        canonical=lambda action: action,
        is_over=lambda state: state.sheet.round >= state.config.options.rounds,
        events=EVENTS,
        words=WORDS,
        cases=CaseKeys(lambda state, start: state, {}),
        random=any_of,
        greedy=any_of,
        show=show,
    )


def phase_of(rules: Rules) -> Phase[Own]:
    """The one phase."""
    return Phase(
        to_act,
        lambda state, seat, action: decide(rules, state, seat, action),
        lambda state, seat, limit: legal(rules, state, seat, limit),
        default,
        lambda state: len(state.game.laid),
    )


TOY_1, TOY_2 = spec_of(1, ONE), spec_of(2, TWO)

# ---- facts ----

OPTION_SETS: Sequence[tuple[int | None, Mapping[str, object]]] = [
    (None, {}),
    (2, {"cut": False, "between": False}),
    (3, {"vote_end": True}),
]


def all_cards(state: State[Own]) -> Cards:
    """Hands, what is laid down, the stock."""
    own = state.game
    held: list[Card] = [card for hand in own.hands for card in hand]
    return (*held, *own.laid, *(own.stock or ()))


def zero_sum(state: State[Own]) -> bool:
    """A win is paid by the others."""
    return sum(state.sheet.scores) == 0


def public_facts(state: State[Own]) -> object:
    """All but hands, stock and buried cards."""
    own = state.game
    laid = tuple(card for card, is_open in zip(own.laid, own.open, strict=True) if is_open)
    ended = state.phase != "play"
    return state.phase, state.sheet.scores, laid, own.open, own.buried, str(state.sheet.answers), own if ended else None
