"""二百五 Erbaiwu (Two-Fifty). Rule book: `erbaiwu.md`, rules EB-…

pack        cards, order, values       EB-1, EB-9.1
state       the table, views           EB-3, EB-11
deal        the deal                   EB-2
first       the dealer's first turn    EB-4.2
turn        a turn up to the draw      EB-4.3, EB-6.6, EB-7.4
discard     discarding, keeping        EB-4.5, EB-4.6, EB-9.6
window      pong or pass               EB-7
reductions  show extend lock meld lift EB-5
jokers      jokers and black cards     EB-6
settle      settling                   EB-8
course      next turn, end of round    EB-4.7, EB-8.4
score       points, end, next dealer   EB-9, EB-10
options     house options              EB-13
cases       positions of case files    EB-15
"""

from __future__ import annotations

from ...game import Covered, GameSpec
from ...options import option_specs
from . import bots, discard, first, turn, window
from .cases import CASES
from .course import automatic
from .deal import DRAWS, deal
from .events import EVENTS
from .evolve import evolve
from .opening import OPENING
from .options import SEATS, Options, configure, first_seat
from .pack import PACK
from .planning import PLANNING
from .reductions import canonical
from .scene import draw
from .score import is_over
from .sets import SETS
from .show import show
from .state import Round, blank, view
from .tell import tell
from .words import WORDS

_LAID = frozenset(("discarded", "dumped"))
PAST_DISCARDS = Covered("EB-11.3", _LAID, _LAID)

GAME: GameSpec[Round] = GameSpec(
    name="erbaiwu",
    version=1,
    prefix="EB",
    title=("Erbaiwu", "二百五"),
    seats_allowed=SEATS,
    configure=configure,
    option_rows=option_specs(Options),
    pack=lambda config: PACK,
    fresh=lambda config, carry: blank(config.seats),
    carry=lambda state: {},
    deal=deal,
    phases={
        "first": first.PHASE,
        "turn": turn.PHASE,
        "must_draw": turn.MUST_DRAW,
        "discard": discard.PHASE,
        "window": window.PHASE,
    },
    automatic=automatic,
    evolve=evolve,
    view=view,
    canonical=canonical,
    is_over=is_over,
    events=EVENTS,
    rule_sets=SETS,
    words=WORDS,
    cases=CASES,
    random=bots.random,
    greedy=bots.greedy,
    show=show,
    draw=draw,
    covered=lambda config: () if config.options.open_discards else (PAST_DISCARDS,),
    tell=tell,
    better=-1,
    first_seat=first_seat,
    standing=window.standing,
    standing_until=(window.CAN_PONG,),
    window_ms=lambda config: {"window": window.PEOPLE_MS},
    opening=OPENING,
    draws=DRAWS,
    board={"rounds": 1, "limit": 0},
    planning=PLANNING,
)
