"""A void round at J or A: phase `redeal`. DZ-3.6."""

from __future__ import annotations

from ...actions import Action, plain
from ...cards import Seat
from ...errors import IllegalAction
from ...events import Event
from ...game import Phase
from ...match.events import Voided
from .asking import PASS, asked, unknown
from .events import Passed, RedealClaimed, RedealOpened
from .levels import ACE, JACK, level_text
from .options import SEATS
from .ranking import LEVEL_CARDS
from .state import Own, Table, dealer_of, rank_now
from .suit import to_suit

CLAIM = Action("claim_redeal")


def after_deal(state: Table) -> tuple[Event, ...]:
    """Whether the defenders are asked, else on to the suit. DZ-2.2, DZ-3.6."""
    if state.config.options.redeal and state.game.ladder.level in (JACK, ACE):
        return (RedealOpened(dealer_of(state), claimable(state)),)
    return to_suit(state)


def automatic(state: Table) -> tuple[Event, ...]:
    """Both passed: the round goes on. DZ-3.6."""
    return () if state.game.window else to_suit(state)


def defenders(dealer: Seat) -> tuple[Seat, ...]:
    """The two seats that are down, ascending. DZ-1.4."""
    down = (dealer + 1) % 2
    return (down, down + 2)


def claimable(state: Table) -> bool:
    """Whether neither defender holds a level card. DZ-3.6."""
    level_cards, hands = LEVEL_CARDS[rank_now(state)], state.game.hands
    return all(level_cards.isdisjoint(hands[seat]) for seat in defenders(dealer_of(state)))


def _decide(state: Table, seat: Seat, action: Action) -> tuple[Event, ...]:
    if action.verb == "pass":
        plain(action)
        return (Passed(seat),)
    if action.verb != "claim_redeal":
        raise unknown("DZ-11.1", action)
    plain(action)
    if not state.game.claimable:
        raise IllegalAction("DZ-3.6", "level_card_held", rank=rank_now(state))
    return (RedealClaimed(seat), _void(state))


def _void(state: Table) -> Voided:
    dealer = dealer_of(state)
    result = {
        "round": state.sheet.round,
        "dealer": dealer,
        "outcome": "void",
        "points": 0,
        "level": level_text(state.game.ladder.level),
        "sunk": (),
        "last_trick": None,
    }
    return Voided(next_dealer=(dealer + 2) % SEATS, result=result)  # DZ-10.1


def _legal(state: Table, seat: Seat, limit: int) -> tuple[Action, ...]:
    return (PASS, CLAIM) if state.game.claimable else (PASS,)


REDEAL: Phase[Own] = Phase(asked, _decide, _legal, lambda state, seat: PASS)
