"""对主 Duizhu (rules/duizhu.md): two fixed pairs, one pack with jokers, trick play with trumps, levels from 3 to A."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...cards import DECK54
from ...events import Event
from ...game import Covered, GameSpec
from ...match.state import SCORED
from ...options import option_specs
from . import bury, deal, play, recover, redeal, sink, snatch, suit
from .asking import canonical
from .bots import greedy, random
from .cases import CASES
from .events import EVENTS
from .evolve import evolve
from .opening import OPENING
from .options import SEATS, Options, configure
from .planning import PLANNING
from .scene import draw
from .score import final_scores, is_over
from .sets import SETS
from .show import show
from .state import Own, Table, carry, fresh
from .tell import tell
from .view import view
from .words import WORDS

_AUTOMATIC: Mapping[str, Callable[[Table], tuple[Event, ...]]] = {
    "deal": deal.automatic,
    "redeal": redeal.automatic,
    "way": suit.automatic,
    "fix": suit.automatic,
    "bury": bury.automatic,
    "sink": sink.automatic,
    "snatch": snatch.automatic,
    "play": play.automatic,
    "recover": lambda state: (),
    SCORED: recover.after_score,
}


def _automatic(state: Table) -> tuple[Event, ...]:
    return _AUTOMATIC[state.phase](state)


COVERED = (
    Covered("DZ-12.3", frozenset(("played", "throw_stood", "throw_failed", "four_played")), frozenset(("trick_won",))),
    Covered("DZ-12.3", frozenset(("kitty_opened", "buried", "sunk", "snatched")), frozenset(("play_began",))),
)

GAME: GameSpec[Own] = GameSpec(
    name="duizhu",
    version=1,
    prefix="DZ",
    title=("Duizhu", "对主"),
    seats_allowed=(SEATS,),
    configure=configure,
    option_rows=option_specs(Options),
    pack=lambda config: DECK54,  # DZ-1.1
    fresh=fresh,
    carry=carry,
    deal=deal.deal,
    phases={
        "deal": deal.DEAL,
        "redeal": redeal.REDEAL,
        "way": suit.WAY,
        "fix": suit.FIX,
        "bury": bury.BURY,
        "sink": sink.SINK,
        "snatch": snatch.SNATCH,
        "play": play.PLAY,
        "recover": recover.RECOVER,
    },
    automatic=_automatic,
    evolve=evolve,
    view=view,
    canonical=canonical,
    is_over=is_over,
    events=EVENTS,
    words=WORDS,
    cases=CASES,
    rule_sets=SETS,
    random=random,
    greedy=greedy,
    show=show,
    draw=draw,
    covered=lambda config: COVERED,
    tell=tell,
    dealer_by_lot=False,  # DZ-2.3
    final_scores=final_scores,
    table_action=bury.table_action,
    talk=bury.may_say,
    standing=deal.standing,
    standing_until=("level_card",),
    window_ms=deal.window_ms,
    sides=lambda config: ((0, 2), (1, 3)),  # DZ-1.2
    opening=OPENING,
    draws=deal.DRAWS,
    board={"rounds": 1, "start_level": "4"},  # on 3 defenders gain nothing (DZ-9.4), so one round would be won or drawn
    planning=PLANNING,
)
