"""The screens under Textual's pilot, against a whole server with bots: fixtures and helpers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from textual.pilot import Pilot

from kangtou_clients.api import Client, Login, Match, Session, connect
from kangtou_clients.bots.player import Tally, dice, play
from kangtou_clients.desk.room import Room
from kangtou_clients.tui.app import Play
from kangtou_clients.tui.follow import AT_ONCE, Pace
from kangtou_clients.tui.look import Look
from kangtou_engine.shuffle import seed_commitment
from kangtou_services.agreement import BOT, HUMAN, Agreement, Member
from kangtou_services.gateway.server import start
from kangtou_services.gateway.wiring import wired
from kangtou_services.host import takeover
from kangtou_services.host.serve import serving
from kangtou_services.runtime import Backend, in_memory
from kangtou_services.settings import Settings

SIZE = (80, 24)
WAIT_S = 60.0
SOON_MS = 10  # after which a person's standing answer is given here; a table hides in a longer moment who has one


@dataclass
class House:
    """A server in this event loop."""

    backend: Backend
    address: str

    async def login(self, client: Client, name: str, kind: Any = "bot") -> Login:
        """A new account for a client."""
        found = await client.accounts.register(name, kind)
        assert isinstance(found, Login), found
        return found

    @asynccontextmanager
    async def player(self, name: str = "Xiaoming", kind: Any = "human") -> AsyncIterator[tuple[Client, Session, str]]:
        """A signed-in client with its session and account id."""
        async with connect(self.address) as client:
            login = await self.login(client, name, kind)
            assert login.account is not None
            async with client.play() as session:
                yield client, session, login.account.account_id

    async def deal(
        self, match: str, accounts: list[str], game: str, seed: int, options: Mapping[str, Any], **given: Any
    ) -> None:
        """A match with a fixed seed: the same cards every time. The first account is a person."""
        secret = seed.to_bytes(32, "big")
        kinds = [HUMAN] + [BOT] * (len(accounts) - 1)
        names = ["小明", "老张", "大姐", "老叔", "三妹", "二嫂"]
        members = tuple(Member(one, names[n], kinds[n], "") for n, one in enumerate(accounts))
        agreement = Agreement(
            match_id=match,
            game=game,
            version=1,
            seats=len(accounts),
            members=members,
            seed_commitment=seed_commitment(match, secret),
            created_ms=1_796_000_000_000,
            **{"options": dict(options), "turn_ms": 600_000, "window_ms": 600_000, "open_wait_ms": 0, **given},
        )
        await self.backend.store.create(match, agreement.to_json(), secret)


@asynccontextmanager
async def house(folder: Path) -> AsyncIterator[House]:
    """Hosts, gateway and lobby in memory."""
    settings = Settings(data=folder, port=0, link_secret="s", open_wait_ms=10_000, house_bots=0)
    backend = in_memory(settings)
    identity, extras = wired(backend)
    with patch.object(takeover, "human_delay_ms", lambda: SOON_MS):
        async with serving(backend, "a0"):
            running = await start(backend, identity, extras)
            try:
                yield House(backend, running.address)
            finally:
                await running.stop()
    await backend.close()


@asynccontextmanager
async def bots(home: House, match: str, count: int, seed: int = 1) -> AsyncIterator[Ids]:
    """Accounts of bots that will play their seats in a match as soon as there is one; gives their ids."""
    tasks: list[asyncio.Task[None]] = []
    ready = asyncio.Event()
    async with AsyncExitStack() as stack:
        ids = Ids(ready)
        for number in range(count):
            _, session, account = await stack.enter_async_context(home.player(f"bot {number}", "bot"))
            ids.append(account)
            tasks.append(asyncio.create_task(_bot(session, match, ready, seed + number)))
        try:
            yield ids
        finally:
            for task in tasks:
                task.cancel()
            for result in await asyncio.gather(*tasks, return_exceptions=True):
                assert not isinstance(result, AssertionError), result


async def _bot(session: Session, match: str, ready: asyncio.Event, seed: int) -> None:
    await ready.wait()
    found = await session.attach(match)
    assert isinstance(found, Match), found
    await play(found, "greedy", dice(seed), Tally())


class Ids(list[str]):
    """Accounts by seat; `go` says that the match is there."""

    def __init__(self, ready: asyncio.Event) -> None:
        super().__init__()
        self.go = ready.set


@asynccontextmanager
async def screens(
    client: Client,
    session: Session,
    *,
    start: Match | None = None,
    lang: str = "en",
    size: tuple[int, int] = SIZE,
    pace: Pace = AT_ONCE,
    letters: bool = False,
) -> AsyncIterator[tuple[Play, Pilot[None]]]:
    """The program, running without a terminal."""
    app = Play(Room(client, session), Look(lang, letters), pace, name="Xiaoming", start=start)
    try:
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            yield app, pilot
    finally:
        await app.settled()


async def until(pilot: Pilot[None], holds: Callable[[], object], seconds: float = WAIT_S) -> None:
    """Let the program run until a condition holds."""
    async with asyncio.timeout(seconds):
        while not holds():  # noqa: ASYNC110 - conditions of a test have no event
            await asyncio.sleep(0.01)
    await pilot.pause(0)


def text_of(app: Play) -> str:
    """What stands on the screen, line by line."""
    strips = app.screen._compositor.render_strips()
    return "\n".join(strip.text.rstrip() for strip in strips)


async def press(pilot: Pilot[None], *keys: str) -> None:
    """Keys, one after the other. The pilot's own `press` waits for an idle processor, which bots do not leave it."""
    for key in keys:
        pilot.app.simulate_key(key)
        await pilot.pause(0)
        await pilot.pause(0)
