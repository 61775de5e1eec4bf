"""The contract of MatchStore."""

from __future__ import annotations

import asyncio

from .conftest import LogTwin
from .test_log import begun


async def test_created_once(twin: LogTwin, match: str) -> None:
    store = twin.store
    assert await store.agreement(match) is None
    assert await store.seed(match) is None
    assert match not in await store.live()
    assert await store.create(match, '{"game":"hongshi","名":"红十"}', bytes(range(256)))
    assert not await store.create(match, "{}", b"other")
    assert await store.agreement(match) == '{"game":"hongshi","名":"红十"}'
    assert await store.seed(match) == bytes(range(256))
    assert (await store.live()).count(match) == 1


async def test_of_many_at_once_one_creates(twin: LogTwin, match: str) -> None:
    made = await asyncio.gather(*(twin.store.create(match, str(number), bytes([number])) for number in range(20)))
    assert made.count(True) == 1
    winner = made.index(True)
    assert await twin.store.agreement(match) == str(winner)
    assert await twin.store.seed(match) == bytes([winner])


async def test_retired_matches_are_kept_for_a_while(twin: LogTwin, match: str) -> None:
    log = twin.writer()
    await twin.store.create(match, "{}", b"seed")
    last = await begun(log, match, 3)
    await twin.store.retire(match, 150)
    await twin.store.retire(match, 60_000)  # a late repeat keeps nothing longer
    assert match not in await twin.store.live()
    assert await log.tail(match) == last
    assert not await twin.store.create(match, "{}", b"seed")
    assert match not in await twin.store.live()
    await asyncio.sleep(0.3)
    assert await log.tail(match) is None
    assert await log.owner(match) is None
    assert await twin.store.seed(match) is None
    assert await twin.store.agreement(match) is None


async def test_retiring_what_is_not_there(twin: LogTwin, match: str) -> None:
    await twin.store.retire(match, 0)
    assert await twin.store.agreement(match) is None


async def test_deaths_are_counted(twin: LogTwin, match: str) -> None:
    assert await twin.store.deaths(match) == 0
    assert sorted(await asyncio.gather(*(twin.store.blame(match) for _ in range(3)))) == [1, 2, 3]
    assert await twin.store.deaths(match) == 3
    await twin.store.create(match, "{}", b"seed")
    await twin.store.retire(match, 0)
    assert await twin.store.deaths(match) == 0


async def test_deaths_are_pardoned(twin: LogTwin, match: str) -> None:
    await twin.store.pardon(match)
    await twin.store.blame(match)
    await twin.store.pardon(match)
    assert await twin.store.deaths(match) == 0
    assert await twin.store.blame(match) == 1
