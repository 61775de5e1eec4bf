"""Events onto the state: never checks, never fails, works on hidden cards too."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ...cards import JOKERS, Seat, in_order
from ...events import Event
from ...match.events import Scored, Voided
from ...match.state import SCORED
from . import events as ev
from .levels import level_of
from .options import SEATS
from .ranking import TRUMPS, point_cards, points_of
from .redeal import defenders
from .state import (
    ALL,
    Bottom,
    Exchange,
    Ladder,
    Note,
    Own,
    Table,
    Tally,
    Trick,
    Trumps,
    dealer_of,
    gain,
    is_up,
    lose,
    put,
    ranking_of,
)


def evolve(state: Table, event: Event) -> Table:
    """One event of the game, or Scored or Voided, onto a state."""
    return _EVOLVE[type(event)](state, event)


# ---- deal. DZ-3 ----


def _drawn(state: Table, event: ev.Drawn) -> Table:
    own = state.game
    hands = list(own.hands)
    for place, card in enumerate(event.cards):
        seat = (event.first + place) % SEATS
        hands[seat] = gain_drawn(hands[seat], card)
    bottom = own.bottom if event.kitty is None else Bottom(event.kitty)
    window = () if own.trumps.suit else ALL  # DZ-3.4
    drawn = own.drawn + len(event.cards)
    game = Own(tuple(hands), window, drawn, own.trick, own.tally, own.ladder, own.trumps, bottom)
    return state.with_game(game, "deal")


def gain_drawn(hand: tuple[str, ...], card: str) -> tuple[str, ...]:
    """A hand with one more card, in canonical order."""
    return gain(hand, (card,)) if hand else (card,)


def _waited(state: Table, event: ev.Waited) -> Table:
    own, seat = state.game, event.seat
    return state.with_game(own.with_window(tuple([other for other in own.window if other != seat])))


def _declared(state: Table, event: ev.Declared) -> Table:
    own = state.game
    trumps = Trumps(event.card[0], event.seat, event.card)
    state = state.with_game(replace(own, trumps=trumps, window=()))
    return state if state.sheet.dealer is not None else _with_dealer(state, event.seat)


def _with_dealer(state: Table, seat: Seat) -> Table:
    """The dealer of round 1 is known, and with it the level of the round. DZ-3.4, DZ-3.5."""
    ladder = state.game.ladder
    ladder = Ladder(ladder.levels, ladder.levels[seat % 2], ladder.pending)
    state = state.with_sheet(replace(state.sheet, dealer=seat))
    return state.with_game(replace(state.game, ladder=ladder))


def _dealer_found(state: Table, event: ev.DealerFound) -> Table:
    return _with_dealer(state, event.seat)


# ---- between deal and play. DZ-3.6–6 ----


def _asked_in(state: Table, phase: str) -> tuple[Seat, ...]:
    """Who is asked when a phase opens. DZ-2.2."""
    dealer = dealer_of(state)
    alone = {"way": 1, "sink": 2, "recover": 0}
    return ((dealer + alone[phase]) % SEATS,) if phase in alone else ALL


def _redeal_opened(state: Table, event: ev.RedealOpened) -> Table:
    return state.with_game(state.game.with_window(defenders(event.dealer), event.claimable), "redeal")


def _phase_opened(state: Table, event: ev.PhaseOpened) -> Table:
    return state.with_game(state.game.with_window(_asked_in(state, event.phase)), event.phase)


def _passed(state: Table, event: ev.Passed) -> Table:
    own = state.game
    own = own.with_window(tuple(seat for seat in own.window if seat != event.seat), own.claimable)
    if state.phase != "recover":
        return state.with_game(own)
    ladder = Ladder(own.ladder.levels, own.ladder.level)  # DZ-9.13: the note is gone
    return state.with_game(replace(own, ladder=ladder), SCORED)


def _nothing(state: Table, event: Event) -> Table:
    return state


def _way_chosen(state: Table, event: ev.WayChosen) -> Table:
    own = state.game
    trumps = replace(own.trumps, way=event.kind)
    return state.with_game(replace(own, trumps=trumps, window=(dealer_of(state),)), "fix")


def _tied_shown(state: Table, event: ev.TiedShown) -> Table:
    """DZ-3.9: without a card that counts the dealer names freely."""
    own = state.game
    trumps = replace(own.trumps, tied=event.cards, way="ends" if event.cards else "free")
    return state.with_game(replace(own, trumps=trumps))


def _suit_fixed(state: Table, event: ev.SuitFixed) -> Table:
    own = state.game
    trumps = replace(own.trumps, suit=event.suit, tied=())
    return state.with_game(replace(own, trumps=trumps, window=()))


def _kitty_opened(state: Table, event: ev.KittyOpened) -> Table:
    own, dealer = state.game, dealer_of(state)
    trumps = replace(own.trumps, gabaguo=False)
    hands = put(own.hands, dealer, gain(own.hands[dealer], event.cards))  # DZ-5.3
    bottom = Bottom(event.cards)
    own = replace(own, hands=hands, trumps=trumps, bottom=bottom, window=(dealer,), claimable=None)
    return state.with_game(own, "bury")


def _kitty_lost(state: Table, event: ev.KittyLost) -> Table:
    own, bottom = state.game, Bottom(event.cards, in_order(event.cards))  # DZ-5.2
    trumps = replace(own.trumps, gabaguo=True)
    return state.with_game(replace(own, trumps=trumps, bottom=bottom, window=(), claimable=None), "bury")


def _buried(state: Table, event: ev.Buried) -> Table:
    own, cards = state.game, event.cards
    trumps = ranking_of(state).of_suit(cards, TRUMPS)
    sunk = () if own.trumps.annulled else tuple(card for card in cards if card in JOKERS)  # DZ-5.8
    snatchable = tuple(card for card in trumps if card not in event.announced)  # DZ-6.1
    bottom = Bottom(own.bottom.kitty, cards, event.announced, sunk, snatchable)
    hands = put(own.hands, event.seat, lose(own.hands[event.seat], cards))
    return state.with_game(replace(own, hands=hands, bottom=bottom, window=()))


def _exchanged(state: Table, exchange: Exchange, sunk: tuple[str, ...], window: tuple[Seat, ...]) -> Table:
    """Cards of a hand for cards of the buried six. DZ-5.7, DZ-6.3."""
    own, old, seat = state.game, state.game.bottom, exchange.seat
    left = tuple(card for card in old.snatchable if card not in exchange.took)
    buried = gain(tuple(card for card in old.buried if card not in exchange.took), exchange.gave)
    exchanges = (*old.exchanges, exchange)
    bottom = Bottom(old.kitty, buried, old.announced, sunk, left, exchanges)
    hands = put(own.hands, seat, gain(lose(own.hands[seat], exchange.gave), exchange.took))
    return state.with_game(replace(own, hands=hands, bottom=bottom, window=window))


def _sunk(state: Table, event: ev.Sunk) -> Table:
    own = state.game
    sunk = own.bottom.sunk if own.trumps.annulled else gain(own.bottom.sunk, event.jokers)
    return _exchanged(state, Exchange(event.seat, event.took, event.jokers), sunk, ())


def _snatched(state: Table, event: ev.Snatched) -> Table:
    own = state.game
    sunk = tuple(card for card in own.bottom.sunk if card not in event.took)  # DZ-5.8
    window = tuple(seat for seat in own.window if seat != event.seat)
    return _exchanged(state, Exchange(event.seat, event.took, event.gave), sunk, window)


def _annulled(state: Table, event: ev.Annulled) -> Table:
    own = state.game
    bottom, trumps = replace(own.bottom, sunk=()), replace(own.trumps, annulled=True)  # DZ-5.9
    return state.with_game(replace(own, bottom=bottom, trumps=trumps))


def _play_began(state: Table, event: ev.PlayBegan) -> Table:
    own, old = state.game, state.game.bottom
    bottom = Bottom(old.kitty, old.buried, old.announced, old.sunk) if event.kept else Bottom()
    return state.with_game(replace(own, bottom=bottom, window=(), trick=Trick(event.leader)), "play")


# ---- play and score. DZ-7–9 ----


def _played(state: Table, event: ev.Played) -> Table:
    own, trick, seat = state.game, state.game.trick, event.seat
    hands = put(own.hands, seat, lose(own.hands[seat], event.cards))
    return state.with_game(own.with_trick(hands, Trick(trick.leader, (*trick.plays, event.cards), trick.thrown)))


def _throw_failed(state: Table, event: ev.ThrowFailed) -> Table:
    own, seat, led = state.game, event.seat, (event.card,)
    hands = put(own.hands, seat, lose(own.hands[seat], led))
    return state.with_game(own.with_trick(hands, Trick(seat, (led,), event.thrown)))


def _trick_won(state: Table, event: ev.TrickWon) -> Table:
    own, old, trick = state.game, state.game.tally, state.game.trick
    points, cards = old.points, old.cards
    if not is_up(state, event.seat):  # DZ-8.1
        counted = point_cards([card for play in trick.plays for card in play])
        points, cards = points + points_of(counted), cards + counted
    leaders = (*old.leaders, trick.leader) if event.kept else ()
    closed = old.closed + trick.plays if event.kept else ()
    tally = Tally(points, cards, old.tricks + 1, event.seat, leaders, closed)
    own = Own(own.hands, own.window, own.drawn, Trick(event.seat), tally, own.ladder, own.trumps, own.bottom)
    return state.with_game(own)


def _table_shown(state: Table, event: ev.TableShown) -> Table:
    own, old = state.game, state.game.tally
    tally = Tally(old.points, old.cards, old.tricks, old.last_winner, event.leaders, event.plays)
    bottom = Bottom(event.kitty, event.buried, event.announced, event.sunk)
    return state.with_game(replace(own, tally=tally, bottom=bottom))


def _buried_counted(state: Table, event: ev.BuriedCounted) -> Table:
    own, old = state.game, state.game.tally
    tally = replace(old, points=old.points + points_of(event.cards), cards=old.cards + event.cards)
    return state.with_game(replace(own, tally=tally))


def _levels_set(state: Table, event: ev.LevelsSet) -> Table:
    own = state.game
    note = None if event.side is None or event.level is None else Note(event.side, level_of(event.level))
    levels = tuple(map(level_of, event.levels))
    return state.with_game(replace(own, ladder=Ladder(levels, own.ladder.level, note)))


def _recovered(state: Table, event: ev.Recovered) -> Table:
    own, side, back = state.game, event.seat % 2, level_of(event.level)
    levels = tuple(back if place == side else level for place, level in enumerate(own.ladder.levels))
    own = replace(own, ladder=Ladder(levels, own.ladder.level), window=())
    return state.with_game(own, SCORED)


_EVOLVE: Mapping[type[Event], Callable[[Table, Any], Table]] = {
    ev.Drawn: _drawn,
    ev.Waited: _waited,
    ev.Declared: _declared,
    ev.DealerFound: _dealer_found,
    ev.PhaseOpened: _phase_opened,
    ev.RedealOpened: _redeal_opened,
    ev.Passed: _passed,
    ev.RedealClaimed: _nothing,
    ev.WayChosen: _way_chosen,
    ev.Picked: _nothing,
    ev.TiedShown: _tied_shown,
    ev.SuitFixed: _suit_fixed,
    ev.KittyOpened: _kitty_opened,
    ev.KittyLost: _kitty_lost,
    ev.Buried: _buried,
    ev.Sunk: _sunk,
    ev.Snatched: _snatched,
    ev.Annulled: _annulled,
    ev.PlayBegan: _play_began,
    ev.Played: _played,
    ev.ThrowStood: _played,
    ev.FourPlayed: _played,
    ev.ThrowFailed: _throw_failed,
    ev.TrickWon: _trick_won,
    ev.TableShown: _table_shown,
    ev.BuriedCounted: _buried_counted,
    ev.LevelsSet: _levels_set,
    ev.Recovered: _recovered,
    Scored: _nothing,
    Voided: _nothing,
}
