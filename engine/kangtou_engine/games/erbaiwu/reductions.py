"""Reductions: show, extend, lock, meld, lift. EB-5.

Each has two readers of the same facts (`next_card`, `open_end`, `groups`, `fillings`): one lists, one decides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from ...actions import Action, cards_of, only_keys
from ...cards import SUITS, Card, Cards, Seat
from ...errors import IllegalAction
from ...events import Event
from .events import Extended, Lifted, Locked, Melded, SevenShown
from .jokers import fillings, laid_cards, may_name, penalties, usable_jokers
from .pack import ORDER, PACK, SEVENS, named, real
from .state import SIDES, Area, Position, Round, groups, lock_of, next_card, open_end, run_of, side_of

Reduce: TypeAlias = Callable[[Position, Seat, Action], "tuple[Event, ...]"]

_ALONE: Mapping[str, Mapping[Card, Action]] = {
    verb: {card: Action(verb, (card,)) for card in PACK} for verb in ("show", "extend", "lift")
}


# ---- deciding ----


def show(state: Position, seat: Seat, action: Action) -> tuple[Event, ...]:
    """`show D7`: the only way in which a seven leaves a hand. EB-5.2."""
    only_keys(action)
    cards = cards_of(action)
    if len(cards) != 1:
        raise IllegalAction("EB-5.2", "wants_cards", verb="show", count=1)
    if cards[0] not in SEVENS:
        raise IllegalAction("EB-5.2", "not_a_seven", card=cards[0])
    if cards[0] not in state.game.hands[seat]:
        raise IllegalAction("EB-5.2", "not_in_hand", cards=cards[0])
    return (SevenShown(seat, cards[0]),)


def extend(state: Position, seat: Seat, action: Action) -> tuple[Event, ...]:
    """`extend D8`: the next card outwards on a side that is not locked. EB-5.3."""
    only_keys(action)
    laid = laid_cards(state.game, seat, action, 1)
    card = laid[0][-2:]
    run = run_of(state.game.area, card[0])
    if run is None:
        raise IllegalAction("EB-5.3", "no_run", card=card, suit=card[0])
    side = side_of(card)
    if lock_of(run, side):
        raise IllegalAction("EB-5.4", "side_locked", card=card)
    wanted = next_card(run, side)
    if wanted is None:
        raise IllegalAction("EB-1.3", "side_full", card=card)
    if wanted != card:
        raise IllegalAction("EB-5.3", "not_next", card=card, wanted=wanted)
    return (Extended(seat, laid[0]), *penalties(state, seat, laid))


def lock(state: Position, seat: Seat, action: Action) -> tuple[Event, ...]:
    """`lock S9 H9 run=D`: two cards of the rank of an end card. EB-5.4."""
    suit = action.key("run")
    only_keys(action, "run")
    if suit not in tuple(SUITS):
        raise IllegalAction("EB-5.4", "wants_run")
    laid = laid_cards(state.game, seat, action, 2)
    first, second = laid[0][-2:], laid[1][-2:]
    if first[1] != second[1]:
        raise IllegalAction("EB-5.4", "not_same_rank", cards=" ".join(laid))
    run = run_of(state.game.area, suit)
    if run is None:
        raise IllegalAction("EB-5.4", "no_such_run", suit=suit)
    side = side_of(first)
    if lock_of(run, side):
        raise IllegalAction("EB-5.4", "locked_already", suit=suit)
    end = open_end(run, side)
    if end is None or end[1] != first[1]:
        raise IllegalAction("EB-5.4", "not_the_end", cards=" ".join(laid), suit=suit)
    if end in (first, second):
        raise IllegalAction("EB-6.5", "same_card", cards=" ".join((end, *laid)))
    return (Locked(seat, laid, suit), *penalties(state, seat, laid))


def meld(state: Position, seat: Seat, action: Action) -> tuple[Event, ...]:
    """`meld S4 H4 C4`: three of a rank; there are two jokers, so one at least is none. EB-5.5, EB-6.2."""
    only_keys(action)
    laid = laid_cards(state.game, seat, action, 3)
    if len({card[-1] for card in laid}) > 1:
        raise IllegalAction("EB-5.5", "not_same_rank", cards=" ".join(laid))
    return (Melded(seat, laid), *penalties(state, seat, laid))


def lift(state: Position, seat: Seat, action: Action) -> tuple[Event, ...]:
    """`lift D4`: the fourth card on three of a kind. EB-5.6."""
    only_keys(action)
    laid = laid_cards(state.game, seat, action, 1)
    group = groups(state.game.area).get(laid[0][-2:])
    if group is None:
        raise IllegalAction("EB-5.6", "no_group", card=laid[0][-2:])
    return (Lifted(seat, laid[0], real((*group, laid[0]))), *penalties(state, seat, laid))


REDUCTIONS: Mapping[str, Reduce] = {"show": show, "extend": extend, "lock": lock, "meld": meld, "lift": lift}


# ---- listing ----


def list_reductions(own: Round, seat: Seat, cards: list[Card]) -> list[Action]:
    """All reductions of a seat in turn; `cards` are the plain cards of its hand. EB-5.1."""
    hand, area = own.hands[seat], own.area
    jokers = usable_jokers(hand, area)
    by_rank: dict[str, list[Card]] = {}
    for card in cards:
        by_rank.setdefault(card[1], []).append(card)
    found = [_ALONE["show"][card] for card in hand if card in SEVENS]
    if area.runs:
        openings = [opening for run in area.runs for side in SIDES if (opening := next_card(run, side))]
        found += _alone("extend", area, openings, cards, jokers)
        found += _locks(area, by_rank, jokers)
    found += _melds(area, by_rank, jokers)
    if there := groups(area):
        found += _alone("lift", area, list(there), cards, jokers)
    return found


def _alone(verb: str, area: Area, wanted: list[Card], cards: list[Card], jokers: Cards) -> list[Action]:
    """Extensions or lifts: one card, or a joker for it. EB-5.3, EB-5.6."""
    found = [_ALONE[verb][card] for card in wanted if card in cards]
    if jokers:
        free = [card for card in wanted if may_name(area, card)]
        found += [Action(verb, (named(joker, card),)) for joker in jokers for card in free]
    return found


def _locks(area: Area, by_rank: Mapping[str, list[Card]], jokers: Cards) -> list[Action]:
    """EB-5.4."""
    found: list[Action] = []
    for run in area.runs:
        for side in SIDES:
            end = open_end(run, side)
            if end is None:
                continue
            there = by_rank.get(end[1], [])
            if len(there) + len(jokers) < 2:
                continue
            keys = (("run", run.suit),)
            found += [Action("lock", laid, keys) for laid in fillings(area, there, jokers, end, 2, end)]
    return found


def _melds(area: Area, by_rank: Mapping[str, list[Card]], jokers: Cards) -> list[Action]:
    """EB-5.5."""
    found: list[Action] = []
    for there in by_rank.values():
        if len(there) + len(jokers) >= 3:
            found += [Action("meld", laid) for laid in fillings(area, there, jokers, there[0], 3)]
    return found


def canonical(action: Action) -> Action:
    """Cards in canonical order, jokers last by their own rank; anything else stays as it is. EB-12."""
    if len(action.args) < 2:
        return action
    return Action(action.verb, tuple(sorted(action.args, key=_canonical_place)), action.keys)


def _canonical_place(argument: str) -> tuple[int, str]:
    card = argument[:2]
    place = ORDER.get(card, len(PACK))
    return place, argument
