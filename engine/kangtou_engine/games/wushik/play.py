"""Phase `play` 出牌: what may be played, and when a seat may pass. WK-5, WK-6.3, WK-6.6, WK-7, WK-10.8."""

from __future__ import annotations

from collections.abc import Hashable

from ...actions import Action, cards_of, only_keys, plain
from ...cards import DECK54, Card, Cards, Seat, in_order, missing, show_cards
from ...errors import IllegalAction
from ...events import Event
from ...game import Legal, Phase, TooMany
from .combos import RANK_OF, Reading, combo_text
from .events import Passed, Played
from .listing import LIMIT, Search, known, plays
from .rules import Rules, as_follow, as_lead, readings_of, rules_of
from .state import WushikState


def to_act(state: WushikState) -> tuple[Seat, ...]:
    """The seat whose turn it is. WK-6.3."""
    return (state.game.turn,)


def asked(state: WushikState) -> Hashable:
    """Changes with every play, pass and trick."""
    own = state.game
    return (tuple(map(len, own.played)), own.turn, own.trick is None)


def must_hold(state: WushikState, seat: Seat) -> Card | None:
    """The card that the lead due must contain, if any. WK-2.5, WK-14.7."""
    own = state.game
    if not own.first_lead or own.trick is not None or not state.config.options.lead_card:
        return None
    card = rules_of(state.config.options).variant.lead_card
    return card if card in own.hands[seat] else None


def announced_by(state: WushikState, seat: Seat) -> str | None:
    """The ranks of which this seat may play six and more together, None: all. WK-10.8, WK-14.10."""
    return state.game.announced.ranks[seat] if state.config.options.announce else None


def to_beat(state: WushikState, rules: Rules) -> Reading | None:
    """The reading of the play to beat, None when a lead is due."""
    trick = state.game.trick
    return None if trick is None else rules.readings[trick.combo]


# ---- deciding ----


def decide(state: WushikState, seat: Seat, action: Action) -> tuple[Event, ...]:
    """WK-6.3, WK-7.1, WK-7.2."""
    if action.verb == "pass":
        plain(action)
        if state.game.trick is None:
            raise IllegalAction("WK-6.3", "must_lead")
        return (Passed(seat),)
    if action.verb != "play":
        raise IllegalAction("WK-5.1", "unknown_verb", verb=action.verb)
    only_keys(action)
    cards = in_order(cards_of(action))
    if not cards:
        raise IllegalAction("WK-3.1", "no_cards")
    lacking = missing(cards, state.game.hands[seat])
    if lacking:
        raise IllegalAction("WK-5.5", "not_in_hand", cards=show_cards(in_order(lacking)))
    return (Played(seat, cards, _reading(state, seat, cards).combo),)


def _reading(state: WushikState, seat: Seat, cards: Cards) -> Reading:
    """As what these cards of the hand are played now. WK-3.12. Raises IllegalAction."""
    rules = rules_of(state.config.options)
    found = readings_of(rules, cards)
    if not found:
        raise IllegalAction("WK-3.1", "no_combination", cards=show_cards(cards))
    if found[0].bomb and found[0].kind == "bomb" and found[0].n >= 6:
        shown = announced_by(state, seat)
        if shown is not None and cards[0][1] not in shown:
            raise IllegalAction("WK-10.8", "not_announced", cards=show_cards(cards), rank=cards[0][1])
    old = to_beat(state, rules)
    if old is None:
        must = must_hold(state, seat)
        if must is not None and must not in cards:
            raise IllegalAction("WK-14.7", "lead_must_hold", card=must)
        return as_lead(found)
    reading = as_follow(rules, found, old)
    if reading is None:
        new = combo_text(as_lead(found).combo)
        raise IllegalAction("WK-4", "does_not_beat", cards=show_cards(cards), new=new, old=combo_text(old.combo))
    return reading


# ---- listing ----


def search_of(state: WushikState, seat: Seat) -> Search:
    """What `legal` looks for."""
    rules = rules_of(state.config.options)
    hand, bombs = known(rules, state.game.hands[seat], must_hold(state, seat))
    return Search(rules, hand, bombs, to_beat(state, rules), announced_by(state, seat))


def legal(state: WushikState, seat: Seat, limit: int) -> Legal:
    """All of them, or TooMany beyond the limit asked for and that of the book. WK-7.5."""
    search = search_of(state, seat)
    most = min(limit, LIMIT)
    passing = () if search.old is None else (Action("pass"),)
    found = plays(search, most - len(passing))
    if found is None:
        return _too_many(state, seat, search.old)
    return (*passing, *[Action("play", tuple([DECK54[place] for place in chosen])) for chosen in found])


def _too_many(state: WushikState, seat: Seat, old: Reading | None) -> TooMany:
    if old is not None:
        return TooMany("WK-7.2", "any_higher", {"combo": combo_text(old.combo)})
    must = must_hold(state, seat)
    return TooMany("WK-7.1", "any_lead") if must is None else TooMany("WK-14.7", "any_lead_with", {"card": must})


def default(state: WushikState, seat: Seat) -> Action:
    """Pass; leading, the lowest single card, or the lead card alone where it must be played. WK-6.6."""
    if state.game.trick is not None:
        return Action("pass")
    card = must_hold(state, seat) or min(state.game.hands[seat], key=RANK_OF.__getitem__)
    return Action("play", (card,))


def canonical(action: Action) -> Action:
    """Cards in canonical order; what is not a play of cards stays as it is."""
    if action.verb != "play" or any(card not in RANK_OF for card in action.args):
        return action
    return Action(action.verb, in_order(action.args), action.keys)


PHASE = Phase(to_act, decide, legal, default, asked)
