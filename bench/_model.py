"""From measured costs to machines: how many gateways, table actors and Redis shards so many players need.

A move is a chain of queues: the gateway that reads it, the actor that decides, the shard that makes it durable, and the
gateway again. Moves of many tables arrive as good as Poisson, so each process is an M/G/1 queue (Pollaczek, Khinchine);
a process is loaded so far that its queue stays short, and that bounds the players it bears.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

DAY_S = 86_400
MONTH_H = 730
KEPT_S = 3_600  # setting keep_log_ms


@dataclass(frozen=True, slots=True)
class Assumptions:
    """What was not measured. Prices are in US dollars, round figures of large providers; put in your own.

    think_s, spread      median time for a move and its logarithm's standard deviation
    rounds               of a match
    watchers             spectators a table, on average
    busy                 how far a process may be loaded, by role: what is left is for peaks and failures
    core                 how many of the measuring machine's cores one core of the target is worth
    cores, memory_gib    of a node
    fsync_ms             of the shard's volume (network block storage is slower than a disk in the machine)
    per_fsync            entries that one fsync makes durable at most: those of one pipeline
    """

    think_s: float = 3.0
    spread: float = 0.7
    rounds: int = 8
    watchers: float = 0.2
    busy: Mapping[str, float] | None = None
    core: float = 1.0
    cores: int = 16
    memory_gib: int = 64
    fsync_ms: float = 1.0
    core_hour: float = 0.04
    gib_hour: float = 0.005
    block_gib_month: float = 0.10
    object_gib_month: float = 0.023
    egress_gib: float = 0.05

    def load(self, role: str) -> float:
        """How far a process of a role may be loaded."""
        return (self.busy or {"gateway": 0.6, "actor": 0.6, "redis": 0.5})[role]

    @property
    def mean_think_s(self) -> float:
        """Of the log-normal."""
        return self.think_s * math.exp(self.spread**2 / 2)


@dataclass(frozen=True, slots=True)
class Sizing:
    """What so many players at once need. Rates a second, money in dollars a month."""

    players: int
    tables: int
    moves: float
    opened: float
    gateways: int
    actors: int
    shards: int
    nodes: int
    links: int
    memory_gib: float
    lobby_busy: float
    directory_busy: float
    archive_gib_day: float
    log_gib: float
    egress_gib_month: float
    cost_machines: float
    cost_storage: float
    cost_egress: float

    @property
    def cost(self) -> float:
        """All of it, with the archive of one month."""
        return self.cost_machines + self.cost_storage + self.cost_egress


def size(players: int, costs: Mapping[str, Any], given: Assumptions) -> Sizing:
    """For so many players at once, all day."""
    tables = players // 4
    # Windows ask several seats at once, so a table makes somewhat more moves than one thinker at a time would.
    measured = Assumptions(think_s=costs["plan"]["think_s"], spread=costs["plan"]["spread"])
    crowd = costs["move"]["per_table_and_s"] * measured.mean_think_s
    moves = tables * crowd / given.mean_think_s
    round_moves = costs["archive"]["moves_a_round"]
    opened = moves / (round_moves * given.rounds)
    move, opening, watcher = costs["busy_move_us"], costs["opening_us"], costs["watcher_us"]
    seen = moves * given.watchers

    def need(role: str) -> float:
        """Cores of one role."""
        spent = moves * move.get(role, 0) + opened * opening.get(role, 0) + seen * watcher.get(role, 0)
        return float(spent / 1e6 / given.core)

    gateways = max(2, math.ceil(need("gateway") / given.load("gateway")))
    actors = max(2, math.ceil(need("actor") / given.load("actor")))
    shards = max(1, math.ceil(need("redis") / given.load("redis")))
    held = costs["table_kib"]
    idle = costs["idle_mib"]
    memory = tables * (held["actor"] + held["gateway"]) / 2**20
    memory += (gateways * idle["gateway"] + actors * (idle["actor"] / 2)) / 1024
    lasts_s = tables / opened
    # A live log lies in Redis from a match's first move until an hour after its record is written.
    log_gib = moves * costs["move"]["log_bytes"] * (lasts_s / 2 + KEPT_S) / 2**30 + tables * held["redis"] / 2**20
    core_count = need("gateway") / given.load("gateway") + need("actor") / given.load("actor")
    nodes = max(2, math.ceil(max(core_count / (given.cores - 1), memory / (given.memory_gib * 0.8))))
    shard_cores, shard_gib = 2 * shards, max(log_gib * 2, 2.0 * shards)
    archive_day = moves * DAY_S / round_moves * costs["archive"]["bytes_a_round"] / 2**30
    egress = moves * costs["stream"]["bytes_a_move"] * (1 + given.watchers / 4) * DAY_S * 30 / 2**30
    machines = (nodes * given.cores + shard_cores) * given.core_hour + (
        nodes * given.memory_gib + shard_gib
    ) * given.gib_hour
    # The lobby's list and the directory are one slot each, so one shard's core, however many shards there are.
    lobby = opened * opening.get("redis", 0) / 1e6 / given.core
    return Sizing(
        players=players,
        tables=tables,
        moves=moves,
        opened=opened,
        gateways=gateways,
        actors=actors,
        shards=shards,
        nodes=nodes,
        links=gateways * actors,
        memory_gib=memory,
        lobby_busy=lobby,
        directory_busy=2.0 * (gateways + actors) * actors * costs["directory"]["read_us"] / 1e6 / given.core,
        archive_gib_day=archive_day,
        log_gib=log_gib,
        egress_gib_month=egress,
        cost_machines=machines * MONTH_H,
        cost_storage=log_gib * 4 * given.block_gib_month + archive_day * 30 * given.object_gib_month,
        cost_egress=egress * given.egress_gib,
    )


@dataclass(frozen=True, slots=True)
class Queue:
    """One process as an M/G/1 queue: arrivals a second, service in seconds, its squared coefficient of variation."""

    arrivals: float
    service: float
    variation: float

    @property
    def busy(self) -> float:
        """Part of the time; at 1 the queue grows for ever."""
        return self.arrivals * self.service

    @property
    def wait(self) -> float:
        """Mean seconds before service (Pollaczek and Khinchine)."""
        return self.busy * self.service * (1 + self.variation) / 2 / (1 - self.busy)

    def late(self, part: float) -> float:
        """Seconds of waiting that this part of the arrivals exceeds: an exponential tail through the mean."""
        return max(0.0, self.wait / self.busy * math.log(self.busy / part)) if self.busy > part else 0.0


def queues(sizing: Sizing, costs: Mapping[str, Any], given: Assumptions, variation: float = 1.0) -> dict[str, Queue]:
    """One process of each role under its share; a move passes the gateway twice, with half of its cost each time.

    What openings and spectators cost is in the share, as a longer service of each move.
    """
    found = {}
    per = {"gateway": sizing.gateways, "actor": sizing.actors, "redis": sizing.shards}
    for role, count in per.items():
        spent = costs["busy_move_us"].get(role, 0.0) + costs["watcher_us"].get(role, 0.0) * given.watchers
        spent += costs["opening_us"].get(role, 0.0) * sizing.opened / sizing.moves
        visits = 2 if role == "gateway" else 1
        found[role] = Queue(sizing.moves / count * visits, spent / visits / 1e6 / given.core, variation)
    return found


def answer_ms(chain: Mapping[str, Queue], given: Assumptions) -> tuple[float, float]:
    """Predicted mean and 99th percentile of an answer. An append waits for the fsync under way, then for its own."""
    fsync = given.fsync_ms / 1000
    steps = [chain["gateway"], chain["actor"], chain["redis"], chain["gateway"]]
    mean = sum(step.wait + step.service for step in steps) + 1.5 * fsync
    # Queues are nearly independent: their excesses over the mean add up as squares.
    excess = [step.late(0.01) - step.wait for step in steps] + [3.6 * step.service for step in steps] + [0.5 * fsync]
    return mean * 1000, (mean + math.sqrt(sum(max(0.0, one) ** 2 for one in excess))) * 1000
