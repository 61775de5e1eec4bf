"""Events in words where a template is not enough: red tens, 车, what a round came to. HS-5.5, HS-7.2, HS-8."""

from __future__ import annotations

from ...cards import show_cards
from ...events import Event
from ...match.events import Scored
from ...match.state import Config
from ...words import say
from .combos import FOUR_TENS, RED_TENS
from .events import Played, TrickWon
from .show import result_line
from .words import WORDS


def tell(event: Event, config: Config, lang: str) -> tuple[str, ...]:
    """Which meaning red tens are played in; who leads after a cart; the result."""
    match event:
        case Scored(result=result):
            return (result_line(result, lang),)
        case TrickWon(seat=seat, leader=leader) if leader != seat:
            return (say(WORDS, "cart", {"leader": leader}, lang),)
        case Played(cards=cards, as_ten=as_ten):
            if as_ten or cards in (RED_TENS, FOUR_TENS):
                code = "as_tens" if as_ten else "red_pair" if cards == RED_TENS else "four_tens"
                return (say(WORDS, code, {"cards": show_cards(cards)}, lang),)
        case _:
            pass
    return ()
