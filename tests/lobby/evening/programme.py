"""Who does what. The seed says who of the forty is who, where they sit and how they play."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial

from kangtou_clients.api import TableTerms, Wanted

from .habits import Does, Habit
from .ledger import Ledger
from .people import Person, together
from .queues import declined, party
from .tables import Plan, hold

FORTY = 40
RATED = TableTerms(rated=True, kind="human")


def wanted(game: str, rounds: int, seats: int = 0, **options: int | bool | str) -> Wanted:
    """A short match without the pauses between rounds, with time enough for everybody on a busy machine."""
    given = {"rounds": rounds, "between": False, **options}
    return Wanted(game, seats=seats, options=given, turn_ms=20_000, window_ms=20_000)


def brisk(calm: Wanted) -> Wanted:
    """The same with so little time that who falls asleep is soon noticed."""
    return replace(calm, turn_ms=700, window_ms=700, bank_ms=300, increment_ms=50)


def tables(people: Sequence[Person], rounds: int, again: int) -> list[Plan]:
    """Ten tables: every game, every form of Wushik. `again`: how many more matches where there is a rematch."""
    p = people
    ready, owner = TableTerms("ready", watch="round"), TableTerms("owner", watch_delay_s=1)
    alone, glass = TableTerms(private=True, watch="none"), TableTerms(watch="open")
    round_ = replace(RATED, watch="round")
    return [
        Plan("hongshi", wanted("hongshi", rounds), p[0:4], RATED, matches=1 + again, watchers=p[38:39], talks=True),
        Plan("tens", brisk(wanted("hongshi", 1, top="tens")), p[4:8], ready, {1: Does(Habit.FALLS_ASLEEP)}),
        Plan("duizhu", wanted("duizhu", 1), p[8:12], RATED, {2: Does(Habit.STEPS_OUT)}),
        Plan("two", wanted("erbaiwu", rounds, seats=2), p[12:14], round_, matches=2 + again, watchers=p[39:40]),
        Plan("three", wanted("erbaiwu", rounds, seats=3), p[14:17], owner, removed=p[17], watchers=p[17:18]),
        Plan("private", wanted("wushik", 1, variant="chengde1"), p[18:22], alone, watchers=p[39:40]),
        Plan("chengde2", wanted("wushik", 1, variant="chengde2"), p[22:26], RATED, {3: Does(Habit.LEAVES, 5)}),
        Plan("liaoning", wanted("wushik", 1, variant="liaoning"), p[26:29], fill=True, does={0: Does(Habit.MOVES, 4)}),
        Plan(
            "jiangnan",
            wanted("wushik", 1, variant="jiangnan"),
            p[30:34],
            glass,
            watchers=p[38:39],
            does={1: Does(Habit.STEPS_OUT, 4)},
        ),
        Plan("jinzhou", wanted("wushik", 1, variant="jinzhou"), p[34:38], does={2: Does(Habit.MOVES, 2)}),
    ]


async def run(people: Sequence[Person], ledger: Ledger, seed: int, rounds: int = 1, again: int = 1) -> None:
    """The whole evening. Each part begins once its people are free."""
    assert len(people) == FORTY
    chance = random.Random(seed)
    order = list(people)
    chance.shuffle(order)

    async def part(who: Sequence[Person], what: Callable[[int], Awaitable[None]], number: int) -> None:
        async with together(who):
            await what(number)

    async with asyncio.TaskGroup() as group:
        for plan in tables(order, rounds, again):
            work = part(plan.everybody, partial(hold, plan, ledger), chance.randrange(1 << 30))
            group.create_task(work, name=plan.title)
        queued = [*order[38:40], *order[12:14]]
        pair = wanted("duizhu", 1)
        work = part(queued, partial(party, queued, pair, ledger), chance.randrange(1 << 30))
        group.create_task(work, name="party")
        three = order[14:17]
        alone = wanted("erbaiwu", rounds, seats=2)
        work = part(three, partial(declined, three, alone, ledger), chance.randrange(1 << 30))
        group.create_task(work, name="declined")
