"""The chain of queues again, event by event: tables that think, processes that serve in order, fsyncs that batch.

Nothing of the model's formulas is used. Every seat thinks (log-normal), every process serves one message after the
other with a time drawn around the measured mean, and an entry is durable when the fsync after its write is done; while
one runs, the next collects what arrives. What comes out is how long answers take and how busy each process is.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random

from bench._model import Assumptions, Queue

WARM = 4.0  # thoughts until the start no longer shows
Then = Callable[[float], None]


@dataclass(slots=True)
class Server:
    """One process: first come, first served. `spent` is the time that it has served."""

    service: float
    chance: Random
    free: float = 0.0
    spent: float = 0.0

    def serve(self, now: float) -> float:
        """When a message that comes now has been dealt with."""
        took = self.chance.expovariate(1 / self.service)
        self.free = max(self.free, now) + took
        self.spent += took
        return self.free


@dataclass(slots=True)
class Disk:
    """Of one shard: an fsync at a time, for everything that was written before it began."""

    fsync: float
    free: float = 0.0
    _begins: float = 0.0  # the last one that is known of

    def durable(self, now: float) -> float:
        """When what is written now is on disk. Must be asked in order of time."""
        if now >= self.free:
            self._begins, self.free = now, now + self.fsync
        elif now >= self._begins:  # it is under way without this; the next takes all that wait
            self._begins, self.free = self.free, self.free + self.fsync
        return self.free


@dataclass(slots=True)
class World:
    """Events in order of time."""

    now: float = 0.0
    _events: list[tuple[float, int, Then]] = field(default_factory=list)
    _order: itertools.count[int] = field(default_factory=itertools.count)

    def at(self, when: float, then: Then) -> None:
        """Do something at a time."""
        heapq.heappush(self._events, (when, next(self._order), then))

    def run(self, until: float) -> None:
        """Until then."""
        while self._events and self._events[0][0] <= until:
            self.now, _, then = heapq.heappop(self._events)
            then(self.now)


@dataclass(frozen=True, slots=True)
class Seen:
    """What the simulation says: moves, answers in ms, how busy each role was."""

    moves: int
    mean_ms: float
    p99_ms: float
    busy: dict[str, float]


def simulate(
    chain: Mapping[str, Queue], shares: Mapping[str, int], given: Assumptions, seconds: float, seed: int = 1
) -> Seen:
    """`shares` processes of each role, loaded as the queues of the model say, for so long after a start that fades."""
    chance, world = Random(seed), World()
    servers = {role: [Server(chain[role].service, chance) for _ in range(count)] for role, count in shares.items()}
    disks = [Disk(given.fsync_ms / 1000) for _ in servers["redis"]]
    waits: list[float] = []
    begin = WARM * given.mean_think_s  # tables start at about the same time
    moves_per_s = chain["actor"].arrivals * shares["actor"]
    tables = max(1, round(moves_per_s * given.mean_think_s))

    def think() -> float:
        return chance.lognormvariate(math.log(given.think_s), given.spread)

    def table() -> None:
        """One table; its shard and actor are fixed, each seat's gateway is any."""
        actor = chance.choice(servers["actor"])
        place = chance.randrange(len(servers["redis"]))
        shard, disk = servers["redis"][place], disks[place]

        def sent(now: float) -> None:
            gateway = chance.choice(servers["gateway"])

            def decided(then: float) -> None:
                world.at(shard.serve(then), written)

            def written(then: float) -> None:
                world.at(disk.durable(then), durable)

            def durable(then: float) -> None:
                world.at(gateway.serve(then), answered)

            def answered(then: float) -> None:
                if now >= begin:
                    waits.append(then - now)
                world.at(then + think(), sent)

            world.at(gateway.serve(now), lambda then: world.at(actor.serve(then), decided))

        world.at(think() * chance.random(), sent)

    for _ in range(tables):
        table()
    world.run(begin)
    before = {role: sum(one.spent for one in group) for role, group in servers.items()}
    world.run(begin + seconds)
    waits.sort()
    return Seen(
        moves=len(waits),
        mean_ms=sum(waits) / len(waits) * 1000,
        p99_ms=waits[int(len(waits) * 0.99)] * 1000,
        busy={
            role: (sum(one.spent for one in group) - before[role]) / len(group) / seconds
            for role, group in servers.items()
        },
    )
