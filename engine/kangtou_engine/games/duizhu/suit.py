"""Fixing the trump suit when nobody declared: phases `way` and `fix`. DZ-3.7–3.10."""

from __future__ import annotations

from collections.abc import Hashable

from ...actions import Action, only_keys
from ...cards import JOKERS, SUITS, Cards, Seat, in_order, show_cards
from ...errors import IllegalAction
from ...events import Event
from ...game import Phase
from .asking import asked, no_arguments, unknown
from .bury import open_kitty
from .events import PhaseOpened, Picked, SuitFixed, TiedShown, WayChosen
from .ranking import FACE
from .state import Own, Table

WAYS = ("free", "ends", "single")
ENDS = ("high", "low")
_JOKER_SUIT = {"RJ": "S", "BJ": "H"}  # DZ-3.10


def to_suit(state: Table) -> tuple[Event, ...]:
    """The kitty is opened if the suit is fixed, else the way is asked for. DZ-2.2, DZ-3.7."""
    return open_kitty(state) if state.game.trumps.suit else (PhaseOpened("way"),)


def automatic(state: Table) -> tuple[Event, ...]:
    """The suit is fixed: the kitty is opened. DZ-5.1."""
    return open_kitty(state) if state.game.trumps.suit else ()


# ---- way ----


def _way(state: Table, seat: Seat, action: Action) -> tuple[Event, ...]:
    if action.verb != "way":
        raise unknown("DZ-3.7", action)
    return (WayChosen(seat, _word(action, "kind", WAYS, "DZ-3.7")),)


def _word(action: Action, key: str, allowed: tuple[str, ...], rule: str) -> str:
    """The one key of an action, a word out of a list."""
    no_arguments(action, rule)
    only_keys(action, key)
    value = action.key(key)
    if value not in allowed:
        raise IllegalAction(rule, "bad_word", key=key, allowed=" ".join(allowed))
    return value


def _legal_way(state: Table, seat: Seat, limit: int) -> tuple[Action, ...]:
    return tuple(Action("way", (), (("kind", kind),)) for kind in WAYS)


# ---- fix ----


def nameable(state: Table) -> str:
    """The suits that the dealer may name now, in order S H C D. DZ-3.8, DZ-3.9."""
    trumps = state.game.trumps
    if trumps.way == "free":
        return SUITS
    return "".join(suit for suit in SUITS if any(card[0] == suit for card in trumps.tied))


def _fix(state: Table, seat: Seat, action: Action) -> tuple[Event, ...]:
    if action.verb == "name":
        return _name(state, action)
    if action.verb != "pick":
        raise unknown("DZ-11.1", action)
    way = state.game.trumps.way
    if way == "ends" and not state.game.trumps.tied:
        end = _word(action, "end", ENDS, "DZ-3.9")
        return (Picked(seat, end, None), _end_result(state.game.bottom.kitty, end))
    if way == "single":
        places = tuple(str(place + 1) for place in range(len(state.game.bottom.kitty)))
        pos = int(_word(action, "pos", places, "DZ-3.10"))
        return (Picked(seat, None, pos), SuitFixed(suit_at(state.game.bottom.kitty, pos)))
    raise IllegalAction("DZ-11.1", "no_pick")


def _name(state: Table, action: Action) -> tuple[Event, ...]:
    allowed = nameable(state)
    if not allowed:
        raise IllegalAction("DZ-11.1", "no_name")
    rule = "DZ-3.9" if state.game.trumps.tied else "DZ-3.8"
    return (SuitFixed(_word(action, "suit", tuple(allowed), rule)),)


def _end_result(kitty: Cards, end: str) -> Event:
    """What picking an end brings: the suit, or the tied cards (none: no card counts). DZ-3.9."""
    best = end_cards(kitty, end)
    return SuitFixed(best[0][0]) if len(best) == 1 else TiedShown(best)


def end_cards(kitty: Cards, end: str) -> Cards:
    """The highest or lowest cards by face value; twos and jokers do not count. DZ-3.9."""
    counted = [card for card in kitty if card not in JOKERS and card[1] != "2"]
    if not counted:
        return ()
    values = [FACE[card] for card in counted]
    wanted = max(values) if end == "high" else min(values)
    return in_order(card for card in counted if FACE[card] == wanted)


def suit_at(kitty: Cards, pos: int) -> str:
    """The suit of the card at a position. DZ-3.10."""
    card = kitty[pos - 1]
    return _JOKER_SUIT.get(card, card[0])


def _legal_fix(state: Table, seat: Seat, limit: int) -> tuple[Action, ...]:
    trumps = state.game.trumps
    if named := nameable(state):
        return tuple(Action("name", (), (("suit", suit),)) for suit in named)
    if trumps.way == "ends":
        return tuple(Action("pick", (), (("end", end),)) for end in ENDS)
    places = range(1, len(state.game.bottom.kitty) + 1)
    return tuple(Action("pick", (), (("pos", str(place)),)) for place in places)


def _asked_anew(state: Table) -> Hashable:
    return state.game.trumps.way, show_cards(state.game.trumps.tied)


WAY: Phase[Own] = Phase(asked, _way, _legal_way, lambda state, seat: Action("way", (), (("kind", "free"),)))
FIX: Phase[Own] = Phase(asked, _fix, _legal_fix, lambda state, seat: _legal_fix(state, seat, 6)[0], _asked_anew)
