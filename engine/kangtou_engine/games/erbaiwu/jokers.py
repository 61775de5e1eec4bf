"""Jokers that stand for a card, and the black cards that this makes. EB-6."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, permutations

from ...actions import Action, is_named
from ...cards import JOKERS, Card, Cards, Seat, is_card
from ...errors import IllegalAction
from .events import ExtraNoted
from .pack import PLACE, SAME_RANK, SEVENS, meant, named, names_in
from .state import Area, Position, Round


def usable_jokers(hand: Cards, area: Area) -> Cards:
    """The jokers of a hand that may be laid down: none before a seven lies shown. EB-6.1."""
    return tuple(card for card in JOKERS if card in hand) if area.runs else ()


def may_name(area: Area, card: Card) -> bool:
    """Whether a joker may still stand for this card: no seven, and nothing named before. EB-6.5."""
    return card in PLACE and card not in area.black


def laid_cards(own: Round, seat: Seat, action: Action, count: int) -> Cards:
    """The arguments of a reduction: so many cards from the seat's hand, jokers with names. EB-5.1, EB-6.2."""
    if len(action.args) != count:
        raise IllegalAction("EB-5.1", "wants_cards", verb=action.verb, count=count)
    from_hand = tuple(_checked(own, argument) for argument in action.args)
    if len(set(from_hand)) < count:
        raise IllegalAction("EB-1.2", "card_twice", cards=" ".join(from_hand))
    lacking = [card for card in from_hand if card not in own.hands[seat]]
    if lacking:
        raise IllegalAction("EB-5.1", "not_in_hand", cards=" ".join(lacking))
    if len(set(meant(action.args))) < count:
        raise IllegalAction("EB-6.5", "same_card", cards=" ".join(action.args))
    return action.args


def _checked(own: Round, argument: str) -> Card:
    """The card that would leave the hand."""
    area = own.area
    if is_named(argument):
        joker, name = argument[:2], argument[3:]
        if not area.runs:
            raise IllegalAction("EB-6.1", "joker_waits", card=joker)
        if name in SEVENS:
            raise IllegalAction("EB-6.5", "names_seven", card=argument)
        if not may_name(area, name):
            raise IllegalAction("EB-6.5", "named_before", card=name)
        return joker
    if not is_card(argument):
        raise IllegalAction("CM-10.1", "not_a_card", part=argument[:20])
    if argument in JOKERS:
        raise IllegalAction("EB-6.2", "joker_unnamed", card=argument)
    if argument in SEVENS:
        raise IllegalAction("EB-5.2", "seven_only_shown", card=argument)
    if argument in area.black:
        raise IllegalAction("EB-6.4", "black_card", card=argument)
    return argument


def fillings(
    area: Area, cards: list[Card], jokers: Cards, rank_of: Card, count: int, end: Card | None = None
) -> Iterator[Cards]:
    """All ways to lay `count` cards of the rank of `rank_of`, in canonical form. EB-6.5.

    `cards` are the plain cards of that rank in hand. Without an `end` card (a meld) one of them must be there.
    """
    least = 1 if end is None else 0  # EB-5.5, EB-5.4
    for helping in range(min(len(jokers), count - least) + 1):
        for there in combinations(cards, count - helping):
            if not helping:
                yield there
                continue
            free = [card for card in SAME_RANK[rank_of] if card not in there and card != end and card not in area.black]
            for names in permutations(free, helping):
                for chosen in combinations(jokers, helping):
                    yield (*there, *map(named, chosen, names))


def penalties(state: Position, seat: Seat, laid: Cards) -> tuple[ExtraNoted, ...]:
    """For each joker whose card has already been used: neither in the stock nor in a hand. EB-6.7."""
    points = state.config.options.dead_black
    if not points:
        return ()
    own = state.game
    return tuple(
        ExtraNoted(seat, points, "dead_black", card)
        for card in names_in(laid)
        if card not in own.closed.stock and not any(card in hand for hand in own.hands)
    )
