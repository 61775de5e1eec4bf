"""For bots that search: states that fit a view, and plays worth comparing."""

from __future__ import annotations

from dataclasses import replace

from ...actions import Action
from ...cards import HIDDEN, Card, Cards, Seat, in_order
from ...events import Event
from ...game import Pick
from ...match.events import RoundBegan
from ...match.state import CUT
from ...planning import NOTHING, Known, Planning, deal_out, gained, shuffled
from .bots import greedy
from .combos import RED_TENS, Combo, combos_in
from .deal import opening_card, pack
from .events import Played
from .options import options_of
from .play import legal
from .reveal import legal as legal_reveals
from .state import PLAY, REVEAL, Hongshi, Past, Sides

MOST = 7


def recall(known: Known, view: Hongshi, event: Event) -> Known:
    """The cards that were laid down. HS-13.1."""
    if isinstance(event, RoundBegan):
        return NOTHING
    return known.left(event.cards) if isinstance(event, Played) else known


def sample(view: Hongshi, seat: Seat, pick: Pick, known: Known = NOTHING) -> Hongshi:
    """A full state. Red tens are where the known sides want them. HS-4.1, HS-6.2, HS-13."""
    if view.phase == CUT:
        pile = tuple(shuffled(pack(view.config), pick))
        return view.with_sheet(replace(view.sheet, pile=pile))
    if view.phase not in (REVEAL, PLAY):
        return view
    own = view.game
    hands = [[card for card in hand if card != HIDDEN] for hand in own.hands]
    pool = _unseen(view, known)
    for place, card in _forced(view, pool):
        hands[place].append(card)
        pool.remove(card)
    _drop_played_reds(view, pool, known)
    reds = [card for card in pool if card in RED_TENS]
    others = [card for card in pool if card not in RED_TENS]
    room = [len(whole) - len(part) for whole, part in zip(own.hands, hands, strict=True)]
    for card in shuffled(reds, pick):  # whoever has played one is known, so the others are still in hands
        number = pick(sum(room))
        place = next(place for place in range(len(room)) if number < sum(room[: place + 1]))
        hands[place].append(card)
        room[place] -= 1
    dealt, _ = deal_out(others, room, pick)
    full = tuple(in_order((*part, *more)) for part, more in zip(hands, dealt, strict=True))
    holders = {place for place, hand in enumerate(full) if any(card in RED_TENS for card in hand)}
    sides = Sides(tuple(sorted(holders.union(own.sides.known))), own.sides.revealed, own.sides.known)
    return view.with_game(replace(own, hands=full, sides=sides, past=Past(full, ())))


def _unseen(view: Hongshi, known: Known) -> list[Card]:
    """The cards that may be in the hidden hands."""
    own = view.game
    seen = {card for hand in own.hands for card in hand}
    seen.update(card for laid in own.trick for card in laid.cards)
    seen.update(card for cards in own.sides.revealed for card in cards)
    seen.update(known.gone)
    return [card for card in pack(view.config) if card not in seen]


def _forced(view: Hongshi, pool: list[Card]) -> list[tuple[Seat, Card]]:
    """The leader of the round holds the opening card. HS-6.1."""
    card = opening_card(view.config)
    return [(view.game.turn, card)] if view.phase == PLAY and view.game.opening and card in pool else []


def _drop_played_reds(view: Hongshi, pool: list[Card], known: Known) -> None:
    """Who is known and has shown nothing has played a red ten. HS-13.4."""
    own = view.game
    on_table = {card for laid in own.trick for card in laid.cards if card in RED_TENS}
    played = [
        place
        for place in own.sides.known
        if not any(card in RED_TENS for card in own.sides.revealed[place])
        and not any(laid.seat == place and on_table.intersection(laid.cards) for laid in own.trick)
    ]
    owed = len(played) - sum(card in known.gone and card not in on_table for card in RED_TENS)
    for card in [card for card in RED_TENS if card in pool][: max(0, owed)]:
        pool.remove(card)


def quick(state: Hongshi, seat: Seat, pick: Pick) -> Action:
    """Greedy, on the full state: it looks at its own hand only."""
    if state.phase == PLAY:
        return greedy(state, seat, legal(state, seat, 0), pick)
    return greedy(state, seat, legal_reveals(state, seat, 0), pick) if state.phase == REVEAL else Action("ready")


def candidates(view: Hongshi, seat: Seat, pick: Pick) -> tuple[Action, ...]:
    """One play of each kind and rank, suits apart: the cheaper ones, and the pass."""
    if view.phase == REVEAL:
        return legal_reveals(view, seat, 0)
    if view.phase != PLAY:
        return ()
    allowed = set(legal(view, seat, 0))
    hand = view.game.hands[seat]
    kinds: dict[tuple[int, int, int], Combo] = {}
    for one in combos_in(options_of(view.config).top, hand):
        if one.action in allowed and not (one.as_ten and view.game.trick):
            kinds.setdefault((len(one.cards), one.rank, one.power), one)
    found = sorted(kinds.values(), key=lambda one: (one.power, one.rank - 2 * _whole(one.cards, hand)))
    chosen = [one.action for one in found[: MOST - 1]]
    if len(found) >= MOST:
        chosen.append(found[-1].action)
    passing = Action("pass")
    return (passing, *chosen) if passing in allowed else tuple(chosen)


def _whole(cards: Cards, hand: Cards) -> int:
    """How many cards a play sheds if it takes the whole rank, else none."""
    same = sum(card[1] == cards[0][1] for card in hand)
    return len(cards) if same == len(cards) else 0


PLANNING = Planning(sample=sample, recall=recall, quick=quick, candidates=candidates, worth=gained)
