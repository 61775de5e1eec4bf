"""Bots that play from a seat's view. `random` is always legal and lists nothing; `greedy` is in `greedy.py`."""

from __future__ import annotations

from ...actions import Action
from ...cards import SUITS, Seat
from ...game import Legal, Pick, TooMany
from .greedy import announce, follow, lead
from .holding import DECK_RANKS, Chosen, Holding, cards_at
from .listing import Bundle, bundles
from .play import search_of
from .state import WushikState


def random(view: WushikState, seat: Seat, legal: Legal, pick: Pick) -> Action:
    """Any legal action; of a list that is too long any kind, then any body, then any cards."""
    if not isinstance(legal, TooMany):
        return legal[pick(len(legal))]
    if view.phase == "cut":
        low, high = int(legal.params["low"]), int(legal.params["high"])
        return Action("cut", (str(low + pick(high - low + 1)),))
    if view.phase != "play":
        return Action("pass")
    search = search_of(view, seat)
    by_kind: dict[str, list[Bundle]] = {}
    for bundle in bundles(search) or ():
        by_kind.setdefault(bundle.kind, []).append(bundle)
    kinds = list(by_kind.values())
    choice = pick(len(kinds) + (search.old is not None))
    if choice == len(kinds):
        return Action("pass")
    found = kinds[choice]
    return Action("play", cards_at(draw(search.hand, found[pick(len(found))], pick)))


def draw(hand: Holding, bundle: Bundle, pick: Pick) -> Chosen:
    """One play of a bundle by chance."""
    if bundle.fixed:
        return bundle.fixed[pick(len(bundle.fixed))]
    if bundle.flush:
        suits = [suit for suit in range(len(SUITS)) if bundle.flush >> suit & 1]
        suit = suits[pick(len(suits))]
        return tuple(suit * DECK_RANKS + rank for rank in bundle.body)
    chosen: list[int] = []
    for rank in bundle.body:
        sets = hand.choices(rank, bundle.each)
        chosen += sets[pick(len(sets))]
    if bundle.paired:
        pairs = list(hand.pairs(bundle.body))
        chosen += pairs[pick(len(pairs))]
    elif bundle.kick:
        chosen += _kickers(hand, bundle, pick)
    return tuple(chosen)


def _kickers(hand: Holding, bundle: Bundle, pick: Pick) -> list[int]:
    others = [place for rank, held in enumerate(hand.ranks) if rank not in bundle.body for place in held]
    chosen: list[int] = []
    if hand.must >= 0 and hand.must not in bundle.body:  # WK-14.7
        others.remove(hand.must_place)
        chosen.append(hand.must_place)
    while len(chosen) < bundle.kick:
        chosen.append(others.pop(pick(len(others))))
    return chosen


def greedy(view: WushikState, seat: Seat, legal: Legal, pick: Pick) -> Action:
    """Sheds in few turns, fights for points, keeps bombs, leaves the trick to its partner."""
    if view.phase == "show":
        return announce(view, seat)
    if view.phase != "play":
        return random(view, seat, legal, pick) if isinstance(legal, TooMany) else legal[0]
    chosen = lead(view, seat) if view.game.trick is None else follow(view, seat)
    return Action("pass") if chosen is None else Action("play", cards_at(chosen))
