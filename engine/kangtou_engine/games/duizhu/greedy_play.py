"""How the bot `greedy` leads and follows: rules of thumb on what its view shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...cards import Card, Cards, Seat
from .options import SEATS
from .play import by_suit, called, four_is_led, fours_in
from .ranking import FIXED, FOURS, POINTS, TRUMPS, TWO, Ranking, points_of
from .state import Table, ranking_of
from .tricks import best_play

TOP_TRUMP = TWO  # a two or better: kept for the last tricks while others do


# ---- leading ----


def lead(view: Table, seat: Seat) -> Sequence[Card]:
    """A 嗡, the top cards of a side suit, else a low card; high trumps wait for the end."""
    hand, rules = view.game.hands[seat], ranking_of(view)
    fours = fours_in(hand) if view.game.tally.tricks else []
    if fours:
        return min(fours, key=lambda four: rules.fours[FOURS[four]])
    groups = by_suit(hand, rules)
    if len(groups) == 1 and (run := top_run(hand, rules)) and len(run) == len(hand):
        return hand
    sides = [group for suit, group in groups.items() if suit != TRUMPS]
    runs = [run for group in sides if (run := top_run(group, rules))]
    if runs:
        return max(runs, key=len)
    trumps = groups.get(TRUMPS, [])
    if not sides or len(trumps) > len(hand) - len(trumps) + 2:
        return [_lowest(trumps, rules)]
    return [_lowest(max(sides, key=len), rules)]


def top_run(cards: Sequence[Card], rules: Ranking) -> list[Card]:
    """The highest cards of the suit without a gap: as a throw they stand. DZ-7.3."""
    suit, worth = rules.suit[cards[0]], rules.worth
    ladder = sorted((card for card in rules.suit if rules.suit[card] == suit), key=worth.__getitem__, reverse=True)
    run: list[Card] = []
    for card in ladder:
        if card not in cards and not any(worth[card] == worth[other] for other in run):
            break
        if card in cards:
            run.append(card)
    return run


def _lowest(cards: Sequence[Card], rules: Ranking) -> Card:
    return min(cards, key=lambda card: (card in POINTS, rules.worth[card]))


# ---- following ----


@dataclass(frozen=True, slots=True)
class _Trick:
    """What a follower weighs: the best card so far, whether its partner holds the trick, what is in it."""

    rules: Ranking
    hand: Cards
    count: int
    best: Cards
    partner: bool
    last: bool
    points: int
    held: list[Card]
    others: list[Card]


def _weigh(view: Table, seat: Seat) -> _Trick:
    rules, plays, hand = ranking_of(view), view.game.trick.plays, view.game.hands[seat]
    place = best_play(plays, view.game.tally.tricks, rules)
    winner = (view.game.trick.leader + place) % SEATS
    wanted = called(view)
    return _Trick(
        rules=rules,
        hand=hand,
        count=len(plays[0]),
        best=plays[place],
        partner=(winner - seat) % 2 == 0,
        last=len(plays) == SEATS - 1,
        points=sum(map(points_of, plays)),
        held=[card for card in hand if rules.suit[card] == wanted],
        others=[card for card in hand if rules.suit[card] != wanted],
    )


def follow(view: Table, seat: Seat) -> Sequence[Card]:
    """Take what has points, feed the partner, else give the least."""
    trick = _weigh(view, seat)
    if four_is_led(view):
        return _follow_four(view, trick)
    if trick.count > 1:
        return _follow_many(trick)
    return [_follow_suit(trick) if trick.held else _void(trick)]


def _give(cards: Sequence[Card], count: int, rules: Ranking, feed: bool) -> list[Card]:
    """The cheapest cards, or with `feed` points first: side cards before trumps, low before high."""

    def price(card: Card) -> tuple[bool, int, int]:
        worth = POINTS.get(card, 0)
        return rules.worth[card] >= TOP_TRUMP, -worth if feed else worth, rules.worth[card]

    return sorted(cards, key=price)[:count]


def _fill(trick: _Trick, feed: bool) -> list[Card]:
    first = _give(trick.held, trick.count, trick.rules, feed)
    sides = [card for card in trick.others if trick.rules.suit[card] != TRUMPS]
    trumps = [card for card in trick.others if trick.rules.suit[card] == TRUMPS]
    left = trick.count - len(first)
    rest = _give(sides, left, trick.rules, feed)
    return first + rest + _give(trumps, left - len(rest), trick.rules, False)


def _follow_four(view: Table, trick: _Trick) -> Sequence[Card]:
    """A larger 嗡 against the opponents, else the least."""
    order = trick.rules.fours
    larger = [four for four in fours_in(trick.hand) if order[FOURS[four]] > order[FOURS[trick.best]]]
    if larger and not trick.partner:
        return larger[0]
    return _fill(trick, trick.partner)


def _follow_many(trick: _Trick) -> Sequence[Card]:
    """On a throw: ruff with the lowest trumps that win if there are points, else feed or give little. DZ-7.5."""
    worth, best = trick.rules.worth, max(trick.rules.worth[card] for card in trick.best)
    trumps = sorted((card for card in trick.others if worth[card] >= FIXED), key=worth.__getitem__)
    if not trick.held and not trick.partner and trick.points >= 5 and len(trumps) >= trick.count:
        for top in range(trick.count - 1, len(trumps)):
            if worth[trumps[top]] > best:
                return [*trumps[: trick.count - 1], trumps[top]]
    return _fill(trick, trick.partner)


def _beaters(cards: Sequence[Card], trick: _Trick) -> list[Card]:
    worth = trick.rules.worth
    bar = worth[trick.best[0]]
    return sorted((card for card in cards if worth[card] > bar), key=worth.__getitem__)


def _safe(trick: _Trick) -> bool:
    """Whether the partner's card will probably hold."""
    worth, best = trick.rules.worth, trick.best[0]
    return trick.partner and (trick.last or worth[best] >= TOP_TRUMP or (worth[best] < FIXED and best[1] in "AK"))


def _follow_suit(trick: _Trick) -> Card:
    winners = _beaters(trick.held, trick)
    if _safe(trick):
        return _give(trick.held, 1, trick.rules, True)[0]
    if not winners or trick.partner:
        return _give(trick.held, 1, trick.rules, False)[0]
    if trick.last:
        paying = [card for card in winners if card in POINTS]
        if paying or trick.points or trick.rules.worth[winners[0]] < TOP_TRUMP:
            return max(paying, key=POINTS.__getitem__) if paying else winners[0]
        return _give(trick.held, 1, trick.rules, False)[0]
    top = winners[-1]
    if trick.rules.worth[top] >= TOP_TRUMP and trick.points < 5:
        return _give(trick.held, 1, trick.rules, False)[0]
    return top if top not in POINTS or trick.rules.worth[top] >= FIXED else _give(trick.held, 1, trick.rules, False)[0]


def _void(trick: _Trick) -> Card:
    """Ruff for points with the lowest trump that wins, else a discard. DZ-7.4."""
    if _safe(trick):
        return _fill(trick, True)[0]
    trumps = _beaters([card for card in trick.others if trick.rules.worth[card] >= FIXED], trick)
    if (
        trumps
        and not trick.partner
        and (trick.points or (len(trumps) > 3 and trick.rules.worth[trumps[0]] < TOP_TRUMP))
    ):
        paying = [card for card in trumps if card in POINTS]
        return paying[-1] if trick.last and paying else trumps[0]
    return _fill(trick, False)[0]
