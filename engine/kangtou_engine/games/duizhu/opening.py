"""What stands out in a hand as dealt, before the kitty. DZ-3.1, DZ-4.2, DZ-7.6."""

from __future__ import annotations

from collections.abc import Mapping

from ...cards import JOKERS, Cards, Seat, in_order
from ...match.events import RoundBegan, Scored
from ...match.state import Config
from ...opening import Dealing, Opening, rank_counts
from .events import Declared, Drawn, SuitFixed
from .levels import MADE, level_rank
from .options import SEATS
from .ranking import LEVEL_CARDS, points_of
from .state import DRAWN


def hands(began: RoundBegan, dealing: Dealing) -> tuple[Cards, ...] | None:
    """The cards are drawn a few at a time; None if not all 48 were. DZ-3.2."""
    drawn: list[list[str]] = [[] for _ in range(SEATS)]
    for event in dealing:
        if isinstance(event, Drawn):
            for place, card in enumerate(event.cards):
                drawn[(event.first + place) % SEATS].append(card)
    return tuple(map(in_order, drawn)) if sum(map(len, drawn)) == DRAWN else None


def features(config: Config, began: RoundBegan, dealing: Dealing, hand: Cards) -> Mapping[str, int]:
    """Of one hand.

    jokers, levels, twos  permanent trumps (DZ-4.2)
    trumps                all trumps in it, once the suit was fixed in this round; else it is left out
    fours                 ranks of which it has all four cards (DZ-7.6)
    points                of its fives, tens and kings (DZ-8.1)
    """
    level = level_rank(began.carry.get("level", config.options.start))
    permanent = LEVEL_CARDS[level] | LEVEL_CARDS["2"] | set(JOKERS)
    found = {
        "jokers": sum(card in JOKERS for card in hand),
        "levels": sum(card in LEVEL_CARDS[level] for card in hand),
        "twos": sum(card in LEVEL_CARDS["2"] for card in hand),
        "fours": sum(count == 4 for count in rank_counts(hand).values()),
        "points": points_of(hand),
    }
    suit = _suit(dealing)
    if suit:
        found["trumps"] = sum(card in permanent or card[0] == suit for card in hand)
    return found


def _suit(dealing: Dealing) -> str:
    for event in reversed(dealing):
        if isinstance(event, SuitFixed):
            return event.suit
        if isinstance(event, Declared):
            return event.card[0]
    return ""


def winners(scored: Scored, better: int) -> tuple[Seat, ...]:
    """The side that made its level, or the defenders that broke it; nobody where the dealer only stays. DZ-8.3, DZ-8.4.

    Points of a round are none in this game: levels move.
    """
    outcome, dealer = scored.result.get("outcome"), scored.result.get("dealer")
    if not isinstance(dealer, int) or outcome == "held":
        return ()
    side = dealer % 2 if outcome in MADE else 1 - dealer % 2
    return (side, side + 2)


OPENING = Opening((Drawn, Declared, SuitFixed), features, hands, winners)
