"""Results noted and applied by four processes at once, killed again and again: ratings equal the sequential ones."""

from __future__ import annotations

import asyncio
import random
import sys
import time
from pathlib import Path

import pytest

from kangtou_services.ratings import Applier, RedisRatingStore, Standing
from kangtou_services.ratings.model import replay
from kangtou_services.ratings.rebuild import check
from tests.conftest import Counts
from tests.servers import patient, redis_server

from .worker import LADDERS, evening

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.redis
@pytest.mark.timeout(900)
async def test_kills(counts: Counts, capsys: pytest.CaptureFixture[str]) -> None:
    count, kills = counts(600, 10_000), counts(4, 40)
    with redis_server() as server:
        client = patient(server.url)
        store = RedisRatingStore(client)
        began = time.monotonic()
        done = await _attacked(server.url, store, count, kills)
        took = time.monotonic() - began
        await Applier(store).catch_up()
        mark, held = await store.everything()
        log = await store.read(0, count + 1)
        assert mark.at == len(log) == count
        assert sorted(one.match_id for one in log) == sorted(one.match_id for one in evening(7, count))
        assert held == replay(log)  # floats by ==: bit for bit
        assert sum(standing.games for table in held.values() for standing in table.values()) == sum(
            len(one.accounts) for one in log
        )
        found = await check(store)
        assert (found.results, found.difference) == (count, "")
        said = f"{count} results, 3 ladders, {found.ratings} ratings: "
        assert await _rebuild(server.url) == (0, f"{said}equal, bit for bit\n")
        wrong = Standing(25.0, 25.0 / 3, 1, 0)
        assert await store.apply(mark, mark.at, {LADDERS[2]: {"p0": wrong}})
        code, out = await _rebuild(server.url)
        assert (code, out.startswith(f"{said}duizhu:bot p0: stored {wrong.to_text()}, from the log ")) == (1, True)
        assert await _rebuild(server.url, "--write") == (0, f"{said}equal, bit for bit\n")
        assert (await store.everything())[1] == held
        await client.aclose()
    with capsys.disabled():
        sys.stdout.write(
            f"\n{count} results by 4 processes, {done} kills -9, in {took:.1f} s: {found.ratings} ratings equal the"
            " sequential rebuild bit for bit\n"
        )


async def _attacked(url: str, store: RedisRatingStore, count: int, kills: int) -> int:
    """Let four processes work, kill one of them now and then; how many were killed while they worked.

    The kills are spread over the work: each waits until the log of results has come so far.
    """
    chance = random.Random(11)
    workers = [await _worker(url, count, share) for share in range(4)]
    killed = 0
    for number in range(kills):
        while await store.length() < count * number // (kills + 1):  # noqa: ASYNC110 - another process's progress
            await asyncio.sleep(0.01)
        running = [share for share, worker in enumerate(workers) if worker.returncode is None]
        if not running:
            break
        await asyncio.sleep(chance.random() * 0.05)
        share = chance.choice(running)
        if workers[share].returncode is None:
            workers[share].kill()
            killed += await workers[share].wait() != 0
            workers[share] = await _worker(url, count, share)
    for worker in workers:
        assert await worker.wait() == 0
    assert killed > kills // 2
    return killed


async def _worker(url: str, count: int, share: int) -> asyncio.subprocess.Process:
    args = (url, "7", str(count), str(share))
    return await asyncio.create_subprocess_exec(sys.executable, "-m", "tests.ratings.worker", *args, cwd=ROOT)


async def _rebuild(url: str, *more: str) -> tuple[int | None, str]:
    """The operator's command."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "kangtou_clients", "ratings", "rebuild", "--redis", url, *more),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    out, _ = await process.communicate()
    return process.returncode, out.decode()
