"""Wushik 五十K in five variants. Book: wushik.md, rules WK-…"""

from __future__ import annotations

from ...game import GameSpec
from . import announce, play
from .bots import greedy, random
from .cases import CASES
from .course import automatic, is_over, sides
from .deal import deal, pack
from .events import EVENTS
from .evolve import evolve, view
from .opening import OPENING
from .options import SPECS, configure
from .planning import PLANNING
from .scene import draw
from .sets import SETS
from .show import show
from .state import Round, fresh
from .tell import tell
from .words import WORDS

GAME: GameSpec[Round] = GameSpec(
    name="wushik",
    version=1,
    prefix="WK",
    title=("Wushik (Five-Ten-King)", "五十K"),
    seats_allowed=(3, 4),
    configure=configure,
    option_rows=SPECS,
    pack=pack,
    fresh=fresh,
    carry=lambda state: {},  # CM-5.5: who leads is the next dealer, which the sheet keeps
    deal=deal,
    phases={"show": announce.PHASE, "play": play.PHASE},
    automatic=automatic,
    evolve=evolve,
    view=view,
    canonical=play.canonical,
    is_over=is_over,
    events=EVENTS,
    words=WORDS,
    cases=CASES,
    rule_sets=SETS,
    random=random,
    greedy=greedy,
    show=show,
    draw=draw,
    tell=tell,
    sides=sides,
    opening=OPENING,
    board={"rounds": 1, "target": 0},
    planning=PLANNING,
)
