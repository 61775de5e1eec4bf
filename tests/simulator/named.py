"""What a run is to be under, by the words of docs/simulator.md, and how often it was: from what is counted in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

NAMED: Mapping[str, tuple[str, ...]] = {
    "crashes between two awaits": ("crash at step",),
    "crashes at a time": ("crash host", "crash gateway", "crash client"),
    "messages lost": ("message lost",),
    "messages doubled": ("doubled command", "called twice", "append repeated"),
    "messages delayed": ("message held up",),
    "messages reordered": ("reordered command",),
    "slow log": ("store slow",),
    "failing log": (
        *(f"{what} {how}" for what in ("append", "claim") for how in ("lost", "unanswered", "late")),
        *("outage", "restart store", "cut off host", "replica behind"),
    ),
    "entries written together": ("entries written together",),
    "clock jumps": ("jump clock",),
    "split ownership": ("two owners at once",),
    "standing answers": ("standing answer given",),
    "windows that ran out": ("timed out in a window",),
    "moves of substitutes": ("played by a substitute",),
}
SOON = tuple(NAMED)[:-2]  # found in a hundred seeds already


def named(counts: Counter[str]) -> dict[str, int]:
    """How often each happened."""
    return {what: sum(counts[one] for one in kinds) for what, kinds in NAMED.items()}
