"""Play: phase `play`. DZ-7.1–7.3, DZ-7.7, DZ-11.3."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from functools import partial
from itertools import combinations, repeat
from math import comb

from ...actions import Action, only_keys
from ...cards import ORDER, Card, Cards, Seat, in_order, is_card
from ...errors import IllegalAction
from ...events import Event
from ...game import Legal, Phase, TooMany
from .asking import from_hand, unknown
from .events import FourPlayed, Played, ThrowFailed, ThrowStood, TrickWon
from .options import SEATS
from .ranking import FOUR_OF, FOURS, TRUMPS, Ranking
from .score import score
from .state import Own, Table, ranking_of
from .tricks import best_play, smallest, suit_called, throw_stands

_ALONE: tuple[tuple[Seat, ...], ...] = tuple((seat,) for seat in range(SEATS))
_NEW_ACTION: Callable[[tuple[str, Cards, tuple[()]]], Action] = partial(tuple.__new__, Action)
_SINGLE = {card: Action("play", (card,)) for card in ORDER}


def to_act(state: Table) -> tuple[Seat, ...]:
    """The seat whose turn it is, anticlockwise from the leader. DZ-7.1."""
    own = state.game
    trick = own.trick
    seat = (trick.leader + len(trick.plays)) % SEATS
    return _ALONE[seat] if len(trick.plays) < SEATS and own.hands[seat] else ()


def automatic(state: Table) -> tuple[Event, ...]:
    """A full trick is won; after the last one the round is scored. DZ-7.4–7.10."""
    own = state.game
    trick = own.trick
    if len(trick.plays) == SEATS:
        best = best_play(trick.plays, own.tally.tricks, ranking_of(state))
        return (TrickWon((trick.leader + best) % SEATS, True),)
    if trick.plays or any(own.hands):
        return ()
    return score(state)


def _decide(state: Table, seat: Seat, action: Action) -> tuple[Event, ...]:
    if action.verb != "play":
        raise unknown("DZ-7.1", action)
    if action.keys:
        only_keys(action)
    cards = _cards(action, state.game.hands[seat])
    if state.game.trick.plays:
        _check_follow(state, seat, cards)
        four = cards in FOURS and four_is_led(state)
        return (FourPlayed(seat, cards),) if four else (Played(seat, cards),)
    _check_lead(state, cards)
    return _lead(state, seat, cards)


def _cards(action: Action, hand: Cards) -> Cards:
    cards = action.args
    if len(cards) == 1 and cards[0] in hand:
        return cards
    for card in cards:
        if not is_card(card):
            raise IllegalAction("CM-10.1", "not_a_card", part=card)
    if not cards:
        raise IllegalAction("DZ-7.1", "no_cards")
    return from_hand("DZ-7.1", cards, hand)


# ---- leading ----


def _check_lead(state: Table, cards: Cards) -> None:
    """One card, cards of one suit, or four of a rank after a completed trick. DZ-7.1."""
    if len(cards) == 1:
        return
    suit = ranking_of(state).suit
    if len({suit[card] for card in cards}) == 1:
        return
    if cards not in FOURS:
        raise IllegalAction("DZ-7.1", "one_suit")
    if not state.game.tally.tricks:
        raise IllegalAction("DZ-7.1", "no_four_yet", rank=FOURS[cards])


def _lead(state: Table, seat: Seat, cards: Cards) -> tuple[Event, ...]:
    """The lead; of a throw that fails its smallest card. DZ-7.3."""
    own = state.game
    if len(cards) == 1:
        return (Played(seat, cards),)
    if own.tally.tricks and cards in FOURS:
        return (FourPlayed(seat, cards),)
    rules = ranking_of(state)
    others = (hand for other, hand in enumerate(own.hands) if other != seat)
    if throw_stands(cards, others, rules):
        return (ThrowStood(seat, cards),)
    return (ThrowFailed(seat, cards, smallest(cards, rules)),)


def by_suit(hand: Cards, rules: Ranking) -> dict[str, list[Card]]:
    """A hand by suit, trumps as one. DZ-4.2."""
    groups: dict[str, list[Card]] = {}
    suit = rules.suit
    for card in hand:
        groups.setdefault(suit[card], []).append(card)
    return groups


def fours_in(hand: Cards) -> list[Cards]:
    """The fours of a kind that a hand holds. DZ-7.1."""
    if len(hand) < 4:
        return []
    return [FOUR_OF[card[1]] for card in hand if card[0] == "S" and all(other in hand for other in FOUR_OF[card[1]])]


def _mixed_fours(hand: Cards, rules: Ranking) -> list[Cards]:
    """Fours that are not of one suit: those of twos and level cards are throws already. DZ-11.3."""
    return [four for four in fours_in(hand) if len({rules.suit[card] for card in four}) > 1]


def _leads(state: Table, hand: Cards, limit: int) -> Legal:
    groups = by_suit(hand, ranking_of(state))
    fours = _mixed_fours(hand, ranking_of(state)) if state.game.tally.tricks else []
    if sum((1 << len(group)) - 1 for group in groups.values()) + len(fours) > limit:
        return TooMany("DZ-11.3", "lead_any", {"held": len(hand)})
    actions = [_SINGLE[card] for card in hand]
    for group in groups.values():
        for size in range(2, len(group) + 1):
            actions += _plays(combinations(group, size))
    return tuple(actions + _plays(fours))


def _plays(many: Iterable[Cards]) -> list[Action]:
    """Plays in bulk: twice as fast as by Action(…), and a first lead may have 4,095."""
    return list(map(_NEW_ACTION, zip(repeat("play"), many, repeat(()))))


# ---- following ----


def called(state: Table) -> str:
    """The suit that the current trick calls for. DZ-7.2, DZ-7.7."""
    return suit_called(state.game.trick.plays[0], state.game.tally.tricks, ranking_of(state))


def four_is_led(state: Table) -> bool:
    """Whether the current lead is a 嗡. DZ-7.1."""
    return state.game.tally.tricks > 0 and state.game.trick.plays[0] in FOURS


def _check_follow(state: Table, seat: Seat, cards: Cards) -> None:
    """As many cards as led, as many of the suit called for as possible; on a 嗡 also a 嗡. DZ-7.2, DZ-7.7."""
    lead = state.game.trick.plays[0]
    if len(cards) != len(lead):
        raise IllegalAction("DZ-7.2", "as_many_as_led", count=len(lead))
    if cards in FOURS and four_is_led(state):
        return  # 对嗡
    rules, wanted = ranking_of(state), called(state)
    held, put = rules.of_suit(state.game.hands[seat], wanted), rules.of_suit(cards, wanted)
    must = min(len(lead), len(held))
    if len(put) < must:
        rule = "DZ-7.7" if four_is_led(state) else "DZ-7.2"
        code = "follow_trumps" if wanted == TRUMPS else "follow_suit"
        raise IllegalAction(rule, code, count=must, suit=wanted)


def _follows(state: Table, hand: Cards, limit: int) -> Legal:
    count, wanted, suit = len(state.game.trick.plays[0]), called(state), ranking_of(state).suit
    held = [card for card in hand if suit[card] == wanted]
    if count == 1:
        return tuple([_SINGLE[card] for card in held or hand])
    must = min(count, len(held))
    others = [card for card in hand if suit[card] != wanted]
    fours = _own_fours(state, hand, must) if four_is_led(state) else []
    if comb(len(held), must) * comb(len(others), count - must) + len(fours) > limit:
        code = "must_trumps" if wanted == TRUMPS else "must_suit"
        return TooMany("DZ-11.3", code, {"count": count, "must": must, "suit": wanted})
    if must == count:
        return tuple(_plays(combinations(held, count)) + _plays(fours))
    base = tuple(held)
    mixed = [in_order(base + rest) if base else rest for rest in combinations(others, count - must)]
    return tuple(_plays(mixed) + _plays(fours))


def _own_fours(state: Table, hand: Cards, must: int) -> list[Cards]:
    """对嗡 that would not do as trumps: those are listed already. DZ-7.7, DZ-7.9."""
    rules = ranking_of(state)
    return [four for four in fours_in(hand) if len(rules.of_suit(four, TRUMPS)) < must]


def _legal(state: Table, seat: Seat, limit: int) -> Legal:
    hand = state.game.hands[seat]
    return _follows(state, hand, limit) if state.game.trick.plays else _leads(state, hand, limit)


def _default(state: Table, seat: Seat) -> Action:
    """The first card, or the first that follow, in discard order. DZ-11.4."""
    hand = ranking_of(state).discard_order(state.game.hands[seat])
    if not state.game.trick.plays:
        return Action("play", hand[:1])
    suit, wanted = ranking_of(state).suit, called(state)
    first = [card for card in hand if suit[card] == wanted]
    rest = [card for card in hand if suit[card] != wanted]
    return Action("play", in_order((first + rest)[: len(state.game.trick.plays[0])]))


def _asked_anew(state: Table) -> Hashable:
    return state.game.tally.tricks, len(state.game.trick.plays)


PLAY: Phase[Own] = Phase(to_act, _decide, _legal, _default, _asked_anew)
