"""For bots that search: actions worth comparing, and what a round is worth. The sampling is in sample.py."""

from __future__ import annotations

from ...actions import Action
from ...cards import Card, Cards, Seat, in_order
from ...game import Legal, Pick, TooMany
from ...planning import Planning
from .asking import PASS
from .deal import DEAL
from .greedy import greedy
from .greedy_play import top_run
from .play import PLAY, by_suit
from .ranking import POINTS, Ranking
from .redeal import REDEAL
from .sample import recall, sample
from .sink import SINK
from .state import Table, dealer_of, ranking_of
from .suit import FIX, WAY

MOST, LISTED = 8, 60
UNLISTED = TooMany("DZ-11.3", "lead_any", {"held": 25})  # greedy makes no use of a list, but in `redeal`
LEVEL, DEALER, POINT = 1.0, 0.4, 0.01  # of a round: a level, the next deal, a card point
LISTS = {"deal": DEAL, "redeal": REDEAL, "way": WAY, "fix": FIX, "sink": SINK}


def quick(state: Table, seat: Seat, pick: Pick) -> Action:
    """Greedy, on the full state: it looks at its own hand only."""
    legal: Legal = REDEAL.legal(state, seat, LISTED) if state.phase == "redeal" else UNLISTED
    return greedy(state, seat, legal, pick)


def candidates(view: Table, seat: Seat, pick: Pick) -> tuple[Action, ...]:
    """Short lists whole; of plays one of each worth, top cards and low cards."""
    phase = LISTS.get(view.phase)
    if phase is not None:
        legal = phase.legal(view, seat, LISTED)
        return () if isinstance(legal, TooMany) else legal[:MOST]
    if view.phase == "snatch":
        return (PASS,)
    if view.phase != "play":
        return ()
    if not view.game.trick.plays:
        return _leads(view, seat)
    if len(view.game.trick.plays[0]) > 1:
        return tuple(dict.fromkeys((PLAY.default(view, seat), *_some_follows(view, seat))))
    legal = PLAY.legal(view, seat, LISTED)
    return () if isinstance(legal, TooMany) else _apart([action.args for action in legal], ranking_of(view))


def _some_follows(view: Table, seat: Seat) -> tuple[Action, ...]:
    legal = PLAY.legal(view, seat, MOST)
    return () if isinstance(legal, TooMany) else legal


def _leads(view: Table, seat: Seat) -> tuple[Action, ...]:
    """Of each suit the lowest and the highest card and the cards that stand as a throw; 嗡 is what greedy leads."""
    rules, hand = ranking_of(view), view.game.hands[seat]
    found: list[Cards] = []
    for group in by_suit(hand, rules).values():
        ordered = sorted(group, key=lambda card: (rules.worth[card], card in POINTS))
        found += [(ordered[0],), (ordered[-1],)]
        run = top_run(group, rules)
        if len(run) > 1:
            found.append(in_order(run))
    return tuple(Action("play", cards) for cards in dict.fromkeys(found))


def _apart(plays: list[Cards], rules: Ranking) -> tuple[Action, ...]:
    """Single cards, one of each worth and points: the lowest and the highest if there are too many."""
    kinds: dict[tuple[str, int, int], Card] = {}
    for (card,) in plays:
        kinds.setdefault((rules.suit[card], rules.worth[card], POINTS.get(card, 0)), card)
    cards = sorted(kinds.values(), key=lambda card: rules.worth[card])
    if len(cards) > MOST:
        cards = cards[: MOST // 2] + cards[-MOST // 2 :]
    return tuple(Action("play", (card,)) for card in cards)


def worth(before: Table, after: Table, seat: Seat) -> float:
    """Levels and the next deal count; points by the way. DZ-8, DZ-9, DZ-10.1."""
    side = seat % 2
    old, new = before.game.ladder.levels, after.game.ladder.levels
    levels = (new[side] - old[side]) - (new[1 - side] - old[1 - side])
    dealer = dealer_of(after)
    taken = after.game.tally.points * (1 if dealer % 2 != side else -1)
    following = after.sheet.next_dealer
    deals = 0 if following is None else 1 if following % 2 == side else -1
    return LEVEL * levels + DEALER * deals + POINT * taken


PLANNING = Planning(sample=sample, recall=recall, quick=quick, candidates=candidates, worth=worth)
