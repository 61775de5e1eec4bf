"""The bot `random`: any legal action, without listing large sets. DZ-11.3. (`greedy` is in greedy.py.)"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from ...actions import Action
from ...cards import Card, Cards, Seat, in_order
from ...game import Legal, Pick, TooMany
from .asking import PASS
from .bury import may_announce
from .greedy import greedy
from .play import by_suit, called, four_is_led, fours_in
from .state import KITTY, Table, ranking_of

Some = TypeVar("Some")

__all__ = ["greedy", "random"]


def random(view: Table, seat: Seat, legal: Legal, pick: Pick) -> Action:
    """A legal action by chance; where there is no list, one made up by the rules."""
    if not isinstance(legal, TooMany):
        return legal[pick(len(legal))]
    hand = view.game.hands[seat]
    if view.phase == "bury":
        return _bury(view, hand, pick)
    if view.phase == "snatch":
        return _snatch(view, hand, pick)
    if view.phase == "cut":
        return Action("cut", (str(1 + pick(53)),))
    return Action("play", in_order(_follow(view, hand, pick) if view.game.trick.plays else _lead(view, hand, pick)))


def sample(items: Sequence[Some], count: int, pick: Pick) -> list[Some]:
    """`count` different ones, each set equally likely."""
    left = list(items)
    return [left.pop(pick(len(left))) for _ in range(min(count, len(left)))]


def _bury(view: Table, hand: Cards, pick: Pick) -> Action:
    cards = in_order(sample(hand, KITTY, pick))
    announced = [card for card in may_announce(view, cards) if pick(2)]
    keys = (("announce", ",".join(announced)),) if announced else ()
    return Action("bury", cards, keys)


def _snatch(view: Table, hand: Cards, pick: Pick) -> Action:
    snatchable = view.game.bottom.snatchable
    size = pick(min(len(snatchable), len(hand)) + 1)
    if not size:
        return PASS
    gave = in_order(sample(hand, size, pick))
    return Action("snatch", in_order(sample(snatchable, size, pick)), (("give", ",".join(gave)),))


def _lead(view: Table, hand: Cards, pick: Pick) -> Sequence[Card]:
    """A four if there is one, sometimes; else some cards of the suit of a card."""
    fours = fours_in(hand) if view.game.tally.tricks else []
    if fours and not pick(4):
        return fours[pick(len(fours))]
    rules = ranking_of(view)
    group = by_suit(hand, rules)[rules.suit[hand[pick(len(hand))]]]
    return sample(group, 1 + pick(len(group)), pick) if pick(2) else sample(group, 1, pick)


def _follow(view: Table, hand: Cards, pick: Pick) -> Sequence[Card]:
    """As many of the suit called for as possible, then any; on a 嗡 sometimes another."""
    fours = fours_in(hand) if four_is_led(view) else []
    if fours and pick(2):
        return fours[pick(len(fours))]
    count, suit, wanted = len(view.game.trick.plays[0]), ranking_of(view).suit, called(view)
    held = [card for card in hand if suit[card] == wanted]
    first = sample(held, count, pick)
    others = [card for card in hand if suit[card] != wanted]
    return first + sample(others, count - len(first), pick)
