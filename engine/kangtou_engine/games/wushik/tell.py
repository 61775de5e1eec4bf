"""Events in words where a template is not enough: names of plays, who leads, what a round came to. WK-3.13, WK-6.4."""

from __future__ import annotations

from ...cards import show_cards
from ...events import Event
from ...match.events import Scored
from ...match.state import Config
from ...words import say
from .events import Played, Shown, TrickWon
from .show import by_rank, name_of, result_lines
from .words import WORDS


def tell(event: Event, config: Config, lang: str) -> tuple[str, ...]:
    """Plays low to high with the variant's own terms; captured points; the result."""
    match event:
        case Scored(result=result):
            return result_lines(result, lang)
        case Played(cards=cards, combo=combo):
            name = name_of(config.options.variant, combo, lang)
            return (say(WORDS, "plays", {"cards": show_cards(by_rank(cards)), "name": name}, lang),)
        case Shown(cards=cards):
            return (say(WORDS, "announces", {"cards": show_cards(by_rank(cards))}, lang),)
        case TrickWon(seat=seat, points=points, leader=leader):
            told = say(WORDS, "captures", {"points": points}, lang)
            if leader is not None and leader != seat:
                told += say(WORDS, "hands_on", {"leader": leader}, lang)
            return (told,)
        case _:
            pass
    return ()
