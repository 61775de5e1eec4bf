"""What the phases share: who is asked, cards of an action, canonical forms. DZ-2.7, DZ-11.2."""

from __future__ import annotations

from ...actions import Action, card_list
from ...cards import ORDER, Cards, Seat, in_order, is_card, show_cards
from ...errors import IllegalAction
from .state import Table

PASS = Action("pass")
_CARD_VERBS = frozenset(("play", "bury", "sink", "snatch"))
_CARD_KEYS = frozenset(("announce", "take", "give"))


def asked(state: Table) -> tuple[Seat, ...]:
    """The seats that have not answered."""
    return state.game.window


def unknown(rule: str, action: Action) -> IllegalAction:
    """The refusal of a verb that does not belong to the phase."""
    return IllegalAction(rule, "unknown_verb", verb=action.verb)


def once_each(rule: str, cards: Cards) -> Cards:
    """Cards of an action, canonical; refuses a card named twice. DZ-11.2."""
    if len(set(cards)) < len(cards):
        twice = sorted({card for card in cards if cards.count(card) > 1}, key=ORDER.__getitem__)
        raise IllegalAction(rule, "card_twice", cards=show_cards(twice))
    return in_order(cards)


def from_hand(rule: str, cards: Cards, hand: Cards) -> Cards:
    """The same cards, canonical; refuses any that the hand does not hold or that is named twice."""
    cards = once_each(rule, cards)
    lacking = [card for card in cards if card not in hand]
    if lacking:
        raise IllegalAction(rule, "not_in_hand", cards=show_cards(lacking))
    return cards


def keyed(action: Action, name: str, rule: str) -> Cards:
    """The cards of a key that must be there, as given."""
    value = action.key(name)
    if value is None:
        raise IllegalAction(rule, "wants_key", key=name)
    return card_list(value)


def no_arguments(action: Action, rule: str) -> None:
    """Refuse arguments: for verbs that take keys only."""
    if action.args:
        raise IllegalAction(rule, "no_arguments", verb=action.verb)


def canonical(action: Action) -> Action:
    """Cards in canonical order, before the keys and in their values; others as they are. DZ-11.2."""
    verb, args, keys = action
    if len(args) > 1 and verb in _CARD_VERBS and all(map(is_card, args)):
        args = in_order(args)
    if keys:
        keys = tuple((key, _sorted_value(value) if key in _CARD_KEYS else value) for key, value in keys)
    return Action(verb, args, keys)


def _sorted_value(value: str) -> str:
    cards = value.split(",")
    return ",".join(in_order(cards)) if all(map(is_card, cards)) else value
