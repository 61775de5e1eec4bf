"""Drawing and declaring: phase `deal`. DZ-3.1–3.5."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence

from ...actions import Action, cards_of, only_keys, plain
from ...cards import Seat
from ...errors import IllegalAction
from ...events import Event
from ...game import Draws, Phase
from ...match.state import Config
from .asking import asked, from_hand, unknown
from .events import DealerFound, Declared, Drawn, Waited
from .options import SEATS
from .ranking import LEVEL_CARDS
from .redeal import after_deal
from .state import DRAWN, Own, Table, rank_now

WAIT = Action("wait")
_BEAT = {"card": 1, "lap": SEATS, "end": DRAWN}  # cards drawn between two windows. DZ-13.5
CARD_MS = 300  # for people, as long as it takes to draw a card from the table


def draw(state: Table) -> Drawn:
    """The cards up to the next window; all that are left after a declaration. DZ-3.2, DZ-3.4."""
    own, pile = state.game, state.sheet.pile
    start, beat = own.drawn, _BEAT[state.config.options.windows]
    end = DRAWN if own.trumps.suit else start - start % beat + beat
    kitty = pile[DRAWN:] if end == DRAWN else None
    return Drawn((state.sheet.first + start) % SEATS, pile[start:end], kitty)


def _due(state: Table, seen: Sequence[Event]) -> Iterator[Event]:
    """What must be drawn from this pile, as many cards at a time as were. DZ-3.1, DZ-3.2."""
    pile, start = state.sheet.pile, 0
    for event in seen:
        assert isinstance(event, Drawn)
        end = DRAWN if event.kitty is not None else start + len(event.cards)
        yield Drawn((state.sheet.first + start) % SEATS, pile[start:end], pile[DRAWN:] if end == DRAWN else None)
        start = end


def window_ms(config: Config) -> Mapping[str, int]:
    """A short clock for people: a round has 48 windows, or fewer that are longer. DZ-3.2, DZ-13.5."""
    return {"deal": CARD_MS * _BEAT[config.options.windows]}


def deal(state: Table) -> tuple[Event, ...]:
    """Entering `deal` draws up to the first window. DZ-3.2."""
    return (draw(state),)


def automatic(state: Table) -> tuple[Event, ...]:
    """When the window closes: the next cards, or what follows the deal. DZ-3.2, DZ-3.5."""
    own = state.game
    if own.window:
        return ()
    if own.drawn < DRAWN:
        return (draw(state),)
    if state.sheet.dealer is None:
        return (DealerFound(state.sheet.first),)  # DZ-3.5
    return after_deal(state)


def _decide(state: Table, seat: Seat, action: Action) -> tuple[Event, ...]:
    if action.verb == "wait":
        plain(action)
        return (Waited(seat),)
    if action.verb != "declare":
        raise unknown("DZ-11.1", action)
    only_keys(action)
    if len(action.args) != 1:
        raise IllegalAction("DZ-3.3", "one_card", verb="declare")
    cards = from_hand("DZ-3.3", cards_of(action), state.game.hands[seat])
    if cards[0] not in LEVEL_CARDS[rank_now(state)]:
        raise IllegalAction("DZ-3.3", "not_level_card", cards=cards[0], rank=rank_now(state))
    return (Declared(seat, cards[0]),)


def _legal(state: Table, seat: Seat, limit: int) -> tuple[Action, ...]:
    level_cards = LEVEL_CARDS[rank_now(state)]
    shown = [Action("declare", (card,)) for card in state.game.hands[seat] if card in level_cards]
    return (WAIT, *shown)


def _asked_anew(state: Table) -> Hashable:
    return state.game.drawn


def standing(state: Table, seat: Seat, answer: Action, until: str) -> bool:
    """A standing `wait` until=level_card holds in the deal until a card is drawn that could be declared."""
    if until != "level_card":
        return True
    held = state.game.hands[seat]
    return state.phase == "deal" and LEVEL_CARDS[rank_now(state)].isdisjoint(held)


DRAWS: Draws[Own] = Draws((Drawn,), _due)
DEAL: Phase[Own] = Phase(asked, _decide, _legal, lambda state, seat: WAIT, _asked_anew)
