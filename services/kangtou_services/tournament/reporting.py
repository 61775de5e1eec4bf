"""`python -m kangtou_services tournament-report ID`: a report as JSON on standard output.

A process of its own: a gateway's answers shall not wait for statistics. With a store in memory it is a thread.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

from ..identity import StoreUnavailable
from ..runtime import Backend, on_redis
from ..settings import Settings
from .check import check_spec
from .events import State, fold
from .model import to_plain
from .store import TournamentStore

MOST_S = 120.0


class NoReport(Exception):
    """There is no such tournament, or the report failed; the text says which."""


def run_of(state: State) -> dict[str, Any]:
    """What the runner knows of a tournament, for its report."""
    return {
        "id": state.tournament,
        "commitment": state.commitment,
        "seed": state.seed.hex(),
        "began_ms": state.submitted_ms,
        "ended_ms": state.last_ms if state.cause else 0,
        "closed": state.cause,
        "isolated": state.isolated,
        "replays": [{"game": game, "attempt": attempt, "why": why} for game, attempt, why in state.replays],
    }


def made(state: State) -> str:
    """The report of what has been played so far, as JSON."""
    from .report import report  # numpy and scipy are needed by whoever asks only

    assert state.spec is not None
    return json.dumps(report(state.spec, state.results, run_of(state)), ensure_ascii=False, allow_nan=False)


async def read_state(store: TournamentStore, tournament: str) -> State | None:
    """A tournament as its log has it; None if there is none. Raises StoreUnavailable."""
    texts = await store.read(tournament)
    return fold(tournament, texts) if texts else None


async def report_of(backend: Backend, tournament: str) -> str:
    """Raises NoReport, StoreUnavailable."""
    if backend.client is None:
        state = await read_state(backend.tournaments, tournament)
        if state is None:
            raise NoReport("there is no such tournament")
        return await asyncio.to_thread(made, state)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "kangtou_services", "tournament-report", tournament),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, **environment(backend.settings)},
    )
    try:
        async with asyncio.timeout(MOST_S):
            said, why = await process.communicate()
    except TimeoutError:
        process.kill()
        await process.wait()
        raise NoReport(f"the report took longer than {MOST_S:g} s") from None
    if process.returncode != 0:
        raise NoReport(why.decode(errors="replace").strip()[-300:] or f"its process ended with {process.returncode}")
    return said.decode()


def environment(settings: Settings) -> dict[str, str]:
    """Where a child finds the same Redis."""
    return {"KANGTOU_REDIS_URL": settings.redis, "KANGTOU_DATA": str(settings.data.absolute())}


def main(settings: Settings) -> int:
    """Exit codes: 0 printed, 1 no such tournament or no Redis."""
    return asyncio.run(_print(settings, sys.argv[2] if len(sys.argv) > 2 else ""))


async def _print(settings: Settings, tournament: str) -> int:
    backend = await on_redis(settings)
    try:
        state = await read_state(backend.tournaments, tournament)
    except StoreUnavailable as error:
        sys.stderr.write(f"the store cannot be reached: {error}\n")
        return 1
    finally:
        await backend.close()
    if state is None:
        sys.stderr.write("there is no such tournament\n")
        return 1
    sys.stdout.write(made(state) + "\n")
    return 0


def main_check(settings: Settings) -> int:
    """`tournament-check`: a spec as JSON on standard input; what is wrong with it, or the spec with all defaults."""
    found = check_spec(json.load(sys.stdin))
    if isinstance(found, tuple):
        problems = [{"name": one.name, "value": one.given, "allowed": one.allowed} for one in found]
        sys.stdout.write(json.dumps({"problems": problems}, ensure_ascii=False) + "\n")
        return 1
    sys.stdout.write(json.dumps({"spec": to_plain(found), "games": planned(found)}, ensure_ascii=False) + "\n")
    return 0


def planned(spec: Any) -> int:
    """How many games there will be, as far as that is known."""
    from .schedule import Schedule

    return Schedule(spec).planned()
