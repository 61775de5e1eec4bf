"""A process that notes its share of an evening's results and applies whatever there is: `worker URL SEED COUNT SHARE`.

It is killed at any moment and started again on the same share, so it repeats what may have been done already.
"""

from __future__ import annotations

import asyncio
import random
import sys

from kangtou_services.ratings import Applier, Ladder, RedisRatingStore, Result
from tests.servers import patient

LADDERS = (Ladder("wushik", "liaoning", "human"), Ladder("hongshi", "", "human"), Ladder("duizhu", "", "bot"))


def evening(seed: int, count: int, players: int = 200) -> list[Result]:
    """The same results for every process: partners, ties, two to six seats."""
    chance = random.Random(seed)
    found = []
    for number in range(count):
        ladder = chance.choice(LADDERS)
        drawn = [f"p{player}" for player in chance.sample(range(players), 6)]
        if ladder.game == "duizhu":
            sides: tuple[tuple[str, ...], ...] = ((drawn[0], drawn[2]), (drawn[1], drawn[3]))
        else:
            sides = tuple((name,) for name in drawn[: chance.randint(2, 6)])
        places = tuple(chance.randint(1, len(sides)) for _ in sides)
        found.append(Result(f"m{number}", ladder, sides, places, chance.getrandbits(40)))
    return found


async def _work(url: str, seed: int, count: int, share: int) -> None:
    client = patient(url)
    store = RedisRatingStore(client)
    applier = Applier(store, batch=10)
    mine = [one for number, one in enumerate(evening(seed, count)) if number % 4 in (share, (share + 1) % 4)]
    random.Random(share).shuffle(mine)
    for start in range(0, len(mine), 25):  # each result is noted by two processes, in different orders
        await asyncio.gather(*(store.append(one) for one in mine[start : start + 25]))
        await applier.catch_up()
    await applier.catch_up()
    await client.aclose()


if __name__ == "__main__":
    asyncio.run(_work(sys.argv[1], *map(int, sys.argv[2:5])))
