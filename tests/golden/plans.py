"""What the golden records hold: a plan each, and the number of the match in which it was found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kangtou_engine.cards import RANKS, Cards
from kangtou_engine.match.match import AnyState

from . import policies
from .steer import Plan

QUICK = {"cut": False, "between": False}


def _levels(state: AnyState, found: set[str]) -> int:
    """Duizhu: first 直 or 削 at J or A, then a 光 with its 回龙."""
    note = state.game.ladder.pending
    if note is None:
        return 45 if found & {"zhi", "xue", "heihu"} else 0
    return 45 if "recover" in found else 0


def _four(pile: Cards, rank: str, size: int) -> bool:
    """Whether four cards of a rank are dealt to one seat of four."""
    return len({place % 4 for place, card in enumerate(pile[:size]) if card[1] == rank}) == 1


def _tens(piles: Sequence[Cards]) -> bool:
    """Four tens in one hand; and in another round both red tens in one and a quad in another."""
    tens = [_four(pile, "T", len(pile)) for pile in piles]
    return any(tens) and any(
        _four(pile, rank, len(pile)) and (pile.index("HT") - pile.index("DT")) % 4 == 0
        for pile, four in zip(piles, tens, strict=True)
        for rank in RANKS[3:]
        if not four and rank != "T"
    )


def _fours(piles: Sequence[Cards]) -> bool:
    return any(_four(pile, rank, 48) for pile in piles for rank in RANKS)


def _wushik(variant: str, *wanted: str, rounds: int = 4, tries: int = 60, **options: object) -> Plan:
    return Plan(
        "wushik",
        {**QUICK, "variant": variant, "rounds": 50, **options},
        None,
        frozenset(("bomb_over_bomb", "out_capture", *wanted)),
        policies.wushik,
        tries=tries,
        rounds=rounds,
    )


PLANS: Mapping[str, Plan] = {
    "duizhu": Plan(
        "duizhu",
        {**QUICK, "windows": "lap", "start_level": "J", "rounds": 50},
        None,
        frozenset(("throw", "substitution", "four", "sink", "snatch", "kou", "recover")),
        policies.duizhu,
        tries=100,
        rounds=8,
        patience=4,
        worth=_levels,
        promising=_fours,
    ),
    "erbaiwu": Plan(
        "erbaiwu",
        {**QUICK, "rounds": 100},
        4,
        frozenset(("pong", "lock", "lift", "dump", "five_kou", "exact")),
        policies.erbaiwu,
        tries=150,
        rounds=12,
    ),
    "hongshi": Plan(
        "hongshi",
        {**QUICK, "rounds": 50},
        None,
        frozenset(("reveal", "cart", "red_pair", "lightning")),
        policies.hongshi,
        tries=60,
        rounds=4,
        patience=4,
        promising=_tens,
    ),
    "chengde1": _wushik("chengde1", "flush", "true_over_fake"),
    "chengde2": _wushik("chengde2", "flush", "bomb6"),
    "liaoning": _wushik("liaoning", "true_over_bomb", "triple_bomb", "jokers"),
    "jiangnan": _wushik("jiangnan", "announced", "announced_bomb"),
    "jinzhou": _wushik("jinzhou", "jokers_2_small", "bomb_over_pairrun", rounds=5),
}

NUMBERS: Mapping[str, int] = {
    "duizhu": 7,
    "erbaiwu": 21,
    "hongshi": 1995,
    "chengde1": 3,
    "chengde2": 1,
    "liaoning": 17,
    "jiangnan": 4,
    "jinzhou": 19,
}
