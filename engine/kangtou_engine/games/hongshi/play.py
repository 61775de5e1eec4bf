"""Phase `play`: leading, following, winning tricks, going out. HS-6, HS-7, HS-14."""

from __future__ import annotations

from collections.abc import Hashable

from ...actions import Action, cards_of, only_keys, plain
from ...cards import Seat, in_order, missing, show_cards
from ...errors import IllegalAction
from ...events import Event
from ...game import Phase
from .combos import AS_RED, AS_TEN, TWO_MEANINGS, Combo, beats, combo_of, combos_in, leads_in
from .deal import opening_card
from .events import Passed, Played, TrickWon
from .state import SEATS, Hongshi, Laid, Own, is_open, next_in, top_of

PASS = Action("pass")


def to_act(state: Hongshi) -> tuple[Seat, ...]:
    """HS-2.2, HS-6.5."""
    return (state.game.turn,)


def combo_to_beat(state: Hongshi) -> Combo | None:
    """The play to beat as a combination; None for a leader."""
    laid = top_of(state.game)
    return combo_of(state.config.options.top, laid.cards, laid.as_ten) if laid else None


def decide(state: Hongshi, seat: Seat, action: Action) -> tuple[Event, ...]:
    """One turn. HS-6.3, HS-6.4."""
    if action.verb == "play":
        combo = _combo(state, seat, action)
        return (Played(seat, combo.cards, combo.as_ten or None),)
    if action.verb != "pass":
        raise IllegalAction("HS-2.2", "unknown_verb", verb=action.verb)
    plain(action)
    if not state.game.trick:
        raise IllegalAction("HS-6.3", "leader_passes")
    return (Passed(seat),)


def _combo(state: Hongshi, seat: Seat, action: Action) -> Combo:
    """What a legal `play` lays down; the checks in the order of HS-14.2."""
    combo = _known(state, action) or _read(state, seat, action)
    hand = state.game.hands[seat]
    for card in combo.cards:
        if card not in hand:
            raise IllegalAction("HS-14.2", "not_in_hand", cards=show_cards(missing(combo.cards, hand)))
    if state.game.opening and (card := opening_card(state.config)) not in combo.cards:
        raise IllegalAction("HS-6.2", "opening_card", card=card)
    old = combo_to_beat(state)
    if old and not beats(combo, old):
        raise IllegalAction("HS-5.7", "does_not_beat", cards=show_cards(combo.cards), old=_said(old))
    return combo


def _known(state: Hongshi, action: Action) -> Combo | None:
    """The combination of an action in canonical form, which most are."""
    if not action.keys:
        return combo_of(state.config.options.top, action.args)
    return combo_of(state.config.options.top, action.args, True) if action.keys == (AS_TEN,) else None


def _read(state: Hongshi, seat: Seat, action: Action) -> Combo:
    """The combination of any action, or what is wrong with it. HS-14.2."""
    only_keys(action, "as")
    cards = in_order(cards_of(action))
    if not cards:
        raise IllegalAction("HS-6.3", "no_cards")
    if len(set(cards)) < len(cards):
        raise IllegalAction("CM-10.1", "card_twice", cards=show_cards(cards))
    if lacking := missing(cards, state.game.hands[seat]):
        raise IllegalAction("HS-14.2", "not_in_hand", cards=show_cards(lacking))
    if combo_of(state.config.options.top, cards) is None:
        raise IllegalAction("HS-5.1", "no_combination", cards=show_cards(cards))
    if action.keys and cards not in TWO_MEANINGS:
        raise IllegalAction("HS-5.5", "one_meaning", cards=show_cards(cards))
    if action.keys and action.keys not in ((AS_TEN,), (AS_RED,)):
        raise IllegalAction("HS-5.5", "bad_meaning", given=action.key("as") or "")
    combo = combo_of(state.config.options.top, cards, action.keys == (AS_TEN,))
    assert combo is not None
    return combo


def _said(combo: Combo) -> str:
    return show_cards(combo.cards) + (" as=ten" if combo.as_ten else "")


def canonical(action: Action) -> Action:
    """Cards in canonical order, without an `as=red` that says nothing. HS-14.1. Others as they are."""
    if action.verb not in ("play", "reveal"):
        return action
    try:
        cards = in_order(action.args)
    except KeyError:
        return action
    keys = () if action.keys == (AS_RED,) and cards in TWO_MEANINGS and action.verb == "play" else action.keys
    return Action(action.verb, cards, keys)


def legal(state: Hongshi, seat: Seat, limit: int) -> tuple[Action, ...]:
    """HS-14.3."""
    own = state.game
    top = state.config.options.top
    old = combo_to_beat(state)
    if old:
        return (PASS, *(new.action for new in combos_in(top, own.hands[seat]) if beats(new, old)))
    leads = leads_in(top, own.hands[seat])
    if own.opening:  # HS-6.2
        card = opening_card(state.config)
        return tuple(action for action in leads if card in action.args)
    return leads


def default(state: Hongshi, seat: Seat) -> Action:
    """HS-2.4."""
    own = state.game
    if own.trick:
        return PASS
    if own.opening:
        return Action("play", (opening_card(state.config),))
    singles = [new for new in combos_in(state.config.options.top, own.hands[seat]) if len(new.cards) == 1]
    return min((new for new in singles if not new.as_ten), key=lambda new: new.rank).action


def trick_won(state: Hongshi) -> TrickWon | None:
    """The end of the trick, if all others still in have passed. HS-6.6."""
    own = state.game
    laid = top_of(own)
    if laid is None:
        return None
    passes = len(own.trick) - 1 - _place(own.trick, laid)
    others = SEATS - len(own.out) - (laid.seat not in own.out)
    return TrickWon(laid.seat, _leader(own, laid.seat)) if passes == others else None


def _place(trick: tuple[Laid, ...], laid: Laid) -> int:
    return max(place for place, other in enumerate(trick) if other is laid)


def _leader(own: Own, winner: Seat) -> Seat:
    """Who leads after an unbeaten play of `winner`."""
    if winner not in own.out:
        return winner  # HS-6.6
    up = own.sides.up or ()
    if is_open(own) and winner in up:  # HS-7.3: a cart of the open side
        for partner in up:
            if partner not in own.out:
                return partner
    return next_in(winner, own.out)  # HS-7.2


def is_settled(state: Hongshi) -> bool:
    """Whether play ends. HS-7.4, HS-15.7."""
    out, up = state.game.out, state.game.sides.up or ()
    if len(out) == SEATS - 1:
        return True
    if state.config.options.play_out or not out:
        return False
    if len(up) == 1:
        return up[0] in out  # HS-15.7 (a)
    return len(out) == 2 and (out[0] in up) == (out[1] in up)  # HS-15.7 (b)


def _asked(state: Hongshi) -> Hashable:
    """Changes with every turn: the partner of an open side may pass and then lead. HS-7.3."""
    return len(state.game.trick), sum(map(len, state.game.hands))


PLAY_PHASE = Phase(to_act, decide, legal, default, _asked)
