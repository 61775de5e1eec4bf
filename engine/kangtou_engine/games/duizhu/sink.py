"""The partner buries jokers 扣王: phase `sink`. DZ-5.7."""

from __future__ import annotations

from itertools import combinations

from ...actions import Action, cards_of, only_keys, plain
from ...cards import JOKERS, Cards, Seat, show_cards
from ...errors import IllegalAction
from ...events import Event
from ...game import Phase
from .asking import PASS, asked, from_hand, keyed, once_each, unknown
from .bury import to_snatch
from .events import Passed, Sunk
from .ranking import face
from .state import Own, Table


def automatic(state: Table) -> tuple[Event, ...]:
    """The partner has answered. DZ-2.2."""
    return () if state.game.window else to_snatch(state)


def lowest_faces(buried: Cards, count: int) -> list[int]:
    """The face values of the `count` lowest of the buried six, ascending. DZ-5.7."""
    return sorted(map(face, buried))[:count]


def takeable(buried: Cards, count: int) -> list[Cards]:
    """Each choice of the `count` lowest; equal ones are chosen freely. DZ-5.7."""
    wanted = lowest_faces(buried, count)
    return [cards for cards in combinations(buried, count) if sorted(map(face, cards)) == wanted]


def _decide(state: Table, seat: Seat, action: Action) -> tuple[Event, ...]:
    if action.verb == "pass":
        plain(action)
        return (Passed(seat),)
    if action.verb != "sink":
        raise unknown("DZ-11.1", action)
    only_keys(action, "take")
    jokers = from_hand("DZ-5.7", cards_of(action), state.game.hands[seat])
    if not jokers or any(card not in JOKERS for card in jokers):
        raise IllegalAction("DZ-5.7", "sink_jokers")
    took = once_each("DZ-5.7", keyed(action, "take", "DZ-5.7"))
    buried = state.game.bottom.buried
    others = [card for card in took if card not in buried]
    if others:
        raise IllegalAction("DZ-5.7", "not_buried", cards=show_cards(others))
    if len(took) != len(jokers):
        raise IllegalAction("DZ-5.7", "as_many", took=len(took), gave=len(jokers))
    if sorted(map(face, took)) != lowest_faces(buried, len(took)):
        raise IllegalAction("DZ-5.7", "not_lowest", cards=show_cards(took))
    return (Sunk(seat, jokers, took),)


def _legal(state: Table, seat: Seat, limit: int) -> tuple[Action, ...]:
    actions, buried = [PASS], state.game.bottom.buried
    held = tuple(card for card in state.game.hands[seat] if card in JOKERS)
    for count in range(1, min(len(held), len(buried)) + 1):
        for jokers in combinations(held, count):
            for took in takeable(buried, count):
                actions.append(Action("sink", jokers, (("take", ",".join(took)),)))
    return tuple(actions)


SINK: Phase[Own] = Phase(asked, _decide, _legal, lambda state, seat: PASS)
