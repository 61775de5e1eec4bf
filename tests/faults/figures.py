"""How long matches had to wait, and verdicts of several loads as one."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Iterable, Mapping

from .load import Load, Verdict
from .test_kills import part

STUCK_S = 600.0  # Ray gives up starting after half a minute on a machine that is too busy, and is started again


def acked(loads: Mapping[str, Load]) -> dict[str, int]:
    """Of each match in play, how many moves have been acknowledged."""
    return {match: len(load.played[match].acked) for load in loads.values() for match in set(load.current)}


async def all_moving(loads: Mapping[str, Load], since: float | None = None, stuck_s: float = STUCK_S) -> list[int]:
    """Until each match in play has had another move acknowledged, or is over; how long each took, in ms.

    `since`: by the monotonic clock, when the wait began, if that was before now.
    """
    began, before, waits = since or time.monotonic(), acked(loads), []
    while before:
        now, waited = acked(loads), time.monotonic() - began
        for match in [one for one, count in before.items() if now.get(one, count + 1) > count]:
            del before[match]
            waits.append(int(waited * 1000))
        assert waited < stuck_s, f"no move for {waited:.0f} s: {sorted(before)}"
        for load in loads.values():
            load._raise()
        await asyncio.sleep(0.01)
    return waits


def said(waits: list[int]) -> str:
    """In one phrase."""
    if not waits:
        return "no match was waiting"
    return f"p50 {statistics.median(waits):.0f} ms, p95 {part(waits, 0.95)} ms, max {max(waits)} ms over {len(waits)}"


def total(verdicts: Iterable[Verdict]) -> Verdict:
    """All together."""
    whole = Verdict()
    for verdict in verdicts:
        for field in Verdict.__slots__:
            setattr(whole, field, getattr(whole, field) + getattr(verdict, field))
    return whole
