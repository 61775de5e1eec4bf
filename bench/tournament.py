"""A duplicate tournament of four greedy bots on 红十 against the platform's own benchmark at the same concurrency.

    python -m bench.tournament [--seconds 5] [--pairs 7] [--rounds 10]

In turn on one server, fsync always: the tournament (paused meanwhile), the same bots in endless matches without a
tournament, and bench/platform.py's load, which neither folds nor thinks. Moves are counted by the table actors. The
first ratio is what a tournament costs; the second has the bots' own work in it too. First: submission to first move.

A round robin, since that has all its sets open at once: a ladder of four plays one set at a time, at four tables. Of
boards of one round (--rounds 1, some 64 moves) a fifth of the work is making, archiving and counting the matches.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import uvloop

from bench.platform import Bench, playing, spread
from kangtou_clients.api import Client, connect
from kangtou_clients.api.tournaments import Tournaments
from kangtou_services.tournament.players import Players
from tests.faults.server import running

from ._load import Tally

TABLES = 16
SPEC = {
    "name": "bench",
    "game": "hongshi",
    "format": "round-robin",
    "sets": 2_500,
    "table": 4,
    "concurrency": TABLES,
    "entrants": [{"name": f"greedy {number}", "bot": "greedy"} for number in range(4)],
}
SETTLE_S = 1.0


async def moves(client: Client) -> int:
    """That all table actors have taken so far."""
    return sum(actor.moves for actor in (await client.status()).actors)


async def rate(client: Client, seconds: float) -> float:
    """Moves a second from now on."""
    await asyncio.sleep(SETTLE_S)
    before, began = await moves(client), time.monotonic()
    await asyncio.sleep(seconds)
    return (await moves(client) - before) / (time.monotonic() - began)


class Measured:
    """The three in turn."""

    def __init__(self, client: Client, api: Tournaments, bench: Bench, tournament: str) -> None:
        self.client = client
        self.api = api
        self.bench = bench
        self.tournament = tournament

    async def tournament_rate(self, seconds: float) -> float:
        """Resumed for a while."""
        await self.api.resume(self.tournament)
        found = await rate(self.client, seconds)
        await self.api.cancel(self.tournament, pause=True)
        async for progress in self.api.watch(self.tournament):
            if not progress.running:
                break
        return found

    async def bots_rate(self, seconds: float) -> float:
        """The same bots by the same processes, in matches that do not end."""
        await self.bench.accounts(4)
        players = Players(self.client.address, 2, lambda said: None)
        players.start()
        matches = [await self.bench.match([account for account, _ in self.bench.tokens[:4]]) for _ in range(TABLES)]
        try:
            for match in matches:
                for seat, (_, token) in enumerate(self.bench.tokens[:4]):
                    players.play(match, seat, {"token": token, "bot": "greedy", "dice": "00", "alone": True})
            before = await moves(self.client)
            while await moves(self.client) < before + 10 * TABLES:  # noqa: ASYNC110 - they are starting
                await asyncio.sleep(0.1)
            return await rate(self.client, seconds)
        finally:
            for match in matches:
                players.drop(match)
            await asyncio.sleep(0.3)
            await players.stop()

    async def load_rate(self, seconds: float) -> float:
        """The platform's benchmark."""
        tally = Tally()
        async with playing(await self.bench.streams(TABLES, tally, shared=False)):
            return await rate(self.client, seconds)


async def everything(args: Any) -> None:
    """Measure and print."""
    with (
        tempfile.TemporaryDirectory(prefix="kt-bench-") as folder,
        running(Path(folder) / "data", gateways=1, actors=2, log_level="warning") as server,
    ):
        bench = Bench(server)
        async with connect(server.address) as client:
            await client.accounts.register("bench", "bot")
            api = Tournaments(client)
            before, began = await moves(client), time.monotonic()
            tournament = await api.submit({**SPEC, "options": {"rounds": args.rounds}})
            assert isinstance(tournament, str), tournament
            while await moves(client) == before:  # noqa: ASYNC110 - no event tells it
                await asyncio.sleep(0.02)
            print(f"submission to first move: {time.monotonic() - began:.2f} s", flush=True)
            one = Measured(client, api, bench, tournament)
            await compared(one, args)
            await api.cancel(tournament)
        await bench.client.aclose()


async def compared(one: Measured, args: Any) -> None:
    """Interleaved, and the ratios of each turn."""
    kinds: tuple[tuple[str, Callable[[float], Awaitable[float]]], ...] = (
        ("tournament", one.tournament_rate),
        ("same bots", one.bots_rate),
        ("platform benchmark", one.load_rate),
    )
    rates: dict[str, list[float]] = {name: [] for name, _ in kinds}
    for _ in range(args.pairs):
        for name, measure in kinds:
            rates[name].append(await measure(args.seconds))
        print("  ".join(f"{name} {found[-1]:,.0f} moves/s" for name, found in rates.items()), flush=True)
    print(f"boards of {args.rounds} rounds, {TABLES} at once")
    for name, found in rates.items():
        print(f"{name}: median {statistics.median(found):,.0f} moves/s")
    for other in ("same bots", "platform benchmark"):
        ratios = [own / theirs for own, theirs in zip(rates["tournament"], rates[other], strict=True)]
        print(f"tournament / {other}: {spread(ratios)}", flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--rounds", type=int, default=10, help="of a board")
    uvloop.run(everything(parser.parse_args()))


if __name__ == "__main__":
    main()
