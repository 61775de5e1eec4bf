"""红十 Hongshi (Red Ten). The book: docs/rules/hongshi.md; its chapters are the files of this folder.

options.py   HS-15  house options              score.py  HS-8, 9, 10  order, points, factor
deal.py      HS-1, 3, 4.1  pack, deal, sides   talk.py   HS-11        penalties
reveal.py    HS-4, 10  the window              view.py   HS-13        what is public
combos.py    HS-5   combinations, beating      cases.py  HS-17        case files
play.py      HS-6, 7, 14  tricks, going out    bots.py, show.py, words.py
"""

from __future__ import annotations

from ...events import Event
from ...game import Covered, GameSpec
from ...options import option_specs
from .bots import greedy, random
from .cases import CASES
from .deal import carry, deal, first_lead, fresh, pack
from .events import EVENTS
from .evolve import evolve
from .opening import OPENING
from .options import Options, configure, options_of
from .planning import PLANNING
from .play import PLAY_PHASE, canonical, is_settled, trick_won
from .reveal import REVEAL_PHASE, UNTIL_REVEAL, is_closed, standing
from .scene import draw
from .score import LIGHTNING, PLAYED, score
from .sets import SETS
from .show import show
from .state import PLAY, REVEAL, Hongshi, Own
from .talk import may_say, table_action
from .tell import tell
from .view import view
from .words import WORDS


def automatic(state: Hongshi) -> tuple[Event, ...]:
    """What follows by itself: the window closes, a trick is won, the round is scored. HS-2.3."""
    own = state.game
    if state.phase == PLAY:
        if not own.trick:
            return ()
        if own.trick[-1].cards:
            return score(state, PLAYED) if is_settled(state) else ()  # HS-7.4
        won = trick_won(state)
        return (won,) if won else ()
    if state.phase != REVEAL:
        return ()
    if own.out:
        return score(state, LIGHTNING)  # HS-4.5 (3)
    return (first_lead(state, own.hands),) if is_closed(state) else ()


def is_over(state: Hongshi) -> bool:
    """HS-12.1."""
    return state.sheet.round >= options_of(state.config).rounds


CLOSED_TRICKS = Covered("HS-13.3", frozenset(("played", "passed")), frozenset(("trick_won",)))

GAME: GameSpec[Own] = GameSpec(
    name="hongshi",
    version=1,
    prefix="HS",
    title=("Hongshi", "红十"),
    seats_allowed=(4,),
    configure=configure,
    option_rows=option_specs(Options),
    pack=pack,
    fresh=fresh,
    carry=carry,
    deal=deal,
    phases={REVEAL: REVEAL_PHASE, PLAY: PLAY_PHASE},
    automatic=automatic,
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
    covered=lambda config: (CLOSED_TRICKS,),
    tell=tell,
    table_action=table_action,
    talk=may_say,
    standing=standing,
    standing_until=(UNTIL_REVEAL,),
    opening=OPENING,
    hidden_sides=True,  # HS-3
    planning=PLANNING,
)
