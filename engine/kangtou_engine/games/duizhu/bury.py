"""The kitty is opened and the dealer buries six: phase `bury`. DZ-5.1–5.6, DZ-5.9."""

from __future__ import annotations

from ...actions import Action, card_list, cards_of, only_keys, plain
from ...cards import JOKERS, Cards, Seat, in_order, show_cards
from ...errors import IllegalAction
from ...events import Event
from ...game import FREE, SILENT, Phase, TooMany
from .asking import asked, from_hand, once_each, unknown
from .events import Annulled, Buried, KittyLost, KittyOpened, PhaseOpened, PlayBegan
from .ranking import TRUMPS
from .state import KITTY, Own, Table, dealer_of, is_up, ranking_of


def open_kitty(state: Table) -> tuple[Event, ...]:
    """The kitty is shown; without a fixed trump it is a 嘎巴锅 and play begins. DZ-5.1, DZ-5.2."""
    kitty = state.game.bottom.kitty
    gabaguo = ranking_of(state).fixed.isdisjoint(kitty)
    return (KittyLost(kitty), PlayBegan(dealer_of(state), True)) if gabaguo else (KittyOpened(kitty),)


def automatic(state: Table) -> tuple[Event, ...]:
    """The six are buried: the partner is asked, or what follows. DZ-2.2."""
    if state.game.window:
        return ()
    return (PhaseOpened("sink"),) if state.config.options.partner_sink else to_snatch(state)


def to_snatch(state: Table) -> tuple[Event, ...]:
    """The snatch window if there is something to snatch, else play. DZ-6.1."""
    if state.config.options.snatch and state.game.bottom.snatchable:
        return (PhaseOpened("snatch"),)
    return (PlayBegan(dealer_of(state), True),)


def may_announce(state: Table, cards: Cards) -> Cards:
    """Those of the cards that could be announced. DZ-5.5, DZ-13.6."""
    allowed = state.config.options.announce
    if allowed == "none":
        return ()
    if allowed == "jokers":
        return tuple(card for card in cards if card in JOKERS)
    return ranking_of(state).of_suit(cards, TRUMPS)


def _decide(state: Table, seat: Seat, action: Action) -> tuple[Event, ...]:
    if action.verb != "bury":
        raise unknown("DZ-5.3", action)
    only_keys(action, "announce")
    cards = from_hand("DZ-5.4", cards_of(action), state.game.hands[seat])
    if len(cards) != KITTY:
        raise IllegalAction("DZ-5.4", "six_cards", count=len(cards))
    value = action.key("announce")
    announced = () if value is None else _announced(state, card_list(value), cards)
    return (Buried(seat, cards, announced),)


def _announced(state: Table, announced: Cards, cards: Cards) -> Cards:
    announced = once_each("DZ-5.5", announced)
    allowed = state.config.options.announce
    if allowed == "none":
        raise IllegalAction("DZ-13.6", "no_announcing")
    others = [card for card in announced if card not in cards]
    if others:
        raise IllegalAction("DZ-5.5", "announced_not_buried", cards=show_cards(others))
    wrong = [card for card in announced if card not in may_announce(state, cards)]
    if wrong and allowed == "jokers":
        raise IllegalAction("DZ-13.6", "only_jokers", cards=show_cards(wrong))
    if wrong:
        raise IllegalAction("DZ-5.5", "announced_no_trump", cards=show_cards(wrong))
    return announced


def _legal(state: Table, seat: Seat, limit: int) -> TooMany:
    return TooMany("DZ-11.3", "bury_any_six", {"held": len(state.game.hands[seat])})  # never listed


def _default(state: Table, seat: Seat) -> Action:
    """The first six cards in discard order, nothing announced. DZ-11.4."""
    return Action("bury", in_order(ranking_of(state).discard_order(state.game.hands[seat])[:KITTY]))


BURY: Phase[Own] = Phase(asked, _decide, _legal, _default)


# ---- table talk ----


def may_say(state: Table, seat: Seat) -> str:
    """From the opening of the kitty to the end of `sink` the table carries no talk of the dealer's side. DZ-5.9."""
    return SILENT if state.phase in ("bury", "sink") and is_up(state, seat) else FREE


ANNUL_PHASES = frozenset(("bury", "sink", "snatch", "play"))


def table_action(state: Table, action: Action) -> tuple[Event, ...]:
    """`- annul`: once a round, not after 嘎巴锅. DZ-5.9."""
    if action.verb != "annul":
        raise unknown("CM-10.1", action)
    plain(action)
    if state.phase not in ANNUL_PHASES:
        raise IllegalAction("DZ-5.9", "annul_phase")
    if state.game.trumps.gabaguo:
        raise IllegalAction("DZ-5.9", "annul_gabaguo")
    if state.game.trumps.annulled:
        raise IllegalAction("DZ-5.9", "annul_twice")
    return (Annulled(),)
