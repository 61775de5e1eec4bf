"""`kill -9` of runner, gateway, actor and Redis while a tournament is played. Issue: tournaments, 4.

The same tournament, with the same seed, is played undisturbed on another server (in CI one that is all in one process):
the same games, results and records.
"""

from __future__ import annotations

import asyncio
import difflib
import os
import random
import signal
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import psutil
import pytest
from redis.exceptions import RedisError

from kangtou_engine.boards import tournament_commitment
from kangtou_services.tournament.events import State, fold
from kangtou_services.tournament.model import Entrant, Spec

from ..clients.served import Server as Whole
from ..clients.served import serving_commands
from ..clients.test_cli_tournament import Server as InProcess
from ..conftest import Counts
from .server import Server, running
from .tournaments import SEED, Played, Store, first_of, played

pytestmark = [pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(1800)]

TOURNAMENT = "t_killedkilled"
KINDS = ("runner", "gateway", "actor", "redis")
PATIENCE_S = 300.0  # for what a busy machine may take


def spec_of(sets: int) -> Spec:
    """Deterministic bots: greedy and random ones, whose chance follows from what they see."""
    bots = ("greedy", "random", "greedy", "random")
    entrants = tuple(Entrant(f"{bot} {place}", bot=bot) for place, bot in enumerate(bots))
    return Spec("kills", "hongshi", entrants, sets=sets, concurrency=8, turn_ms=600_000)


Seen = tuple[State, Mapping[str, Played], Counter[str]]


async def one(folder: Path, spec: Spec, kills: int, pause_s: float = 0.0) -> Seen:
    """Play it; kill that often meanwhile. What it came to, and what was killed."""
    with running(folder, gateways=1, actors=2, give_up_deaths=1000, log_level="warning") as server:
        async with Store(server) as store:
            await store.submit(TOURNAMENT, spec)
            done = await kill(server, store, kills, pause_s)
            state = await store.closed(TOURNAMENT, 4 * PATIENCE_S)
            return state, await played(server.data, state), done


async def calmly(folder: Path, spec: Spec) -> Seen:
    """The same in one process, with everything in memory but the archive; nothing is killed."""
    with serving_commands(InProcess, folder) as server:
        return await asyncio.wrap_future(server.do(_calmly(server, spec)))


async def _calmly(server: Whole, spec: Spec) -> Seen:
    store = server.backend.tournaments
    assert await store.create(TOURNAMENT, SEED, first_of(TOURNAMENT, spec))
    async with asyncio.timeout(4 * PATIENCE_S):
        while not (state := fold(TOURNAMENT, await store.read(TOURNAMENT))).cause:  # noqa: ASYNC110 - no event tells it
            await asyncio.sleep(0.2)
    return state, await played(server.settings.data, state), Counter()


async def kill(server: Server, store: Store, times: int, pause_s: float) -> Counter[str]:
    """At random moments, on average `pause_s` apart, while games are being played: all kinds in turn, in any order."""
    done: Counter[str] = Counter()
    order: list[str] = []
    async with asyncio.timeout(PATIENCE_S):
        while not ((state := await store.state(TOURNAMENT)) and state.flights):  # noqa: ASYNC110 - no event tells it
            await asyncio.sleep(0.1)
    while done.total() < times:
        await asyncio.sleep(random.uniform(0.3, 1.7) * pause_s)
        order = order or random.sample(KINDS, len(KINDS))
        if pid := await asyncio.to_thread(victim, server, order[-1]):
            state = await store.state(TOURNAMENT)
            assert state is None or not state.cause, f"it was over after {done.total()} kills: give it more sets"
            os.kill(pid, signal.SIGKILL)
            done[order.pop()] += 1
    return done


def victim(server: Server, kind: str) -> int:
    """A process of that kind; 0 if there is none just now."""
    try:
        if kind == "redis":
            pid = server.redis_pid()
            return pid if psutil.pid_exists(pid) else 0
        if kind == "runner":
            return next((one.pid for one in server.processes() if one.cmdline()[-1:] == ["runner"]), 0)
        listed = server.gateways() if kind == "gateway" else server.actors()
        return random.choice(sorted(listed.values())) if listed else 0
    except (RedisError, OSError, psutil.Error):
        return 0


def differences(expected: str, found: str) -> list[str]:
    """The first lines that differ, with those around them."""
    return list(difflib.unified_diff(expected.split("\n"), found.split("\n"), "undisturbed", "killed", "", "", 6))[:40]


async def test_the_same_tournament_through_kills(tmp_path_factory: pytest.TempPathFactory, counts: Counts) -> None:
    """Same games, none twice, none missing; same results; same canonical records; nobody is blamed."""
    kills, spec, pause_s = counts(len(KINDS), 50), spec_of(counts(2, 60)), counts(300, 2_000) / 1000
    folder = tmp_path_factory.mktemp("kt")
    calm, expected, _ = await (calmly(folder / "a", spec) if counts(1, 0) else one(folder / "a", spec, 0))
    state, found, done = await one(folder / "b", spec, kills, pause_s)
    assert (calm.cause, state.cause) == ("complete", "complete")
    assert state.seed == SEED
    assert state.commitment == tournament_commitment(TOURNAMENT, SEED)
    assert found.keys() == expected.keys()
    assert not any(fault for one in found.values() for fault in one.faults)
    different = [game for game in found if found[game].record != expected[game].record]
    assert different == [], "\n".join(differences(expected[different[0]].record, found[different[0]].record))
    assert {game: (one.scores, one.places) for game, one in found.items()} == {
        game: (one.scores, one.places) for game, one in expected.items()
    }
    print(
        f"{done.total()} kills ({', '.join(f'{count} {kind}' for kind, count in sorted(done.items()))}): "
        f"{len(found)} games, {len(state.replays)} played again, results and canonical records equal"
    )
