"""What a seat remembers of a round, and full states that fit its view. DZ-12."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...cards import DECK54, JOKERS, Card, Cards, Seat, in_order
from ...events import Event
from ...game import Pick
from ...match.events import RoundBegan
from ...match.state import CUT
from ...planning import NOTHING, Allowed, Known, deal_out, shuffled
from . import events as ev
from .options import SEATS
from .play import called
from .ranking import FACE, LEVEL_CARDS
from .redeal import claimable, defenders
from .state import DRAWN, KITTY, Bottom, Table, dealer_of, rank_now, ranking_of

DEALING = frozenset(("deal", "redeal", "way", "fix"))
SIX_OPEN = frozenset(("sink", "snatch"))


# ---- memory ----


def recall(known: Known, view: Table, event: Event) -> Known:
    """Cards that were played or put aside, cards that were seen in a hand, suits that were not followed."""
    match event:
        case RoundBegan():
            return NOTHING
        case ev.Declared(seat=seat, card=card):
            return known.with_held(seat, (card,))
        case ev.KittyOpened(cards=cards):
            return known.with_held(dealer_of(view), cards)
        case ev.KittyLost(cards=cards):
            return replace(known.left(cards), kept=Bottom(cards, in_order(cards)))
        case ev.Buried(cards=cards):
            return known.left(cards)
        case ev.Sunk(seat=seat, jokers=gave, took=took) | ev.Snatched(seat=seat, gave=gave, took=took):
            return known.with_held(seat, took).left(gave)
        case ev.PlayBegan():
            bottom = view.game.bottom
            return replace(known, kept=bottom) if bottom.buried and known.kept is None else known
        case ev.ThrowFailed(seat=seat, thrown=thrown, card=card):
            return known.with_held(seat, thrown).left((card,))
        case ev.Annulled():
            return replace(known, kept=replace(known.kept, sunk=())) if known.kept else known
        case ev.FourPlayed(cards=cards):  # a 对嗡 need not follow suit. DZ-7.7
            return known.left(cards)
        case ev.Played(seat=seat, cards=cards):  # ThrowStood too
            return _followed(known.left(cards), view, seat, cards)
        case _:
            return known


def _followed(known: Known, view: Table, seat: Seat, cards: Cards) -> Known:
    """Who gives another suit than the one called for has no more of it. DZ-7.2, DZ-7.7."""
    if not view.game.trick.plays:
        return known
    suit, wanted = ranking_of(view).suit, called(view)
    if all(suit[card] == wanted for card in cards):
        return known
    return replace(known, void=known.void | {(seat, wanted)})


# ---- sampling ----


@dataclass(slots=True)
class _Places:
    """Where cards are known to be, how many each hand lacks, and the cards that may be anywhere."""

    hands: list[list[Card]]
    room: list[int]
    pool: list[Card]

    def give(self, seat: Seat, card: Card) -> None:
        """A card of the pool is in this hand."""
        if card in self.pool and self.room[seat]:
            self.pool.remove(card)
            self.hands[seat].append(card)
            self.room[seat] -= 1

    def deal(self, pick: Pick, allowed: Allowed | None = None) -> tuple[Cards, ...]:
        """All hands in full; the pool keeps what is left."""
        dealt, self.pool = deal_out(self.pool, self.room, pick, allowed)
        return tuple(in_order((*part, *more)) for part, more in zip(self.hands, dealt, strict=True))


def sample(view: Table, seat: Seat, pick: Pick, known: Known = NOTHING) -> Table:
    """A full state: hands, the kitty or the buried six, and the cards that are still to be drawn."""
    if view.phase == CUT:
        return view.with_sheet(replace(view.sheet, pile=tuple(shuffled(DECK54, pick))))
    if view.phase in DEALING:
        return _in_deal(view, seat, _places(view, seat, known), pick)
    if view.phase == "play":
        return _in_play(view, _places(view, seat, known), known, pick)
    if view.phase == "bury" or view.phase in SIX_OPEN:
        return view.with_game(replace(view.game, hands=_places(view, seat, known).deal(pick)))
    return view


def _places(view: Table, seat: Seat, known: Known) -> _Places:
    """What is on view, and the cards whose place is known."""
    own = view.game
    seen = {*own.hands[seat], *(card for play in own.trick.plays for card in play), *own.tally.cards, *known.gone}
    seen.update(own.bottom.buried)
    places = _Places(
        hands=[list(hand) if place == seat else [] for place, hand in enumerate(own.hands)],
        room=[0 if place == seat else len(hand) for place, hand in enumerate(own.hands)],
        pool=[card for card in DECK54 if card not in seen],
    )
    for card, holder in _held(view, known).items():
        places.give(holder, card)
    return places


def _held(view: Table, known: Known) -> dict[Card, Seat]:
    """Cards that are in a certain hand, by memory and view."""
    own, phase = view.game, view.phase
    held = dict(known.held)
    if phase in DEALING and own.trumps.shown is not None and own.trumps.shown_by is not None:
        held[own.trumps.shown] = own.trumps.shown_by
    if phase == "bury" or phase in SIX_OPEN:
        held.update(dict.fromkeys(own.bottom.kitty, dealer_of(view)))
        for exchange in own.bottom.exchanges:
            held.update(dict.fromkeys(exchange.took, exchange.seat))
    if phase == "play":
        held.update(dict.fromkeys(own.trick.thrown, own.trick.leader))
    return held


def _in_play(view: Table, places: _Places, known: Known, pick: Pick) -> Table:
    own = view.game
    suit = ranking_of(view).suit

    def allowed(place: int, card: Card) -> bool:
        return (place, suit[card]) not in known.void

    hands = places.deal(pick, allowed if known.void else None)
    bottom: Bottom = known.kept or _six(places, pick)
    return view.with_game(replace(own, hands=hands, bottom=bottom))


def _six(places: _Places, pick: Pick) -> Bottom:
    """Any six for the buried ones, for who has not seen them."""
    buried = in_order(shuffled(places.pool, pick)[:KITTY])
    return Bottom(buried, buried)


# ---- before the kitty is opened ----


def _in_deal(view: Table, seat: Seat, places: _Places, pick: Pick) -> Table:
    own = view.game
    if own.drawn < DRAWN:
        hands = places.deal(pick)
        pile = (*(card for hand in hands for card in hand), *shuffled(places.pool, pick))
        return view.with_sheet(replace(view.sheet, pile=pile)).with_game(replace(own, hands=hands))
    banned = _level_cards(view, seat, places, pick) if view.phase == "redeal" else frozenset()
    kitty = _kitty(own.trumps.tied, places, pick)
    down = defenders(dealer_of(view))
    hands = places.deal(pick, (lambda place, card: place not in down or card not in banned) if banned else None)
    state = view.with_game(replace(own, hands=hands, bottom=Bottom(kitty)))
    if view.phase == "redeal" and own.claimable is None:
        state = state.with_game(replace(state.game, claimable=claimable(state)))
    return state


def _level_cards(view: Table, seat: Seat, places: _Places, pick: Pick) -> frozenset[Card]:
    """The level cards that defenders cannot have; one that a partner must have goes there. DZ-3.6."""
    cards, hand = LEVEL_CARDS[rank_now(view)], view.game.hands[seat]
    if view.game.claimable:
        return cards
    if view.game.claimable is False and cards.isdisjoint(hand):
        free = [card for card in places.pool if card in cards]
        if free and not cards.intersection(places.hands[(seat + 2) % SEATS]):
            places.give((seat + 2) % SEATS, free[pick(len(free))])
    return frozenset()


def _kitty(tied: Cards, places: _Places, pick: Pick) -> Cards:
    """Six cards of the pool; with cards that were shown as highest or lowest, none beyond those. DZ-3.9."""
    rest = [card for card in places.pool if card not in tied]
    if tied:
        bar = FACE[tied[0]]
        beyond = [
            [card for card in rest if card in JOKERS or card[1] == "2" or (FACE[card] < bar) == low]
            for low in (True, False)
        ]
        fits = [[card for card in cards if FACE.get(card) != bar] for cards in beyond]
        fits = [cards for cards in fits if len(cards) >= KITTY - len(tied)]
        rest = fits[pick(len(fits))] if fits else rest
    chosen = [*tied, *shuffled(rest, pick)[: KITTY - len(tied)]]
    for card in chosen:
        places.pool.remove(card)
    return tuple(shuffled(chosen, pick))
