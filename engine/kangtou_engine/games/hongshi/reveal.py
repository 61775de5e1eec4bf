"""Phase `reveal`: red tens may be shown before play; four tens may win at once. HS-4, HS-10."""

from __future__ import annotations

from ...actions import Action, cards_of, only_keys, plain
from ...cards import Cards, Seat, in_order, show_cards
from ...errors import IllegalAction
from ...events import Event
from ...game import Phase
from .combos import FOUR_TENS, RED_TENS
from .events import LightningDeclared, Revealed, RevealPassed
from .options import options_of
from .state import REVEAL, Hongshi, is_open

UNTIL_REVEAL = "reveal"


def to_act(state: Hongshi) -> tuple[Seat, ...]:
    """Every seat that has not answered the question as it now stands. HS-4.3, HS-4.4."""
    return tuple(seat for seat, answered in enumerate(state.game.answered) if not answered)


def is_closed(state: Hongshi) -> bool:
    """All have passed, or both red tens are revealed. HS-4.5 (1, 2)."""
    return all(state.game.answered) or is_open(state.game)


def revealable(state: Hongshi, seat: Seat) -> Cards:
    """The red tens that a seat holds and has not revealed. HS-4.3."""
    own = state.game
    if not options_of(state.config).reveal:  # HS-15.4
        return ()
    return tuple(card for card in RED_TENS if card in own.hands[seat] and card not in own.sides.revealed[seat])


def has_four_tens(state: Hongshi, seat: Seat) -> bool:
    """Whether a seat may `show` or declare `lightning`. HS-10.1, HS-15.5."""
    return options_of(state.config).lightning and all(card in state.game.hands[seat] for card in FOUR_TENS)


def decide(state: Hongshi, seat: Seat, action: Action) -> tuple[Event, ...]:
    """Answer the question. HS-4.3."""
    match action.verb:
        case "pass":
            plain(action)
            return (RevealPassed(seat),)
        case "reveal":
            return (Revealed(seat, _shown(state, seat, action)),)
        case "show" | "lightning":
            plain(action)
            if not options_of(state.config).lightning:
                raise IllegalAction("HS-15.5", "no_lightning")
            if not has_four_tens(state, seat):
                raise IllegalAction("HS-10.1", "no_four_tens", cards=show_cards(FOUR_TENS))
            return (Revealed(seat, FOUR_TENS) if action.verb == "show" else LightningDeclared(seat),)
        case _:
            raise IllegalAction("HS-2.2", "unknown_verb", verb=action.verb)


def _shown(state: Hongshi, seat: Seat, action: Action) -> Cards:
    """The cards of a legal `reveal`, in canonical order. HS-4.3."""
    if not options_of(state.config).reveal:
        raise IllegalAction("HS-15.4", "no_reveal")
    only_keys(action)
    cards = cards_of(action)
    if not cards:
        raise IllegalAction("HS-4.3", "reveal_what", cards=show_cards(RED_TENS))
    if len(set(cards)) < len(cards):
        raise IllegalAction("CM-10.1", "card_twice", cards=show_cards(cards))
    if black := [card for card in cards if card not in RED_TENS]:
        raise IllegalAction("HS-4.3", "no_red_ten", cards=show_cards(black))
    if lacking := [card for card in cards if card not in state.game.hands[seat]]:
        raise IllegalAction("HS-4.3", "not_in_hand", cards=show_cards(lacking))
    if twice := [card for card in cards if card in state.game.sides.revealed[seat]]:
        raise IllegalAction("HS-4.3", "revealed_already", cards=show_cards(twice))
    return in_order(cards)


def legal(state: Hongshi, seat: Seat, limit: int) -> tuple[Action, ...]:
    """HS-14.1."""
    reds = revealable(state, seat)
    listed = [Action("pass"), *(Action("reveal", (card,)) for card in reds)]
    if len(reds) == 2:
        listed.append(Action("reveal", reds))
    if has_four_tens(state, seat):
        listed += [Action("show"), Action("lightning")]
    return tuple(listed)


def standing(state: Hongshi, seat: Seat, answer: Action, until: str) -> bool:
    """A standing answer until=reveal is to the window's first question only. HS-4.4."""
    return until != UNTIL_REVEAL or (state.phase == REVEAL and not any(state.game.sides.revealed))


REVEAL_PHASE = Phase(
    to_act,
    decide,
    legal,
    default=lambda state, seat: Action("pass"),  # HS-2.4
    asked=lambda state: state.game.sides.revealed,  # HS-4.4
)
