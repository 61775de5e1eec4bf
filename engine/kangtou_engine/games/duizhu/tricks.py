"""Leads, throws, 嗡 and who wins a trick. DZ-7.1, DZ-7.3–7.9."""

from __future__ import annotations

from collections.abc import Iterable

from ...cards import Card, Cards
from .ranking import FOURS, TRUMPS, Ranking


def is_four_lead(lead: Cards, tricks: int) -> bool:
    """Whether a lead is a 嗡: four of one rank after a completed trick. DZ-7.1."""
    return tricks > 0 and lead in FOURS


def suit_called(lead: Cards, tricks: int, rules: Ranking) -> str:
    """The suit that a lead calls for; a 嗡 calls for trumps. DZ-7.2, DZ-7.7."""
    return TRUMPS if is_four_lead(lead, tricks) else rules.suit[lead[0]]


def smallest(cards: Cards, rules: Ranking) -> Card:
    """The smallest card of a throw, of equals the first in S H C D. DZ-7.3."""
    return min(cards, key=rules.place.__getitem__)


def throw_stands(thrown: Cards, others: Iterable[Cards], rules: Ranking) -> bool:
    """Whether no other hand holds a larger card of the suit than the smallest thrown. DZ-7.3."""
    suit, worth = rules.suit, rules.worth
    called, bar = suit[thrown[0]], min([worth[card] for card in thrown])
    for hand in others:
        for card in hand:
            if worth[card] > bar and suit[card] == called:
                return False
    return True


def best_play(plays: tuple[Cards, ...], tricks: int, rules: Ranking) -> int:
    """Which of the plays, counted from the leader, is best so far. `tricks`: completed before this one."""
    lead = plays[0]
    if is_four_lead(lead, tricks):
        return _best_four(plays, rules)
    suit, worth = rules.suit, rules.worth
    called, alone = suit[lead[0]], len(lead) == 1
    best, place = max([worth[card] for card in lead]), 0
    for number, play in enumerate(plays):
        if number == 0:
            continue
        if not (alone and suit[play[0]] == called) and (called == TRUMPS or not won_with_trumps(play, rules)):
            continue  # a discard, or cards that a throw cannot lose to. DZ-7.4, DZ-7.5
        largest = max([worth[card] for card in play])
        if largest > best:  # all trumps are above side cards. DZ-4.7
            best, place = largest, number
    return place


def _best_four(plays: tuple[Cards, ...], rules: Ranking) -> int:
    """The largest 嗡 of the trick. DZ-7.6, DZ-7.8, DZ-7.9."""
    order = [rules.fours[FOURS[play]] if play in FOURS else -1 for play in plays]
    return order.index(max(order))


def won_with_trumps(play: Cards, rules: Ranking) -> bool:
    """Whether all cards of the winning play are trumps. DZ-8.2."""
    return all(rules.suit[card] == TRUMPS for card in play)
