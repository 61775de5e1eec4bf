"""Right input to begin from: real actions, tournament specs, records, house rules."""

from __future__ import annotations

import json
from collections import deque
from copy import deepcopy
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from kangtou_engine.registry import REGISTRY

ROOT = Path(__file__).parents[2]
ACTIONS: deque[bytes] = deque(maxlen=256)  # requests with legal actions of all games, the latest

_ODD: tuple[Any, ...] = (
    None, True, -1, 0, 10**400, 1.5, float("nan"), float("inf"), "", "\ud800", "x" * 500,
    [], {}, [[]], {"a": {}}, ["a", 1],
)  # fmt: skip
_SPEC: dict[str, Any] = {
    "name": "cup",
    "game": "hongshi",
    "format": "round_robin",
    "unit": "match",
    "sets": 2,
    "rounds": 1,
    "seats": 4,
    "rotation": "full",
    "concurrency": 2,
    "confidence": 0.95,
    "trusted": True,
    "turn_ms": 5000,
    "options": {"rounds": 1},
    "stopping": {"method": "sprt", "low": 0.0, "high": 0.5, "alpha": 0.05, "beta": 0.05},
    "entrants": [
        {"name": "a", "bot": "greedy"},
        {"name": "b", "bot": "random", "memory_mb": 64, "cpu_s": 5},
        {"name": "c", "command": ["true"]},
        {"name": "d", "account": "f000000000000001"},
    ],
}


def spec(rng: Random) -> str:
    """A tournament's spec: right, or with odd values in some places."""
    made = json.loads(json.dumps(_SPEC))
    made["game"] = rng.choice(REGISTRY.names())
    for _ in range(rng.choice((0, 1, 1, 2, 4))):
        where = rng.choice((made, made, made.get("stopping"), made.get("options"), made.get("entrants")))
        if isinstance(where, list) and where:
            where = rng.choice(where)
        if not isinstance(where, dict) or not where:
            continue
        name = rng.choice((*where, "odd\ud800", ""))
        if rng.random() < 0.2:
            where.pop(name, None)
        else:
            where[name] = deepcopy(rng.choice(_ODD))
    text = json.dumps(made)
    return text if rng.random() < 0.8 else text[: rng.randrange(len(text))] + rng.choice(("[" * 3000, "}", "\\ud8"))


@cache
def records() -> tuple[str, ...]:
    """Records of every game, as they were written by released versions."""
    found = sorted((ROOT / "tests/golden/records").rglob("*.ktr"), key=lambda path: path.stat().st_size)
    return tuple(path.read_text(encoding="utf-8") for path in found[:24])
