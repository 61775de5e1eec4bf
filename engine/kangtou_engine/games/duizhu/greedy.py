"""The bot `greedy`: declares long suits, buries points away, leads winners, keeps high trumps for the last trick.

It looks at its view only and plays by rules of thumb; `pick` is not used, so it is the same every time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...actions import Action
from ...cards import JOKERS, SUITS, Card, Cards, Seat, in_order
from ...game import Legal, Pick
from .asking import PASS
from .bury import may_announce
from .deal import WAIT
from .greedy_play import follow, lead
from .ranking import LEVEL_CARDS, POINTS, TRUMPS, Ranking, face
from .redeal import CLAIM
from .state import DRAWN, KITTY, Table, is_up, rank_now, ranking_of
from .suit import nameable

LATE = DRAWN - 8  # from here on a fair suit is declared before somebody else's is


def greedy(view: Table, seat: Seat, legal: Legal, pick: Pick) -> Action:
    """A sensible legal action from what the seat sees."""
    decide = _BY_PHASE.get(view.phase)
    if decide is not None:
        return decide(view, seat)
    if isinstance(legal, tuple) and view.phase == "redeal":
        return CLAIM if CLAIM in legal and _weak(view, seat) else PASS
    return _common(view.phase)


def _common(phase: str) -> Action:
    if phase == "cut":
        return Action("cut", ("27",))
    return Action("ready") if phase == "between" else Action("recover")


# ---- the suit ----


def strength(view: Table, seat: Seat, suit: str) -> int:
    """How many trumps the hand has if that suit is trumps, jokers and level cards twice."""
    hand, level = view.game.hands[seat], rank_now(view)
    total = 0
    for card in hand:
        if card in JOKERS or card[1] == level:
            total += 2
        elif card[0] == suit or card[1] == "2":
            total += 1
    return total


def _deal(view: Table, seat: Seat) -> Action:
    """Declare the longest suit of a level card held if it is long, or in round 1 to become dealer. DZ-3.3."""
    hand = view.game.hands[seat]
    shown = [card for card in hand if card in LEVEL_CARDS[rank_now(view)]]
    if not shown:
        return WAIT
    best = max(shown, key=lambda card: strength(view, seat, card[0]))
    needed = 4 if view.game.drawn >= LATE else 3 + len(hand) // 2
    if view.sheet.dealer is None or strength(view, seat, best[0]) >= needed:
        return Action("declare", (best,))
    return WAIT


def _weak(view: Table, seat: Seat) -> bool:
    """Too few trumps to do much at J or A: better a new deal. DZ-3.6."""
    suit = view.game.trumps.suit
    suits = (suit,) if suit else SUITS
    return max(strength(view, seat, one) for one in suits) < 6


def _way(view: Table, seat: Seat) -> Action:
    return Action("way", (), (("kind", "single"),))  # leaves the dealer the least choice


def _fix(view: Table, seat: Seat) -> Action:
    if named := nameable(view):
        suit = max(named, key=lambda one: strength(view, seat, one))
        return Action("name", (), (("suit", suit),))
    if view.game.trumps.way == "ends":
        return Action("pick", (), (("end", "high"),))
    return Action("pick", (), (("pos", "1"),))


# ---- the six ----


def _bury(view: Table, seat: Seat) -> Action:
    """Side cards that win nothing, points first, short suits before long ones; trumps only if it must. DZ-5.3."""
    rules, hand = ranking_of(view), view.game.hands[seat]
    cards = in_order(sorted(hand, key=lambda card: _use(card, hand, rules))[:KITTY])
    announced = may_announce(view, cards)
    keys = (("announce", ",".join(announced)),) if announced else ()
    return Action("bury", cards, keys)


def _use(card: Card, hand: Cards, rules: Ranking) -> tuple[int, int, int]:
    """What a card is worth to keep; the lowest go first."""
    suit = rules.suit[card]
    if suit == TRUMPS:
        return 3, 0, rules.worth[card]
    if is_winner(card, hand, rules):
        return 2, 0, rules.worth[card]
    length = len(rules.of_suit(hand, suit))
    return (0, -POINTS[card], length) if card in POINTS else (1, length, rules.worth[card])


def is_winner(card: Card, hand: Cards, rules: Ranking) -> bool:
    """Whether all higher cards of its suit are in the same hand."""
    suit, worth = rules.suit[card], rules.worth
    higher = [other for other in rules.suit if rules.suit[other] == suit and worth[other] > worth[card]]
    return all(other in hand for other in higher)


def _sink(view: Table, seat: Seat) -> Action:
    return PASS  # a joker in hand is worth more than levels that may be lost


def _snatch(view: Table, seat: Seat) -> Action:
    """Trumps for the side cards that matter least. DZ-6.3."""
    rules, hand = ranking_of(view), view.game.hands[seat]
    spare = [card for card in hand if rules.suit[card] != TRUMPS and not is_winner(card, hand, rules)]
    if is_up(view, seat):
        spare.sort(key=lambda card: (-POINTS.get(card, 0), face(card)))  # points are safe there
    else:
        spare.sort(key=lambda card: (POINTS.get(card, 0), face(card)))
    wanted = sorted(view.game.bottom.snatchable, key=rules.worth.__getitem__, reverse=True)
    count = min(len(spare), len(wanted))
    if not count:
        return PASS
    gave = ",".join(in_order(spare[:count]))
    return Action("snatch", in_order(wanted[:count]), (("give", gave),))


def _play(view: Table, seat: Seat) -> Action:
    cards = follow(view, seat) if view.game.trick.plays else lead(view, seat)
    return Action("play", in_order(cards))


_BY_PHASE: Mapping[str, Callable[[Table, Seat], Action]] = {
    "deal": _deal,
    "way": _way,
    "fix": _fix,
    "bury": _bury,
    "sink": _sink,
    "snatch": _snatch,
    "play": _play,
}
