"""Programs of the house as processes of their own, on a real server's store: `kill -9` in mid-hand, and Ctrl-C."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from kangtou_clients.api import Client, Wanted
from kangtou_services.house.needs import delegate_group
from tests.house.houses import SECRET, attached, hands_over, table_with, takes_back
from tests.servers import redis_server
from tests.services.towns import Town, town_of

ROOT = Path(__file__).parents[2]
NOW_MS = 0  # leases are judged by the desk; here only who has one matters


@dataclass
class Program:
    """A process and its only account."""

    process: asyncio.subprocess.Process
    account: str


@asynccontextmanager
async def program(address: str, keep: Path) -> AsyncIterator[Program]:
    """`kangtou bot serve`, once it serves."""
    words = ["--json", "--server", address, "bot", "serve", "--accounts", "1", "--keep", str(keep)]
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "kangtou_clients",
        *words,
        env={**os.environ, "KANGTOU_HOUSE_SECRET": SECRET},
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        line = await asyncio.wait_for(process.stdout.readline(), 60)
        yield Program(process, json.loads(line)["serving"])
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def substitute(town: Town, match_id: str, but: str = "", seconds: float = 10) -> str:
    """The account that stands in for seat 0, once it is another one."""
    async with asyncio.timeout(seconds):
        while True:
            found = await town.backend.needs.account_of(delegate_group(match_id, 0), NOW_MS)
            if found not in ("", but):
                return found
            await asyncio.sleep(0.02)


async def gone_on(client: Client, match_id: str) -> None:
    """The seat's match moves on."""
    before = (await client.view(match_id)).snapshot.seq
    async with asyncio.timeout(60):
        while (await client.view(match_id)).snapshot.seq < before + 6:  # noqa: ASYNC110 - it is asked for
            await asyncio.sleep(0.05)


async def test_the_program_is_killed_in_mid_hand(tmp_path: Path) -> None:
    """Another one has the seat within 3 s and plays on. It ends by Ctrl-C, the first is back with its account."""
    with redis_server() as redis:
        async with town_of(redis.url, house_secret=SECRET) as town:
            await _killed(town, tmp_path)


async def _killed(town: Town, folder: Path) -> None:
    ann = await town.client("Ann", kind="human")
    async with program(town.addresses[0], folder / "a") as one, program(town.addresses[1], folder / "b") as two:
        wanted = Wanted("hongshi", options={"rounds": 20})
        place, others = await table_with(town, wanted, ann, 3)
        async with ann.play() as session:
            match = await attached(session, place)
            await hands_over(ann, place)
            first = await substitute(town, place.match_id)
            await gone_on(ann, place.match_id)
            killed, left = (one, two) if one.account == first else (two, one)
            killed.process.kill()
            began = asyncio.get_running_loop().time()
            second = await substitute(town, place.match_id, first)
            after_ms = (asyncio.get_running_loop().time() - began) * 1000
            print(f"another had the seat after {after_ms:.0f} ms")
            assert after_ms < 3_000
            assert second == left.account
            await gone_on(ann, place.match_id)
            number = 0 if killed is one else 1
            async with program(town.addresses[number], folder / "ab"[number]) as back:
                assert back.account == first
                left.process.send_signal(signal.SIGINT)
                assert await asyncio.wait_for(left.process.wait(), 60) == 0
                await substitute(town, place.match_id, second, 3)
                await gone_on(ann, place.match_id)
                await takes_back(ann, place)
                seq = match.seq
                async for prompt in match.prompts():
                    await prompt.answer(prompt.default)
                    if match.seq > seq + 20:
                        break
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
