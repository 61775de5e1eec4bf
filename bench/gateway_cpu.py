"""Processor time of a gateway per move: four streams a table, one stream for all seats, and spectators.

    python -m bench.gateway_cpu [--tables 16] [--seconds 4] [--game parrot]

Three processes: a table host on a log in memory with the bots' opponents nowhere else, the gateway alone, and the bots.
A move is one command up and, with four streams, four deliveries down.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import multiprocessing
import random
import secrets
import tempfile
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import grpc
import psutil
import uvloop

from kangtou.v1 import play_pb2 as play
from kangtou.v1 import play_pb2_grpc as rpc
from kangtou_engine.shuffle import SEED_BYTES, seed_commitment
from kangtou_services import logs
from kangtou_services.agreement import BOT, Agreement, Member
from kangtou_services.directory import Actor
from kangtou_services.gateway.server import start
from kangtou_services.host.serve import serving
from kangtou_services.runtime import in_memory
from kangtou_services.settings import Settings
from tests.inprocess import NamesAsTokens

SEATS = ("ann", "bob", "cat", "dan")


@dataclass(frozen=True)
class OneOwner:
    """A log and a directory that know one actor: all that a gateway needs to find tables."""

    actor: Actor

    async def owners(self, matches: list[str]) -> list[str | None]:
        """The one."""
        return [self.actor.id for _ in matches]

    async def living(self) -> list[Actor]:
        """The one."""
        return [self.actor]

    async def incarnation(self) -> str:
        """Always there."""
        return "one"

    async def register_gateway(self, gateway: object) -> None:
        """Nothing to do."""

    leave_gateway = register_gateway

    async def watch_dead(self) -> AsyncIterator[str]:
        """Nobody dies."""
        await asyncio.Event().wait()
        yield ""


def gateway(pipe: Connection, actor: Actor, folder: str) -> None:
    """The process under test."""
    logs.configure("warning", "gateway")

    async def run() -> None:
        settings = Settings(data=Path(folder), port=0, link_secret="s", max_streams_per_account=10_000)
        one: Any = OneOwner(actor)
        base = in_memory(settings)
        running = await start(replace(base, log=one, directory=one), NamesAsTokens())
        pipe.send(running.address)
        await asyncio.to_thread(pipe.recv)
        await running.stop()

    uvloop.run(run())


class Bots:
    """Plays the seats of some tables over one stream."""

    def __init__(self, stub: rpc.PlayServiceStub, player: str) -> None:
        self._call = stub.Play(metadata=(("authorization", f"Bearer t-{player}"),))
        self.moves = 0
        self.deliveries = 0
        self.times: list[float] = []

    async def run(self, seats: list[tuple[str, int | None]]) -> None:
        """Until cancelled. A seat of None watches."""
        write, read = self._call.write, self._call.read
        sent: dict[tuple[str, int], float] = {}
        try:
            for match, seat in seats:
                attach = play.Attach(match_id=match, seat=seat, spectate=seat is None)
                await write(play.PlayRequest(attach=attach))
            while isinstance(response := await read(), play.PlayResponse):
                self.deliveries += 1
                for update in response.updates:
                    what = update.WhichOneof("body")
                    key = (update.match_id, update.seat)
                    if what == "answer":
                        self.moves += update.answer.HasField("accepted")
                        self.times.append(time.perf_counter() - sent[key])
                    elif what == "prompt":
                        prompt = update.prompt
                        action = random.choice(prompt.legal) if prompt.legal else prompt.default_action
                        command = play.Command(
                            match_id=key[0], command_id=f"c{prompt.number}", prompt=prompt.number, action=action
                        )
                        command.seat = key[1]
                        sent[key] = time.perf_counter()
                        await write(play.PlayRequest(command=command))
        finally:
            self._call.cancel()


def bots(pipe: Connection, address: str, matches: list[str], how: str, seconds: float) -> None:
    """The bots' process."""

    async def run() -> None:
        async with contextlib.AsyncExitStack() as stack:

            async def stub() -> rpc.PlayServiceStub:
                return rpc.PlayServiceStub(await stack.enter_async_context(grpc.aio.insecure_channel(address)))

            mine: list[tuple[Bots, list[tuple[str, int | None]]]] = []
            if how == "one stream for all":
                mine.append((Bots(await stub(), "all"), [(match, seat) for match in matches for seat in range(4)]))
            else:
                for match in matches:
                    for seat, player in enumerate(SEATS):
                        mine.append((Bots(await stub(), player), [(match, seat)]))
                    if how == "and four spectators":
                        for number in range(4):
                            mine.append((Bots(await stub(), f"w{number}"), [(match, None)]))
            tasks = [asyncio.create_task(one.run(seats)) for one, seats in mine]
            await asyncio.sleep(1.0)
            pipe.send("begun")
            before = sum(one.moves for one, _ in mine), sum(one.deliveries for one, _ in mine)
            for one, _ in mine:
                one.times.clear()
            await asyncio.sleep(seconds)
            after = sum(one.moves for one, _ in mine), sum(one.deliveries for one, _ in mine)
            times = sorted(value for one, _ in mine for value in one.times)
            pipe.send(
                (after[0] - before[0], after[1] - before[1], times[len(times) // 2], times[len(times) * 99 // 100])
            )
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    uvloop.run(run())


def spent(process: psutil.Process) -> float:
    """Processor time so far."""
    times = process.cpu_times()
    return float(times.user + times.system)


async def case(game: str, tables: int, how: str, seconds: float) -> None:
    """Run one and print it."""
    spawn = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory(prefix="kt-", ignore_cleanup_errors=True) as folder:
        settings = Settings(data=Path(folder), link_secret="s", extra_games="tests.games.parrot:GAME")
        backend = in_memory(settings)
        players = ("all",) * 4 if how == "one stream for all" else SEATS
        matches = [f"m{number}" for number in range(tables)]
        for match in matches:
            seed = secrets.token_bytes(SEED_BYTES)
            agreement = Agreement(
                match_id=match,
                game=game,
                version=1,
                seats=4,
                options={"rounds": 1000} if game == "parrot" else {},
                members=tuple(Member(name, name, BOT) for name in players),
                seed_commitment=seed_commitment(match, seed),
                created_ms=time.time_ns() // 1_000_000,
            )
            await backend.store.create(match, agreement.to_json(), seed)
        async with serving(backend, "bench") as served:
            for match in matches:
                await served.opener.open(match)
            actor = Actor(served.host.actor_id, served.address, "local", 0)
            here, there = spawn.Pipe()
            process = spawn.Process(target=gateway, args=(there, actor, folder))
            process.start()
            address = await asyncio.to_thread(here.recv)
            watched = psutil.Process(process.pid)
            bot_here, bot_there = spawn.Pipe()
            playing = spawn.Process(target=bots, args=(bot_there, address, matches, how, seconds))
            playing.start()
            await asyncio.to_thread(bot_here.recv)
            before = spent(watched)
            moves, deliveries, p50, p99 = await asyncio.to_thread(bot_here.recv)
            us = (spent(watched) - before) * 1e6
            here.send("stop")
            await asyncio.to_thread(playing.join)
            await asyncio.to_thread(process.join)
    print(
        f"{game} {tables:3} tables, {how:20}: {moves / seconds:6.0f} moves/s, {us / moves:4.0f} us a move, "
        f"{us / deliveries:4.0f} us a message down ({deliveries / moves:.1f} a move), "
        f"p50 {p50 * 1e3:.2f} ms, p99 {p99 * 1e3:.2f} ms",
        flush=True,
    )


def main() -> None:
    """All cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--game", default="parrot")
    given = parser.parse_args()
    logs.configure("error", "bench")
    for how in ("four streams a table", "one stream for all", "and four spectators"):
        uvloop.run(case(given.game, given.tables, how, given.seconds))


if __name__ == "__main__":
    main()
