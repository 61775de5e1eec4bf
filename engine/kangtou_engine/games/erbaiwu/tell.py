"""Events in words where a template is not enough: what a round came to. EB-9."""

from __future__ import annotations

from ...events import Event
from ...match.events import Scored
from ...match.state import Config
from ...words import say
from .show import result_line
from .words import WORDS


def tell(event: Event, config: Config, lang: str) -> tuple[str, ...]:
    """Who settled and how: 整五, 带七, 抠; and totals of exactly the limit."""
    if not isinstance(event, Scored):
        return ()
    result, options = event.result, config.options
    settled = result["settled"]
    lines = [result_line(result, lang)]
    if settled is not None:
        hand = event.hands[settled]
        if len(hand) == 1 and hand[0][1] == "5" and options.five > 1:
            lines.append(say(WORDS, "whole_five", {"seat": settled, "card": hand[0], "factor": options.five}, lang))
        if hand and all(card[1] == "7" for card in hand):
            lines.append(say(WORDS, "only_sevens", {"seat": settled, "cards": " ".join(hand)}, lang))
    sums = zip(event.points, result["round_scores"], result["extras"], strict=True)
    for seat, (points, score, extra) in enumerate(sums):
        if points != score + extra:  # EB-9.9
            more = {"seat": seat, "limit": options.limit, "points": options.exact}
            lines.append(say(WORDS, "exactly", more, lang))
    return tuple(lines)
