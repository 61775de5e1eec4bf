"""Small hands full of combinations, positions around them, and readings to beat."""

from __future__ import annotations

import random
from typing import Any

from kangtou_engine.cards import Cards, in_order
from kangtou_engine.games.wushik import GAME
from kangtou_engine.games.wushik.combos import Reading
from kangtou_engine.match.match import Game
from kangtou_engine.match.state import Config

from .naive import Naive

WUSHIK = Game(GAME)
VARIANTS = ("chengde1", "chengde2", "liaoning", "jiangnan", "jinzhou")
HOUSES: dict[str, list[dict[str, object]]] = {
    "chengde1": [{}, {"straight_min": 5}, {"flush_straight": "any"}, {"pure_suit_order": False}],
    "chengde2": [{}, {"bomb_max": 4}, {"flush_straight": "any", "bomb_max": 6}, {"straight_min": 4}],
    "liaoning": [{}, {"pure_suit_order": True}, {"straight_min": 5}],
    "jiangnan": [{}, {"bare_triple": True}, {"announce": False, "pure_suit_order": True}, {"straight_min": 3}],
    "jinzhou": [{}, {"pure_suit_order": False}, {"straight_min": 5}],
}


def config_of(variant: str, **options: object) -> Config:
    """A table of this variant."""
    return WUSHIK.config({"variant": variant, **options})


def rich_hand(chance: random.Random, config: Config, size: int) -> Cards:
    """Cards of few neighbouring ranks (or with 5-10-K and jokers), so that there is much to combine."""
    pack = GAME.pack(config)
    style = chance.randrange(4)
    if style == 0:
        ranks = set("5TK") | {"BJ", "RJ"}
    elif style == 1:
        ranks = set(chance.sample("3456789TJQKA2", 3)) | {"BJ", "RJ"}
    else:
        order = "A23456789TJQKA"
        width = chance.choice((3, 4, 5, 7))
        start = chance.randrange(len(order) - width + 1)
        ranks = set(order[start : start + width])
    near = [card for card in pack if (card if card in ("BJ", "RJ") else card[1]) in ranks]
    chosen = chance.sample(near, min(size, len(near)))
    rest = list(pack)
    for card in chosen:
        rest.remove(card)
    return in_order((*chosen, *chance.sample(rest, size - len(chosen))))


def position(config: Config, hand: Cards, **start: Any) -> Any:
    """Seat 0 with this hand is to act."""
    others = ["C3", "C4", "C5"]
    state = WUSHIK.before(config)
    given = {"phase": "play", "hands": [" ".join(hand), *others], "to_act": 0, **start}
    return GAME.cases.position(state, given)


def naive_of(reading: Reading) -> Naive:
    """The engine's reading in the words of the literal one."""
    parts = dict(part.split("=") for part in reading.combo[1:])
    extra = "flush" if "flush" in parts else parts.get("suit", parts.get("kind", ""))
    ranks = reading.ranks if reading.kind in ("straight", *_RUNS) else 1
    return Naive(reading.kind, reading.n, parts.get("top", ""), extra, ranks)


_RUNS = ("pairrun", "triplerun", "quadrun", "triplerun1", "triplerun2")

__all__ = ["HOUSES", "VARIANTS", "WUSHIK", "config_of", "naive_of", "position", "rich_hand"]
