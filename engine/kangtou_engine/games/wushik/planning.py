"""For bots that search: states that fit a view, and plays worth comparing."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from ...actions import Action
from ...cards import HIDDEN, Card, Seat, in_order
from ...game import Pick, TooMany
from ...match.state import CUT
from ...planning import NOTHING, Known, Planning, deal_out, gained, shuffled
from .announce import legal as legal_shows
from .bots import greedy
from .deal import pack
from .greedy import burden, lowest, pick_cards
from .holding import RANK_AT, Chosen, cards_at
from .listing import Search, bundles
from .play import search_of
from .rules import rules_of
from .state import WushikState

MOST = 5
UNLISTED = TooMany("WK-7.1", "any_lead")  # greedy makes no use of a list in play


def sample(view: WushikState, seat: Seat, pick: Pick, known: Known = NOTHING) -> WushikState:
    """A full state. What was played is on view, so nothing need be remembered. WK-13.2, WK-2.4."""
    if view.phase == CUT:
        pile = tuple(shuffled(pack(view.config), pick))
        return view.with_sheet(replace(view.sheet, pile=pile))
    if view.phase not in ("show", "play"):
        return view
    own = view.game
    hands = [[card for card in hand if card != HIDDEN] for hand in own.hands]
    shown = own.announced.ranks
    unseen = Counter(pack(view.config))
    for cards in (*hands, *own.played):
        unseen.subtract(cards)
    pool = list(unseen.elements())
    card = _lead_card(view)
    if card is not None and card not in hands[own.turn] and card in pool:
        hands[own.turn].append(card)
        pool.remove(card)
    room = [len(whole) - len(part) for whole, part in zip(own.hands, hands, strict=True)]

    def allowed(place: int, one: Card) -> bool:
        return one[1] not in shown[place] or one in ("BJ", "RJ")  # all cards of an announced rank are on view

    dealt, _ = deal_out(pool, room, pick, allowed if any(shown) else None)
    full = tuple(in_order((*part, *more)) for part, more in zip(hands, dealt, strict=True))
    return view.with_game(replace(own, hands=full))


def _lead_card(view: WushikState) -> Card | None:
    """The card that the leader of this round must hold. WK-2.4."""
    return rules_of(view.config.options).variant.lead_card if view.game.first_lead else None


def quick(state: WushikState, seat: Seat, pick: Pick) -> Action:
    """Greedy, on the full state: it looks at its own hand only."""
    return greedy(state, seat, UNLISTED, pick)


def candidates(view: WushikState, seat: Seat, pick: Pick) -> tuple[Action, ...]:
    """The two lowest bodies of each kind and all bombs, the best by burden; and the pass."""
    if view.phase == "show":
        listed = legal_shows(view, seat, MOST)
        return () if isinstance(listed, TooMany) else listed
    if view.phase != "play":
        return ()
    search = search_of(view, seat)
    counts = [len(held) for held in search.hand.ranks]
    plays = sorted(
        {pick_cards(search.hand, bundle) for bundle in lowest(bundles(search) or [])},
        key=lambda chosen: (_left(search, counts, chosen), chosen),
    )
    distinct = dict.fromkeys(cards_at(chosen) for chosen in plays)  # the same cards may be chosen in two orders
    found = tuple(Action("play", cards) for cards in list(distinct)[:MOST])
    return found if search.old is None else (Action("pass"), *found)


def _left(search: Search, counts: list[int], chosen: Chosen) -> float:
    """The burden of what stays in hand."""
    left = list(counts)
    for place in chosen:
        left[RANK_AT[place]] -= 1
    return burden(search.rules, left)


PLANNING = Planning(sample=sample, quick=quick, candidates=candidates, worth=gained)
