"""What the registry's tests ask of Wushik: option sets, what is public, conservation."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from kangtou_engine.cards import RANKS, Cards

OPTION_SETS: list[tuple[int | None, dict[str, object]]] = [
    (None, {"rounds": 2}),
    (4, {"variant": "chengde1", "rounds": 2, "between": False, "lead_card": True, "flush_straight": "any"}),
    (None, {"variant": "chengde1", "rounds": 3, "cut": True, "vote_end": True, "straight_min": 5, "wind": "next"}),
    (None, {"variant": "chengde1", "rounds": 0, "target": 150, "pure_suit_order": False, "straight_min": 4}),
    (None, {"variant": "chengde2", "rounds": 1}),
    (None, {"variant": "chengde2", "rounds": 1, "bomb_max": 4, "lead_card": True, "straight_min": 5}),
    (None, {"variant": "chengde2", "rounds": 2, "bomb_max": 6, "flush_straight": "any", "cut": True}),
    (None, {"variant": "liaoning", "rounds": 3}),
    (3, {"variant": "liaoning", "rounds": 2, "lead_card": True, "vote_end": True}),
    (4, {"variant": "liaoning", "rounds": 0, "target": 60, "pure_suit_order": True, "straight_min": 5, "cut": True}),
    (None, {"variant": "jiangnan", "rounds": 2}),
    (
        None,
        {
            "variant": "jiangnan",
            "announce": True,
            "target": 300,
            "bare_triple": True,
            "straight_min": 3,
            "wind": "next",
        },
    ),
    (None, {"variant": "jiangnan", "rounds": 1, "announce": False, "pure_suit_order": True, "between": False}),
    (None, {"variant": "jinzhou", "rounds": 2}),
    (None, {"variant": "jinzhou", "rounds": 1, "caught": "thirtyfifty", "lead_card": True, "wind": "next"}),
    (None, {"variant": "jinzhou", "rounds": 2, "pure_suit_order": False, "straight_min": 4, "cut": True}),
]


def public_facts(state: Any) -> object:
    """What every seat may know, taken from the full state. CM-12, WK-13."""
    sheet, own = state.sheet, state.game
    trick = own.trick
    after = state.phase in ("between", "over")
    return (
        state.phase,
        (sheet.scores, sheet.round, sheet.dealer, sheet.next_dealer, sheet.lot, sheet.cut, sheet.answers),
        (sheet.last_round, sheet.places),
        tuple(len(hand) for hand in own.hands),
        own.hands if after else None,  # WK-13.5
        own.turn,
        own.first_lead,  # WK-13.3
        own.played,  # WK-13.2
        None if trick is None else (trick.by, trick.cards, trick.combo, trick.points, trick.passed, trick.laid),
        (own.tally.out, own.tally.captured),
        own.announced.passed,
        tuple(_announced(hand, own.announced.ranks[seat]) for seat, hand in enumerate(own.hands)),  # WK-13.4
    )


def _announced(hand: Cards, ranks: str) -> tuple[str, Cards]:
    return ranks, tuple(card for card in hand if card[0] != "B" and card != "RJ" and card[1] in ranks)


def all_cards(state: Any) -> Cards:
    """Every card of the pack, in hands and among those played: from the deal on."""
    own = state.game
    return tuple(card for cards in (*own.hands, *own.played) for card in cards)


PACK_POINTS = {"chengde1": 100, "chengde2": 200, "liaoning": 100, "jiangnan": 200, "jinzhou": 200}


def zero_sum(state: Any) -> bool:
    """What the points of the last round add up to. WK-8.8, WK-9.6, WK-10.11, WK-11.8, WK-12.1."""
    last = state.sheet.last_round
    if last is None:
        return True
    variant, left = state.config.options.variant, sum(last["left"])
    total, gain, full = sum(last["round_points"]), sum(last["gain"]), PACK_POINTS[variant]
    if variant != "liaoning" and state.sheet.scores[:2] != state.sheet.scores[2:]:
        return False
    if variant == "jiangnan":
        return bool(total == full and gain == 2 * full)
    if variant == "jinzhou":
        return bool(gain == 0 and last["gain"][0] * 10 == last["round_points"][0] - last["round_points"][1])
    return bool(total == full - 2 * left and gain == total * (1 if variant == "liaoning" else 2))


def candidates(state: Any, seat: int) -> list[str] | None:
    """Every action that there could be for a small hand."""
    hand = state.game.hands[seat]
    if state.phase not in ("show", "play") or len(hand) > 8:
        return None
    subsets = {cards for size in range(1, len(hand) + 1) for cards in combinations(hand, size)}
    return ["pass", *(f"show rank={rank}" for rank in RANKS), *(f"play {' '.join(cards)}" for cards in subsets)]
