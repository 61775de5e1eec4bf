"""Snatching buried trumps 抢主: phase `snatch`. DZ-6."""

from __future__ import annotations

from itertools import combinations
from math import comb

from ...actions import Action, cards_of, only_keys, plain
from ...cards import Seat, show_cards
from ...errors import IllegalAction
from ...events import Event
from ...game import Legal, Phase, TooMany
from .asking import PASS, asked, from_hand, keyed, once_each, unknown
from .events import Passed, PlayBegan, Snatched
from .state import Own, Table, dealer_of

LISTED = 3  # with more snatchable cards there is no list. DZ-11.3


def automatic(state: Table) -> tuple[Event, ...]:
    """All have answered or nothing is left: the dealer leads. DZ-6.4."""
    if state.game.window and state.game.bottom.snatchable:
        return ()
    return (PlayBegan(dealer_of(state), True),)


def _to_act(state: Table) -> tuple[Seat, ...]:
    return asked(state) if state.game.bottom.snatchable else ()


def _decide(state: Table, seat: Seat, action: Action) -> tuple[Event, ...]:
    if action.verb == "pass":
        plain(action)
        return (Passed(seat),)
    if action.verb != "snatch":
        raise unknown("DZ-11.1", action)
    only_keys(action, "give")
    took = once_each("DZ-6.3", cards_of(action))
    if not took:
        raise IllegalAction("DZ-6.3", "snatch_none")
    others = [card for card in took if card not in state.game.bottom.snatchable]
    if others:
        raise IllegalAction("DZ-6.1", "not_snatchable", cards=show_cards(others))
    gave = from_hand("DZ-6.3", keyed(action, "give", "DZ-6.3"), state.game.hands[seat])
    if len(took) != len(gave):
        raise IllegalAction("DZ-6.3", "as_many", took=len(took), gave=len(gave))
    return (Snatched(seat, took, gave),)


def _legal(state: Table, seat: Seat, limit: int) -> Legal:
    hand, open_cards = state.game.hands[seat], state.game.bottom.snatchable
    sizes = range(1, min(len(open_cards), len(hand)) + 1)
    count = 1 + sum(comb(len(open_cards), size) * comb(len(hand), size) for size in sizes)
    if len(open_cards) > LISTED or count > limit:
        return TooMany("DZ-11.3", "snatch_some", {"cards": show_cards(open_cards)})
    actions = [PASS]
    for size in sizes:
        given = [(("give", ",".join(gave)),) for gave in combinations(hand, size)]
        actions += [Action("snatch", took, keys) for took in combinations(open_cards, size) for keys in given]
    return tuple(actions)


SNATCH: Phase[Own] = Phase(_to_act, _decide, _legal, lambda state, seat: PASS)
