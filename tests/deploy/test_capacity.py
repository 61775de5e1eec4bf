"""The capacity model: against a simulation that knows none of its formulas, and against arithmetic."""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from bench._model import Assumptions, Queue, answer_ms, queues, size
from bench._simulate import Disk, Server, simulate
from bench.capacity import PIECE, bottlenecks, checked
from bench.costs import KEPT
from tests.conftest import Counts


@pytest.fixture(scope="module")
def costs() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(KEPT.read_text())
    return found


@pytest.mark.parametrize("busy", [0.3, 0.6, 0.8])
def test_a_queue_by_formula_and_by_events(busy: float) -> None:
    """M/M/1 has a closed form too: mean time busy/(1-busy) services in the queue."""
    chance, service = Random(5), 0.001
    server, now, waited, count = Server(service, chance), 0.0, 0.0, 200_000
    for _ in range(count):
        now += chance.expovariate(busy / service)
        waited += max(server.free, now) - now
        server.serve(now)
    queue = Queue(busy / service, service, 1.0)
    assert queue.wait == pytest.approx(busy / (1 - busy) * service)
    assert waited / count == pytest.approx(queue.wait, rel=0.1)


def test_an_fsync_takes_what_waits_for_it() -> None:
    disk = Disk(1.0)
    assert [disk.durable(now) for now in (0.0, 0.1, 0.9, 1.5, 3.5)] == [1.0, 2.0, 2.0, 3.0, 4.5]


@pytest.mark.parametrize("players", [10_000, 1_000_000])
def test_model_holds_in_the_simulation(costs: dict[str, Any], players: int, counts: Counts) -> None:
    given = Assumptions()
    check = checked(size(players, costs, given), costs, given, float(counts(10, 200)))
    for role in PIECE:
        assert check["seen_busy"][role] == pytest.approx(check["model_busy"][role], rel=0.08)
    assert check["seen_mean_ms"] == pytest.approx(check["model_mean_ms"], rel=0.15)
    assert check["seen_p99_ms"] == pytest.approx(check["model_p99_ms"], rel=0.25)


def test_an_overload_shows_in_the_simulation(costs: dict[str, Any]) -> None:
    given = Assumptions()
    chain = queues(size(1_000_000, costs, given), costs, given)
    calm = simulate(chain, {"gateway": 4, "actor": 4, "redis": 1}, given, 3.0)
    chain["actor"] = replace(chain["actor"], service=1.3 / chain["actor"].arrivals)
    assert simulate(chain, {"gateway": 4, "actor": 4, "redis": 1}, given, 3.0).p99_ms > 10 * calm.p99_ms


def test_no_process_is_loaded_beyond_its_limit(costs: dict[str, Any]) -> None:
    for players in (1_000, 50_000, 3_000_000):
        for role, queue in queues(size(players, costs, Assumptions()), costs, Assumptions()).items():
            assert queue.busy <= Assumptions().load(role) + 1e-9, (players, role)


def test_size_follows_what_it_depends_on(costs: dict[str, Any]) -> None:
    given = Assumptions()
    small, large = size(100_000, costs, given), size(1_000_000, costs, given)
    assert large.moves == pytest.approx(10 * small.moves)
    assert 9 < large.actors / small.actors < 11
    assert large.links > 80 * small.links  # every gateway to every actor
    assert size(100_000, costs, replace(given, think_s=6.0)).moves == pytest.approx(small.moves / 2)
    assert size(100_000, costs, replace(given, core=2.0)).actors == pytest.approx(small.actors / 2, abs=1)
    assert size(100_000, costs, replace(given, core_hour=0.08)).cost_machines > small.cost_machines
    assert size(100_000, costs, replace(given, watchers=2.0)).gateways > small.gateways
    assert len(bottlenecks(large)) == 3
    mean, p99 = answer_ms(queues(large, costs, given), given)
    assert 0 < mean < p99
