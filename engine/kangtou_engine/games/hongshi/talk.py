"""Table talk: what may be said, and the scorer's penalty. HS-11."""

from __future__ import annotations

from ...actions import Action, only_keys
from ...cards import Seat
from ...errors import IllegalAction
from ...events import Event
from ...game import FREE, PHRASES, SILENT
from ...match.state import BETWEEN
from .events import Penalized
from .options import options_of
from .state import PLAY, REVEAL, SEATS, Hongshi

_SAID = {"free": FREE, "safe": PHRASES, "off": SILENT}


def may_say(state: Hongshi, seat: Seat) -> str:
    """From the deal to the end of the round as option `chat` says; else anything, unless it is off. HS-11.4."""
    chat = _SAID[options_of(state.config).chat]
    return chat if chat == SILENT or state.phase in (REVEAL, PLAY) else FREE


def table_action(state: Hongshi, action: Action) -> tuple[Event, ...]:
    """`- penalize seat=K`. HS-11.2."""
    if action.verb != "penalize":
        raise IllegalAction("CM-10.1", "unknown_verb", verb=action.verb)
    if state.phase not in (REVEAL, PLAY, BETWEEN):
        raise IllegalAction("HS-11.2", "no_penalty_now")
    if action.args:
        raise IllegalAction("HS-11.2", "penalize_whom")
    only_keys(action, "seat")
    seat = action.key("seat")
    if seat is None:
        raise IllegalAction("HS-11.2", "penalize_whom")
    if seat not in map(str, range(SEATS)):
        raise IllegalAction("HS-11.2", "bad_seat", seat=seat)
    return (Penalized(int(seat), options_of(state.config).penalty),)
