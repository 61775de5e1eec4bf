"""How many machines 10,000 and 1,000,000 players at once need, from measured costs; and a simulation that checks it.

    python -m bench.capacity [--players 10000] [--core 1.0] [--core-hour 0.04] [--fsync-ms 1.0] [--json]

Costs are those of bench/costs.json (`python -m bench.costs --write` measures them anew). docs/capacity.md says
what they mean, what is assumed, and what breaks first.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from bench._model import Assumptions, Sizing, answer_ms, queues, size
from bench._simulate import simulate
from bench.costs import KEPT

PLAYERS = (10_000, 1_000_000)
SLOT_BUSY = 0.5  # of the one core that a slot of Redis has, and of what an actor can hold in links
LINKS_MOST = 2_000
# What is simulated: so many processes of each role under the share that the model gives each of them.
PIECE: Mapping[str, int] = {"gateway": 4, "actor": 4, "redis": 1}


def told(sizing: Sizing) -> str:
    """For people."""
    one = sizing
    return (
        f"{one.players:,} players: {one.tables:,} tables, {one.moves:,.0f} moves/s, {one.opened:,.1f} tables opened/s\n"
        f"  {one.gateways:,} gateway processes, {one.actors:,} table actors, {one.shards:,} Redis shards with a replica"
        f" each, {one.nodes:,} nodes; {one.memory_gib:,.1f} GiB in gateways and actors\n"
        f"  logs {one.log_gib:,.1f} GiB in Redis, archive {one.archive_gib_day:,.2f} GiB a day, to clients"
        f" {one.egress_gib_month:,.0f} GiB a month\n"
        f"  {one.cost:,.0f} dollars a month: machines {one.cost_machines:,.0f}, storage {one.cost_storage:,.0f},"
        f" traffic {one.cost_egress:,.0f}; {one.cost / one.players * 100:,.2f} cents a player"
    )


def bottlenecks(sizing: Sizing) -> list[str]:
    """What does not get better with more processes, the worst first: how much of its limit is used, and what it is."""
    one = sizing
    limits = {
        "the directory: every process reads every actor's heartbeat twice a second from one slot": one.directory_busy,
        "opening tables: the lobby's list is one slot": one.lobby_busy,
        "links: each actor has one from every gateway": one.gateways / LINKS_MOST,
    }
    return [
        f"{share / SLOT_BUSY:.2f} of its limit: {name}" for name, share in sorted(limits.items(), key=lambda it: -it[1])
    ]


def checked(sizing: Sizing, costs: Mapping[str, Any], given: Assumptions, seconds: float) -> dict[str, Any]:
    """Model against simulation, on a piece of the whole at the same load of each process."""
    chain = queues(sizing, costs, given)
    # The piece has fewer processes than the whole: the least loaded role sets how many moves it gets.
    rate = chain["actor"].arrivals * PIECE["actor"]
    chain = {
        role: replace(queue, arrivals=rate * (2 if role == "gateway" else 1) / PIECE[role])
        for role, queue in chain.items()
    }
    mean, p99 = answer_ms(chain, given)
    seen = simulate(chain, PIECE, given, seconds)
    return {
        "moves_per_s": rate,
        "model_busy": {role: queue.busy for role, queue in chain.items()},
        "seen_busy": seen.busy,
        "model_mean_ms": mean,
        "seen_mean_ms": seen.mean_ms,
        "model_p99_ms": p99,
        "seen_p99_ms": seen.p99_ms,
        "moves": seen.moves,
    }


def main() -> None:
    """Print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--players", type=int, action="append")
    parser.add_argument("--seconds", type=float, default=120.0, help="simulated")
    parser.add_argument("--json", action="store_true")
    numbers = {name: value for name, value in asdict(Assumptions()).items() if isinstance(value, float | int)}
    for name, value in numbers.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value, help=f"default {value}")
    args = parser.parse_args()
    given = Assumptions(**{name: getattr(args, name) for name in numbers})
    costs = json.loads(KEPT.read_text())
    for players in args.players or PLAYERS:
        sizing = size(players, costs, given)
        check = checked(sizing, costs, given, args.seconds)
        if args.json:
            print(json.dumps({"sizing": asdict(sizing), "check": check, "bottlenecks": bottlenecks(sizing)}))
            continue
        print(told(sizing))
        print("\n".join(f"  {line}" for line in bottlenecks(sizing)))
        busy = ", ".join(f"{role} {check['model_busy'][role]:.2f}/{check['seen_busy'][role]:.2f}" for role in PIECE)
        print(
            f"  model/simulation: busy {busy}; mean {check['model_mean_ms']:.2f}/{check['seen_mean_ms']:.2f} ms, "
            f"p99 {check['model_p99_ms']:.2f}/{check['seen_p99_ms']:.2f} ms over {check['moves']:,} moves"
        )


if __name__ == "__main__":
    main()
