"""What stands out in a hand as dealt. EB-1, EB-5, EB-9.1."""

from __future__ import annotations

from collections.abc import Mapping

from ...cards import JOKERS, Cards
from ...match.events import RoundBegan
from ...match.state import Config
from ...opening import Dealing, Opening, rank_counts
from .events import Dealt
from .pack import SEVENS, hand_value


def features(config: Config, began: RoundBegan, dealing: Dealing, hand: Cards) -> Mapping[str, int]:
    """Of one hand; the dealer's has a card more (EB-2.5).

    jokers, sevens  how many
    pairs, threes   ranks, sevens left out, with two cards, and with three or four: a meld (EB-5.5)
    points          what it would cost, in tens (EB-9.1)
    """
    counts = [count for rank, count in rank_counts(hand).items() if rank != "7"]
    return {
        "jokers": sum(card in JOKERS for card in hand),
        "sevens": sum(card in SEVENS for card in hand),
        "pairs": sum(count == 2 for count in counts),
        "threes": sum(count >= 3 for count in counts),
        "points": hand_value(hand, ()) // 10 * 10,
    }


OPENING = Opening((Dealt,), features)
