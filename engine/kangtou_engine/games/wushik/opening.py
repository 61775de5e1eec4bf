"""What stands out in a hand as dealt. WK-1.4, WK-3.11."""

from __future__ import annotations

from collections.abc import Mapping

from ...cards import JOKERS, SUITS, Cards
from ...match.events import RoundBegan
from ...match.state import Config
from ...opening import Dealing, Opening, rank_counts, winners_named
from .events import Dealt
from .state import points_of


def features(config: Config, began: RoundBegan, dealing: Dealing, hand: Cards) -> Mapping[str, int]:
    """Of one hand.

    bombs        ranks of which it has four cards or more
    largest      cards of the rank of which it has most
    fifties      sets of 5, 10 and K that it can make, none sharing a card; pure: suits with all three (WK-3.11)
    jokers, twos how many
    points       of its fives, tens and kings, in tens (WK-1.4)
    """
    counts, held = rank_counts(hand), set(hand)
    return {
        "bombs": sum(count >= 4 for count in counts.values()),
        "largest": max(counts.values(), default=0),
        "fifties": min(counts.get(rank, 0) for rank in "5TK"),
        "pure": sum({suit + rank for rank in "5TK"} <= held for suit in SUITS),
        "jokers": sum(card in JOKERS for card in hand),
        "twos": counts.get("2", 0),
        "points": points_of(hand) // 10 * 10,
    }


OPENING = Opening((Dealt,), features, winners=winners_named("round_winner"))
