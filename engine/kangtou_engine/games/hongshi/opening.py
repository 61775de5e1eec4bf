"""What stands out in a hand as dealt: red tens decide the side, the rest how strong it is. HS-1.5, HS-4.1, HS-5."""

from __future__ import annotations

from collections.abc import Mapping

from ...cards import JOKERS, Cards
from ...match.events import RoundBegan
from ...match.state import Config
from ...opening import Dealing, Opening, rank_counts
from .combos import RED_TENS, combos_in
from .deal import opening_card
from .events import Dealt
from .options import options_of


def features(config: Config, began: RoundBegan, dealing: Dealing, hand: Cards) -> Mapping[str, int]:
    """Of one hand.

    red_tens, jokers  how many of two
    big               cards above A: twos, red tens, jokers (HS-5.2)
    specials          special combinations in it: red pair, two jokers, four tens (HS-5.4)
    fours             ranks of which it has all four cards
    opens             whether it holds the card of the first lead (HS-6.1)
    """
    red, jokers = sum(card in RED_TENS for card in hand), sum(card in JOKERS for card in hand)
    return {
        "red_tens": red,
        "jokers": jokers,
        "big": red + jokers + sum(card[1] == "2" for card in hand),
        "specials": sum(combo.power > 0 for combo in combos_in(options_of(config).top, hand)),
        "fours": sum(count == 4 for count in rank_counts(hand).values()),
        "opens": int(opening_card(config) in hand),
    }


OPENING = Opening((Dealt,), features)
