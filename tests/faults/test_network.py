"""Cuts, delays, silence and half-open connections on every way, under live matches of all games. Issue: trust."""

from __future__ import annotations

import asyncio
import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import pytest

from ..conftest import Counts
from .figures import all_moving, said, total
from .load import judge
from .network import Far, Network, network
from .proxy import Proxy
from .test_games import KINDS

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(2400)]

WAYS = ("client", "link", "redis")
PLAYED = ("duizhu at J", "erbaiwu, 2 seats", "hongshi", "jinzhou", "liaoning, 3 seats")


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that a network does on one way; `lasting` in seconds from and to, 0 for what happens at once."""

    name: str
    begin: Callable[[Proxy, random.Random], object]
    lasting: tuple[float, float] = (0.0, 0.0)


CUT = Fault("cut", lambda proxy, _: proxy.cut())
HALF_OPEN = Fault("half-open", lambda proxy, chance: proxy.half_open(near=chance.random() < 0.7))
DELAY = Fault("delay 50-2000 ms", lambda proxy, _: proxy.delay(0.05, 2.0), (3.0, 8.0))
TRICKLE = Fault("trickle 2 kB/s", lambda proxy, _: proxy.trickle(2_000), (3.0, 8.0))
HOLE = Fault("black hole 1-20 s", lambda proxy, _: proxy.hole(), (1.0, 20.0))
ALL = (CUT, HALF_OPEN, DELAY, TRICKLE, HOLE)


def plan(chance: random.Random, ways: tuple[str, ...], rounds: int) -> list[tuple[str, Fault]]:
    """Each fault on each way that often, in any order."""
    found = [(way, fault) for way in ways for fault in ALL for _ in range(rounds)]
    chance.shuffle(found)
    return found


def briefly(chance: random.Random) -> list[tuple[str, Fault]]:
    """A fault of each kind but the one that takes 20 s to be noticed, each way once at least, none for long."""
    ways = [*WAYS, chance.choice(WAYS)]
    chance.shuffle(ways)
    short = [
        replace(fault, lasting=(min(1.0, fault.lasting[0]), min(1.5, fault.lasting[1])))
        for fault in (CUT, DELAY, TRICKLE, HOLE)
    ]
    return list(zip(ways, short, strict=True))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """In full each way has a test of its own; else one does for all."""
    if "ways" in metafunc.fixturenames:
        full = metafunc.config.getoption("counts") == "full"
        sets = [(way,) for way in WAYS] if full else [WAYS]
        metafunc.parametrize("ways", sets, ids=["-".join(one) for one in sets])


@pytest.fixture(scope="module")
def far(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Network]:
    """One server for all tests."""
    with network(tmp_path_factory.mktemp("net"), random.randrange(2**32)) as made:
        yield made


class Weather:
    """Faults one after another, and how long each match had to wait for its next move when it was over."""

    def __init__(self, far: Network, loads: Mapping[str, Far], chance: random.Random) -> None:
        self.waits: dict[str, list[int]] = defaultdict(list)
        self.done: Counter[str] = Counter()
        self._far = far
        self._loads = loads
        self._chance = chance

    async def have(self, way: str, fault: Fault) -> None:
        """One fault, from its beginning until every match in play has moved on."""
        await asyncio.sleep(self._chance.uniform(0.1, 0.6))
        proxies = self._far.proxies[way]
        proxy = self._chance.choice(proxies)
        await asyncio.to_thread(fault.begin, proxy, self._chance)
        await asyncio.sleep(self._chance.uniform(*fault.lasting))
        if fault.lasting[1]:
            if fault is HOLE and self._chance.random() < 0.5:
                await asyncio.to_thread(proxy.cut)  # whoever was in between has forgotten them
            await asyncio.to_thread(proxy.calm)
        self.done[f"{way}: {fault.name}"] += 1
        waits = await all_moving(self._loads)
        self.waits[fault.name] += waits
        print(f"{way}: {fault.name}: next move {said(waits)}")


async def test_network(
    ways: tuple[str, ...], far: Network, fault_seed: int, counts: Counts, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever the network does: no acknowledged move is lost or doubled, no match ends wrongly, all of them finish."""
    chance = random.Random(fault_seed)
    faults = plan(chance, ways, 3) if counts(0, 1) else briefly(chance)
    kinds = {name: replace(KINDS[name], options={**KINDS[name].options, "rounds": counts(1, 3)}) for name in PLAYED}
    loads = {name: Far(far, kind, think=0.03) for name, kind in kinds.items()}
    weather = Weather(far, loads, chance)
    try:
        await asyncio.gather(*(load.start() for load in loads.values()))
        await all_moving(loads)
        for way, fault in faults:
            await weather.have(way, fault)
        await asyncio.gather(*(load.finish(600) for load in loads.values()))
        found = [(await judge(load, 60))[0] for load in loads.values()]
    finally:
        await asyncio.to_thread(far.calm)
        await asyncio.gather(*(load.close() for load in loads.values()))
    verdict = total(found)
    every = [one for waits in weather.waits.values() for one in waits]
    with capsys.disabled():
        for name, waits in sorted(weather.waits.items()):
            print(f"\n{name}: next move {said(waits)}", end="")
        print(
            f"\nnetwork {'+'.join(ways)}: {weather.done.total()} faults, all games, seed {fault_seed}: {verdict}; "
            f"reconnections {sum(load.reconnections for load in loads.values())}; next move {said(every)}"
        )
    assert verdict.good
    assert verdict.timeouts == 0
    assert verdict.matches >= len(loads)
