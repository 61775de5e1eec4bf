"""Bots that see only their view: `random`, and `greedy`, which sheds low cards and keeps high ones."""

from __future__ import annotations

from ...actions import Action
from ...cards import Seat
from ...game import Legal, Pick, TooMany
from .combos import RED_TENS, Combo, combos_in
from .deal import pack
from .options import options_of
from .play import PASS
from .state import PLAY, REVEAL, Hongshi, top_of

HIGH = 13  # singles from here on (red tens, jokers) are worth keeping
FEW = 5  # cards in hand with which keeping no longer pays
LIGHTNING = Action("lightning")


def random(view: Hongshi, seat: Seat, legal: Legal, pick: Pick) -> Action:
    """Any legal action, all alike. Of a list too long (the cut) any number."""
    if isinstance(legal, TooMany):
        return Action("cut", (str(1 + pick(len(pack(view.config)) - 1)),))
    return legal[pick(len(legal))]


def greedy(view: Hongshi, seat: Seat, legal: Legal, pick: Pick) -> Action:
    """Lead the lowest whole rank, beat cheaply, leave a partner's play alone, keep what is high for the end."""
    if view.phase == PLAY and not isinstance(legal, TooMany):
        return _play(view, seat, legal)
    if view.phase == REVEAL and not isinstance(legal, TooMany):
        return LIGHTNING if LIGHTNING in legal else PASS  # a sure win, HS-10.2
    return random(view, seat, legal, pick) if isinstance(legal, TooMany) else legal[0]


def _play(view: Hongshi, seat: Seat, legal: tuple[Action, ...]) -> Action:
    allowed = set(legal)
    hand = view.game.hands[seat]
    combos = [one for one in combos_in(options_of(view.config).top, hand) if one.action in allowed]
    last = [one for one in combos if len(one.cards) == len(hand)]
    if last:
        return max(last, key=lambda one: (one.power, one.rank)).action  # out: best with a play that stands
    left = [len(view.game.hands[other]) for other in range(len(view.game.hands)) if not is_friend(view, seat, other)]
    hurry = any(0 < count <= 2 for count in left)
    if view.game.trick:
        return _follow(view, seat, combos, hurry)
    return min(combos, key=lambda one: _lead_cost(view, seat, one, hurry)).action


def _lead_cost(view: Hongshi, seat: Seat, one: Combo, hurry: bool) -> tuple[int, ...]:
    """Whole ranks first, low ones first, and many cards; with a foe about to go out no low single."""
    keep = one.power > 0 or one.rank >= HIGH
    risky = hurry and len(one.cards) == 1
    rank = -one.rank if risky else one.rank
    return (one.as_ten, keep and not risky, _breaks(view, seat, one), risky, rank - 2 * len(one.cards))


def _follow(view: Hongshi, seat: Seat, combos: list[Combo], hurry: bool) -> Action:
    laid = top_of(view.game)
    assert laid is not None
    combos = [one for one in combos if not one.as_ten]
    if not combos or is_friend(view, seat, laid.seat):
        return PASS
    best = min(combos, key=lambda one: (one.power, _breaks(view, seat, one), one.rank))
    few = len(view.game.hands[seat]) <= FEW
    if hurry or few or not (best.power or _breaks(view, seat, best) or best.rank >= HIGH):
        return best.action
    return PASS


def _breaks(view: Hongshi, seat: Seat, one: Combo) -> bool:
    """Whether others of the same rank stay in hand; red tens do not count with the black ones."""
    rank, cards = one.cards[0][1], set(one.cards)
    if one.rank >= HIGH:
        return False
    same = [card for card in view.game.hands[seat] if card[1] == rank and card not in ("BJ", "RJ", *RED_TENS)]
    return any(card not in cards for card in same) or (rank == "T" and bool(cards.intersection(RED_TENS)))


def is_friend(view: Hongshi, seat: Seat, other: Seat) -> bool:
    """Whether a seat knows that another is of its side. HS-13.2, HS-13.4."""
    if seat == other:
        return True
    known = view.game.sides.known
    own = sum(card in RED_TENS for card in view.game.hands[seat])
    if own or seat in known:
        return other in known
    return len(known) == 2 and other not in known
