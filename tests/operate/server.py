"""A server on the embedded Redis of a data folder, all but Redis in this process, with four accounts that can play."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kangtou_clients.api import Client, Match, Session, connect
from kangtou_engine.boards import match_commitment
from kangtou_engine.registry import SPECS, Registry
from kangtou_engine.shuffle import SEED_BYTES
from kangtou_services.agreement import BOT, Agreement, Member
from kangtou_services.embedded import EmbeddedServer, EmbeddedSettings
from kangtou_services.gateway.server import Running, start
from kangtou_services.gateway.wiring import wired
from kangtou_services.host.serve import Serving, serving
from kangtou_services.identity import Identity
from kangtou_services.runtime import Backend, on_redis
from kangtou_services.settings import Settings
from tests.faults.server import IMPORTS, ROOT
from tests.games.parrot import GAME as PARROT

GAMES = Registry((*SPECS, PARROT))


@dataclass
class Small:
    """What a test may reach into."""

    settings: Settings
    backend: Backend
    identity: Identity
    hosts: list[Serving]
    gateways: list[Running]

    @property
    def address(self) -> str:
        """Of the first gateway."""
        return self.gateways[0].address

    async def make(self, match: str, accounts: Sequence[str], game: str = "hongshi", **given: Any) -> None:
        """Create a match of these accounts. Options as `options`."""
        seed = secrets.token_bytes(SEED_BYTES)
        members = tuple(Member(account, account, BOT, "") for account in accounts)
        agreement = Agreement(
            match_id=match,
            game=game,
            version=1,
            seats=len(accounts),
            members=members,
            seed_commitment=match_commitment(match, "", seed),
            created_ms=time.time_ns() // 1_000_000,
            open_wait_ms=50,
            **{"options": {"rounds": 1}, "turn_ms": 120_000, **given},
        )
        await self.backend.store.create(match, agreement.to_json(), seed)


@asynccontextmanager
async def server_on(data: Path, hosts: int = 1, gateways: int = 1, **given: Any) -> AsyncIterator[Small]:
    """On a data folder, with whatever is in it."""
    settings = Settings(
        data=data, port=0, link_secret="s", extra_games="tests.games.parrot:GAME", **{"open_wait_ms": 50, **given}
    )
    redis = EmbeddedServer(EmbeddedSettings(data / "redis"))
    async with AsyncExitStack() as stack:
        await redis.start_async()
        stack.push_async_callback(redis.stop_async)
        backend = await on_redis(settings)
        stack.push_async_callback(backend.close)
        running = [await stack.enter_async_context(serving(backend, f"a{number}")) for number in range(hosts)]
        identity, extras = wired(backend)
        started: list[Running] = []
        for number in range(gateways):
            started.append(await start(backend, identity, extras, name=f"g{number}"))
            stack.push_async_callback(started[-1].stop)
        yield Small(settings, backend, identity, running, started)


@asynccontextmanager
async def seats_of(server: Small, match: str, tokens: Sequence[str]) -> AsyncIterator[list[Match]]:
    """All seats of a match, attached, each on a connection of its own."""
    async with AsyncExitStack() as stack:
        found: list[Match] = []
        for token in tokens:
            client: Client = await stack.enter_async_context(connect(server.address, token, registry=GAMES))
            session: Session = await stack.enter_async_context(client.play())
            joined = await session.attach(match)
            assert isinstance(joined, Match), joined
            found.append(joined)
        yield found


def asked(seats: Sequence[Match]) -> list[Match]:
    """The seats that are asked now."""
    return [one for one in seats if one.prompt is not None]


async def some_moves(seats: Sequence[Match], moves: int) -> None:
    """The default action of whoever is asked, so many times."""
    done = 0
    async with asyncio.timeout(60):
        while done < moves:
            await asyncio.sleep(0.005)
            for seat in asked(seats):
                prompt = seat.prompt
                if prompt is not None and done < moves:
                    await prompt.answer(prompt.default)
                    done += 1


async def command(*arguments: str, **variables: str) -> tuple[int, str, str]:
    """`kangtou …` as a process: exit code, output, errors."""

    def run() -> tuple[int, str, str]:
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("KANGTOU_", "LC_", "LANG"))
        }
        done = subprocess.run(
            [sys.executable, "-m", "kangtou_clients", *arguments],
            env={**environment, "PYTHONPATH": IMPORTS, **variables},
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    return await asyncio.to_thread(run)


def told(output: str) -> dict[str, Any]:
    """The only document of an output in JSON."""
    found: dict[str, Any] = json.loads(output)
    return found
