"""`python -m bench.practice [TIMES]`: how long until one sits at a practice table, from nothing to the cards.

Goal: under 2 s on a quiet machine.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time

from kangtou_clients.practice import practice

TIMES = 7


async def once(game: str) -> float:
    """Seconds from nothing to the seat in a match that has begun."""
    began = time.perf_counter()
    async with practice(game) as table, table.client.play() as session:
        match = await table.attach(session)
        while not match.view.sheet.round and not match.over:
            await match.news()
        return time.perf_counter() - began


def main() -> int:
    """See the module."""
    times = int(sys.argv[1]) if len(sys.argv) > 1 else TIMES
    taken = [asyncio.run(once("hongshi")) for _ in range(times)]
    shown = ", ".join(f"{seconds:.2f}" for seconds in taken)
    sys.stdout.write(f"practice ready after {statistics.median(taken):.2f} s (median of {times}: {shown} s)\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
