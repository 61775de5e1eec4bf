"""The five variants, as values: what WK-8 … WK-11 say and nothing else. WK-3.14, WK-4.6.

A sixth variant is one more value in ALL (with its book and cases). No code outside this file knows their names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...cards import DECK52, DECK54, Card, Cards
from .combos import ACE_BOTH_ENDS, NUMBERS, ORDINARY, WITH_JOKERS, Form, Line
from .scoring import RoundScore, chengde_round, jiangnan_round, jinzhou_round, liaoning_round

Value = bool | int | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One variant.

    pack          of a round. WK-1.2
    seats         allowed numbers, the default first; `partners`: seats 0+2 against 1+3. WK-1.1
    forms         the plain kinds; `house` those that an option adds. WK-3.14
    bombs         from low to high; `guards` the lowest line that beats a plain kind, None: none does. WK-4.6
    lead_card     who drew it first leads, in round 1 or in every round; None: the dealer leads. WK-2.4
    first_out_deals  the next dealer is the seat that went out first, else the one left with cards. WK-2.3
    score         of a round. WK-8.5, WK-9.6, WK-10.10, WK-11.6
    options       the options that it has, with their defaults. WK-14
    """

    name: str
    title: tuple[str, str]
    pack: Cards
    seats: tuple[int, ...] = (4,)
    partners: bool = True
    forms: tuple[Form, ...]
    house: Mapping[str, Form]
    bombs: tuple[Line, ...]
    guards: Mapping[str, str | None]
    lead_card: Card | None
    lead_every_round: bool = False
    first_out_deals: bool = True
    score: RoundScore
    options: Mapping[str, Value]


COMMON_OPTIONS: Mapping[str, Value] = {
    "rounds": 4,
    "target": 0,
    "straight_min": 3,
    "pure_suit_order": True,
    "cut": False,
    "between": True,
    "vote_end": False,
}

SINGLE, PAIR, TRIPLE = Form("single", 1, WITH_JOKERS), Form("pair", 2, NUMBERS), Form("triple", 3, NUMBERS)
FAKE, TRUE, TRIPLE_BOMB = Line("fake", 3), Line("true", 3), Line("triple", 3)
BOMB4, BOMB5, BOMB6, BOMB7, BOMB8 = (Line("bomb", n) for n in range(4, 9))
MIXED, SMALL, BIG = (
    Line("jokers", 2, (held,), tag) for held, tag in (((1, 1), "mixed"), ((2, 0), "small"), ((0, 2), "big"))
)
JOKERS3, JOKERS4 = Line("jokers", 3, ((2, 1), (1, 2))), Line("jokers", 4, ((2, 2),))


def straight(least: int) -> Form:
    """WK-3.6."""
    return Form("straight", 1, ORDINARY, least, 12)


def pair_run(least: int) -> Form:
    """WK-3.8."""
    return Form("pairrun", 2, ORDINARY, least, 12)


def triple_run(least: int, kick: int = 0) -> Form:
    """WK-3.9, WK-3.10."""
    return Form(f"triplerun{kick or ''}", 3, ORDINARY, least, 12, kick)


CHENGDE_FORMS = (  # WK-8.2
    SINGLE,
    PAIR,
    TRIPLE,
    Form("straight", 1, ACE_BOTH_ENDS, 3, 13, flush="tie"),
    pair_run(2),
    triple_run(2),
    Form("triple1", 3, NUMBERS, kick=1),
    Form("triple2", 3, NUMBERS, kick=2),
    triple_run(2, kick=1),
    triple_run(2, kick=2),
)
CHENGDE_OPTIONS: Mapping[str, Value] = {
    **COMMON_OPTIONS,
    "wind": "partner",
    "lead_card": False,
    "flush_straight": "tie",
}

CHENGDE1 = Variant(  # WK-8
    name="chengde1",
    title=("Chengde, one deck", "承德一副牌"),
    pack=DECK52,
    forms=CHENGDE_FORMS,
    house={},
    bombs=(FAKE, TRUE, BOMB4),  # WK-8.3
    guards={},
    lead_card="S3",
    score=chengde_round,
    options=CHENGDE_OPTIONS,
)
CHENGDE2 = Variant(  # WK-8
    name="chengde2",
    title=("Chengde, two decks", "承德二副牌"),
    pack=DECK52 * 2,
    forms=CHENGDE_FORMS,
    house={},
    bombs=(FAKE, TRUE, BOMB4, BOMB5, BOMB6, BOMB7, BOMB8),  # WK-8.3
    guards={},
    lead_card="S3",
    score=chengde_round,
    options={**CHENGDE_OPTIONS, "bomb_max": 8},
)
LIAONING = Variant(  # WK-9
    name="liaoning",
    title=("Liaoning", "辽宁"),
    pack=DECK54,
    seats=(4, 3),
    partners=False,
    forms=(SINGLE, PAIR, straight(3), pair_run(3), triple_run(2), Form("quadrun", 4, ORDINARY, 2, 12)),  # WK-9.2
    house={},
    bombs=(TRIPLE_BOMB, FAKE, MIXED, BOMB4, TRUE),  # WK-9.3
    guards={"pairrun": "bomb4", "triplerun": None, "quadrun": None},  # WK-9.4
    lead_card="H3",
    first_out_deals=False,  # WK-9.7
    score=liaoning_round,
    options={**COMMON_OPTIONS, "pure_suit_order": False, "lead_card": False},
)
JIANGNAN = Variant(  # WK-10
    name="jiangnan",
    title=("Jiangnan", "江南"),
    pack=DECK54 * 2,
    forms=(  # WK-10.2
        SINGLE,
        Form("pair", 2, WITH_JOKERS),
        straight(5),
        pair_run(3),
        triple_run(2),
        Form("triple2", 3, NUMBERS, kick=2, paired=True),
    ),
    house={"bare_triple": TRIPLE},  # WK-10.3
    bombs=(FAKE, TRUE, BOMB4, BOMB5, JOKERS3, BOMB6, BOMB7, BOMB8, JOKERS4),  # WK-10.4
    guards={},
    lead_card=None,
    score=jiangnan_round,
    options={
        **COMMON_OPTIONS,
        "rounds": 0,
        "target": 1000,  # WK-10.12
        "straight_min": 5,
        "pure_suit_order": False,
        "wind": "partner",
        "announce": True,
        "bare_triple": False,
    },
)
JINZHOU = Variant(  # WK-11
    name="jinzhou",
    title=("Jinzhou", "锦州"),
    pack=DECK54 * 2,
    forms=(SINGLE, PAIR, straight(3), pair_run(3), triple_run(3)),  # WK-11.2
    house={},
    bombs=(  # WK-11.3
        TRIPLE_BOMB,
        FAKE,
        MIXED,
        TRUE,
        SMALL,
        BIG,
        BOMB4,
        BOMB5,
        JOKERS3,
        BOMB6,
        BOMB7,
        JOKERS4,
        BOMB8,
    ),
    guards={"pairrun": "bomb4", "triplerun": "bomb6"},  # WK-11.4
    lead_card="HA",
    lead_every_round=True,
    score=jinzhou_round,
    options={**COMMON_OPTIONS, "wind": "partner", "lead_card": False, "caught": "each20"},
)

ALL: Mapping[str, Variant] = {one.name: one for one in (CHENGDE1, CHENGDE2, LIAONING, JIANGNAN, JINZHOU)}
DEFAULT = CHENGDE1
