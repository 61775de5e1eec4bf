"""Two bots: one plays anything, one plays with sense. They see what a seat sees, and nothing else."""

from __future__ import annotations

from ...actions import Action
from ...cards import Card, Seat
from ...game import Legal, Pick, TooMany
from ...match.state import BETWEEN, CUT
from . import discard, first, turn, window
from .jokers import may_name
from .pack import BLACK_VALUE, PACK, PLACE, SAME_RANK, VALUE, hand_value, names_in, real
from .settle import SETTLE, only_sevens
from .state import SIDES, Position, groups, lying, next_card

_LEGAL = {
    "first": first.PHASE.legal,
    "turn": turn.PHASE.legal,
    "must_draw": turn.MUST_DRAW.legal,
    "discard": discard.PHASE.legal,
    "window": window.PHASE.legal,
}

SAFE = 0.15  # greedy settles when the chance of being caught seems smaller (EB-9.7)


def listed(view: Position, seat: Seat, legal: Legal) -> tuple[Action, ...]:
    """The whole list, also if a shorter one was asked for: a seat's own view is enough for it."""
    if not isinstance(legal, TooMany):
        return legal
    if view.phase == CUT:
        return tuple(Action("cut", (str(n),)) for n in range(1, len(PACK)))
    if view.phase == BETWEEN:
        return (Action("ready"),)
    whole = _LEGAL[view.phase](view, seat, len(PACK) ** 2)
    return () if isinstance(whole, TooMany) else whole


def random(view: Position, seat: Seat, legal: Legal, pick: Pick) -> Action:
    """Any legal action, each as likely as the others."""
    actions = listed(view, seat, legal)
    return actions[pick(len(actions))]


def greedy(view: Position, seat: Seat, legal: Legal, pick: Pick) -> Action:
    """Lays down what is worth most, settles when it is safe, throws what it can use least."""
    actions = listed(view, seat, legal)
    if view.phase == BETWEEN:
        return Action("ready")
    if len(actions) == 1 or view.phase == CUT:
        return actions[pick(len(actions))]
    if view.phase == "window":
        return max(actions, key=lambda action: _pong_gain(view, seat, action))
    if view.phase == "discard":
        return max(actions, key=lambda action: throw_gain(view, seat, action))
    return _in_turn(view, seat, actions)


def _in_turn(view: Position, seat: Seat, actions: tuple[Action, ...]) -> Action:
    if SETTLE in actions and only_sevens(view.game.hands[seat]):
        return SETTLE  # EB-9.4: a reward for each
    best = max(actions, key=lambda action: _gain(view, seat, action))
    if _gain(view, seat, best) > 0:
        return best
    if SETTLE in actions and _safe(view, seat):
        return SETTLE
    rest = [action for action in actions if action.verb in ("draw", "dump", "discard", "keep")]
    return max(rest, key=lambda action: throw_gain(view, seat, action))


def _gain(view: Position, seat: Seat, action: Action) -> int:
    """What a reduction takes out of the hand, less what it costs; 0 for what is no reduction."""
    if action.verb not in ("show", "extend", "lock", "meld", "lift"):
        return 0
    laid = action.args
    gain = 4 * sum(VALUE[card] for card in real(laid))
    for name in names_in(laid):
        gain -= 4 * _naming_cost(view, seat, name)
    return gain + (1 if action.verb == "lift" else 0)


def _naming_cost(view: Position, seat: Seat, card: Card) -> int:
    """A card of one's own turns black; one that lies openly costs the penalty; another seat's is its loss. EB-6."""
    own = view.game
    if card in own.hands[seat]:
        return BLACK_VALUE - VALUE[card]
    open_cards = {own.top, *own.closed.pile, *real(lying(own.area))}
    if card in open_cards:
        return int(view.config.options.dead_black)
    hidden = len(own.closed.pile) + len(own.closed.stock) + sum(map(len, own.hands)) - len(own.hands[seat])
    return len(own.closed.pile) * int(view.config.options.dead_black) // max(1, hidden)


def _safe(view: Position, seat: Seat) -> bool:
    """Whether settling is likely to pay: nobody is likely to have as little. EB-9.7."""
    own = view.game
    value = hand_value(own.hands[seat], own.area.black)
    if value == 0 or not view.config.options.kou:
        return True
    unseen = _unseen(view, seat)
    small = sum(VALUE[card] <= value for card in unseen if card not in own.area.black)
    danger = 0.0
    for other, hand in enumerate(own.hands):
        if other == seat:
            continue
        if not hand:
            return False
        danger += (small / max(1, len(unseen))) ** len(hand)
    return danger < SAFE


def _unseen(view: Position, seat: Seat) -> list[Card]:
    own = view.game
    seen = {*own.hands[seat], *real(lying(own.area)), own.top}
    return [card for card in PACK if card not in seen]


def _pong_gain(view: Position, seat: Seat, action: Action) -> int:
    """A pong rids the hand of two cards; of three in hand the one stays that a run may want."""
    if action.verb != "pong":
        return 1
    wanted = _openings(view)
    return sum(VALUE[card] for card in action.args) - sum(card in wanted for card in action.args)


def _openings(view: Position) -> set[Card]:
    """What the show area would take now: next cards of runs and fourth cards of groups."""
    area = view.game.area
    found = {card for run in area.runs for side in SIDES if (card := next_card(run, side))}
    return {card for card in found | set(groups(area)) if may_name(area, card)}


def throw_gain(view: Position, seat: Seat, action: Action) -> int:
    """How good it is to be rid of a card: its value, less what it may be good for. Before a draw: dump first."""
    if action.verb == "dump":
        return BLACK_VALUE
    if action.verb != "discard":
        return 0
    card, own = action.args[0], view.game
    partners = sum(other in own.hands[seat] and other != card for other in SAME_RANK[card])
    gain = 10 * VALUE[card] - 45 * min(partners, 2)
    if card in _openings(view):
        gain -= 200  # next turn it is laid down
    elif card in PLACE and _near(view, card):
        gain -= 25
    return gain


def _near(view: Position, card: Card) -> bool:
    """Whether the run of its suit lacks one card only before this one fits."""
    area = view.game.area
    for run in area.runs:
        for side in SIDES:
            wanted = next_card(run, side)
            if wanted and wanted[0] == card[0] and abs(PLACE[wanted] - PLACE[card]) == 1:
                return True
    return False
