"""回龙: phase `recover`. DZ-9.13."""

from __future__ import annotations

from ...actions import Action, plain
from ...cards import Seat
from ...events import Event
from ...game import Phase
from .asking import PASS, asked, unknown
from .events import Passed, PhaseOpened, Recovered
from .levels import level_text
from .score import made_end
from .state import Own, Table

RECOVER_IT = Action("recover")


def after_score(state: Table) -> tuple[Event, ...]:
    """The dealer is asked if a note may be redeemed, once. DZ-9.13, DZ-9.14, DZ-10.2."""
    result = state.sheet.last_round
    if state.game.ladder.pending is None or result is None or result["outcome"] != "guang" or made_end(state):
        return ()
    return (PhaseOpened("recover"),)


def _decide(state: Table, seat: Seat, action: Action) -> tuple[Event, ...]:
    if action.verb not in ("recover", "pass"):
        raise unknown("DZ-11.1", action)
    plain(action)
    note = state.game.ladder.pending
    if action.verb == "pass" or note is None:
        return (Passed(seat),)
    return (Recovered(seat, level_text(note.level)),)


RECOVER: Phase[Own] = Phase(
    asked, _decide, lambda state, seat, limit: (RECOVER_IT, PASS), lambda state, seat: RECOVER_IT
)
