"""How the greedy bot judges a hand and a play. It knows its view only; nothing here is a rule.

`burden` is roughly the number of leads that a hand still needs: a group of equal cards is one, high ones less
(they win the lead themselves), a bomb none, and runs and kickers save some. A play is judged by the burden that
it takes away, the points at stake, and what it costs in bombs.
"""

from __future__ import annotations

from ...actions import Action
from ...cards import DECK54, SUITS, Seat
from .announce import big_sets
from .combos import CARD_POINTS, FIVE, KING, RANK_OF, TEN
from .holding import DECK_RANKS, RANK_AT, Chosen, Holding
from .listing import Bundle, Search, bundles
from .play import search_of
from .rules import Rules
from .state import WushikState
from .variants import ALL

ACE, TWO = RANK_OF["SA"], RANK_OF["S2"]
STRENGTH = (*(0.0,) * 9, 0.05, 0.15, 0.3, 0.55, 0.7, 0.85)  # by rank: how likely it wins the lead
BOMB_COST = 0.75  # a bomb is worth about this many leads
POINT = 0.2  # and so is a point


def announce(view: WushikState, seat: Seat) -> Action:
    """Announces what it holds: an announced bomb is worth more than the secret. WK-10.8."""
    for rank in big_sets(view.game.hands[seat]):
        if rank not in view.game.announced.ranks[seat]:
            return Action("show", (), (("rank", rank),))
    return Action("pass")


def lead(view: WushikState, seat: Seat) -> Chosen | None:
    """The play that sheds most for its worth; never None, since a single can always be led."""
    search = search_of(view, seat)
    counts = [len(held) for held in search.hand.ranks]
    before = burden(search.rules, counts)
    danger = _fewest_against(view, seat)
    best, found = -1e9, None
    for bundle in lowest(bundles(search) or []):
        chosen = pick_cards(search.hand, bundle)
        if len(chosen) == sum(counts):
            return chosen
        left = _less(counts, chosen)
        worth = before - burden(search.rules, left) + 0.06 * bundle.n - 0.2 * POINT * _points(chosen)
        worth -= 0.015 * max(map(RANK_AT.__getitem__, chosen[: bundle.each or 1]))
        if bundle.bomb:
            worth -= BOMB_COST if sum(left) > 6 else 0.3
        if danger <= 2 and bundle.n == danger and not bundle.bomb:
            worth -= 1.5 - 0.2 * bundle.value / 8
        if worth > best:
            best, found = worth, chosen
    return found


def follow(view: WushikState, seat: Seat) -> Chosen | None:
    """The best play that beats, or None to pass."""
    search = search_of(view, seat)
    trick = view.game.trick
    if trick is None:
        return None
    counts = [len(held) for held in search.hand.ranks]
    before = burden(search.rules, counts)
    ally = _allied(view, seat, trick.by)
    danger = _fewest_against(view, seat)
    stakes = 0.0 if ally else POINT * trick.points
    best, found = 0.0, None
    for bundle in bundles(search) or ():
        chosen = pick_cards(search.hand, bundle)
        if len(chosen) == sum(counts):
            return chosen
        worth = before - burden(search.rules, _less(counts, chosen)) + stakes
        worth += _worth_of_taking(search, bundle, counts, danger)
        if ally:
            worth -= 0.8 if search.old is not None and search.old.value < 14 and not bundle.bomb else 3.0
        if worth > best:
            best, found = worth, chosen
    return found


def _worth_of_taking(search: Search, bundle: Bundle, counts: list[int], danger: int) -> float:
    """What else counts when a play is beaten: bombs spent, an opponent about to go out, high cards spent."""
    worth = 0.35 if danger <= 3 else 0.0
    if bundle.bomb:
        worth -= BOMB_COST if sum(counts) > bundle.n + 5 else 0.6
        return worth + (0.9 if danger <= 3 else 0.0)
    return worth - 0.01 * bundle.value


def _allied(view: WushikState, seat: Seat, other: Seat) -> bool:
    return ALL[view.config.options.variant].partners and (seat + other) % 2 == 0


def _fewest_against(view: WushikState, seat: Seat) -> int:
    """The fewest cards that an opponent still in holds."""
    held = [len(hand) for other, hand in enumerate(view.game.hands) if other != seat and not _allied(view, seat, other)]
    return min([count for count in held if count], default=99)


def lowest(found: list[Bundle]) -> list[Bundle]:
    """Of each kind and number of cards the two lowest bodies; all bombs."""
    seen: dict[tuple[str, int], int] = {}
    kept = []
    for bundle in sorted(found, key=lambda bundle: bundle.value):
        key = (bundle.kind, bundle.n)
        seen[key] = seen.get(key, 0) + 1
        if seen[key] <= 2 or bundle.bomb:
            kept.append(bundle)
    return kept


def _less(counts: list[int], chosen: Chosen) -> list[int]:
    left = list(counts)
    for place in chosen:
        left[RANK_AT[place]] -= 1
    return left


def _points(chosen: Chosen) -> int:
    return sum(CARD_POINTS[DECK54[place]] for place in chosen)


def pick_cards(hand: Holding, bundle: Bundle) -> Chosen:
    """One play of a bundle: the first cards of the body, the least useful kickers."""
    if bundle.fixed:
        return bundle.fixed[0]
    if bundle.flush:
        suit = next(suit for suit in range(len(SUITS)) if bundle.flush >> suit & 1)
        return tuple(suit * DECK_RANKS + rank for rank in bundle.body)
    body: Chosen = sum((hand.choices(rank, bundle.each)[0] for rank in bundle.body), ())
    if not bundle.kick:
        return body
    if bundle.paired:
        pairs = hand.pairs(bundle.body)
        return body + min(pairs, key=lambda pair: (_use(hand, pair[0]), RANK_AT[pair[0]]))
    others = [place for rank, held in enumerate(hand.ranks) if rank not in bundle.body for place in held]
    others.sort(key=lambda place: (place != hand.must_place, _use(hand, place), RANK_AT[place]))
    return body + tuple(others[: bundle.kick])


def _use(hand: Holding, place: int) -> int:
    """How much a card is needed where it is: alone, in a pair, a triple, as an ace or higher, in a bomb."""
    rank = RANK_AT[place]
    count = len(hand.ranks[rank])
    return 5 if count >= 4 else 4 if rank >= ACE else count


def burden(rules: Rules, counts: list[int]) -> float:
    """See above."""
    total, singles, triples = 0.0, 0, 0
    for rank, count in enumerate(counts):
        if not count:
            continue
        if count >= 4:
            total -= 0.4 * (count - 3)
            continue
        total += 1.0 - STRENGTH[rank] - (0.1 if count == 3 else 0.0)
        singles += count == 1 and rank < ACE
        triples += count == 3
    if rules.kicked and triples and not rules.kicked[0].paired:
        total -= 0.9 * min(singles, 2 * triples)
    if counts[FIVE] and counts[TEN] and counts[KING]:
        total -= 0.7
    return total - _saved_by_straight(rules.options.straight_min, counts)


def _saved_by_straight(least: int, counts: list[int]) -> float:
    """The groups that the best straight takes off, less those that it breaks."""
    best, run = 0.0, 0.0
    length = 0
    for count in counts[: ACE + 1]:
        length = length + 1 if count else 0
        run = run + (0.9 if count == 1 else -0.15 if count < 4 else -1.0) if count else 0.0
        if length >= least:
            best = max(best, run - 1.0)
    return best
