"""The contract of Blocks, on all twins."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from uuid import uuid4

import pytest

from kangtou_services.blocks import BLOCKS_MOST, Blocks, MemoryBlocks, RedisBlocks
from tests.servers import client_of


@pytest.fixture(params=["memory", "valkey", "cluster"])
async def blocks(request: pytest.FixtureRequest) -> AsyncIterator[Blocks]:
    """On each of the twins."""
    if request.param == "memory":
        yield MemoryBlocks()
        return
    async with client_of(request.getfixturevalue(request.param)) as client:
        yield RedisBlocks(client)


@pytest.fixture
def me() -> str:
    """An account that no other test uses."""
    return uuid4().hex


async def test_in_the_order_in_which_they_were_blocked(blocks: Blocks, me: str) -> None:
    assert await blocks.of(me) == ()
    for number, whom in enumerate(("c", "a", "b")):
        assert await blocks.block(me, whom, number)
    assert await blocks.block(me, "c", 99)  # a repeat changes nothing
    assert await blocks.of(me) == ("c", "a", "b")
    await blocks.unblock(me, "a")
    await blocks.unblock(me, "a")
    assert await blocks.of(me) == ("c", "b")
    assert await blocks.of("a") == ()  # one direction only


async def test_there_is_a_limit_also_at_once(blocks: Blocks, me: str) -> None:
    done = await asyncio.gather(*(blocks.block(me, f"p{number}", number) for number in range(BLOCKS_MOST + 20)))
    assert sum(done) == len(await blocks.of(me)) == BLOCKS_MOST
    held = (await blocks.of(me))[0]
    assert await blocks.block(me, held, 5)
    await blocks.unblock(me, held)
    assert await blocks.block(me, "late", 5)


async def test_an_account_that_is_deleted_has_none(blocks: Blocks, me: str) -> None:
    await blocks.block(me, "a", 1)
    await blocks.forget(me)
    assert await blocks.of(me) == ()
