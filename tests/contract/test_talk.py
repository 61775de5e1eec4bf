"""The contract of Talk, on all twins."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from uuid import uuid4

import pytest

from kangtou_services.blocks import Blocks, MemoryBlocks, RedisBlocks
from kangtou_services.talk import MemoryTalk, Message, RedisTalk, Report, Talk
from kangtou_services.talk.base import CHAT_MOST
from tests.servers import client_of


@pytest.fixture(params=["memory", "valkey", "cluster"])
async def stores(request: pytest.FixtureRequest) -> AsyncIterator[tuple[Talk, Blocks]]:
    """On each of the twins."""
    if request.param == "memory":
        yield MemoryTalk(), MemoryBlocks()
        return
    async with client_of(request.getfixturevalue(request.param)) as client:
        await client.delete("{kt:reports}:list", "{kt:reports}:keys")
        yield RedisTalk(client), RedisBlocks(client)


@pytest.fixture
def talk(stores: tuple[Talk, Blocks]) -> Talk:
    return stores[0]


def message(text: str, command: str, account: str = "ann", phrase: str = "") -> Message:
    return Message(account, "安 = Ann", 1, text, phrase, False, 1_796_000_000_000, command)


async def test_in_order_and_once(talk: Talk, match: str) -> None:
    assert await talk.last(match) == []
    first, fresh = await talk.say(match, message("你好 \\ \" 'x", "c1"))
    assert fresh
    assert await talk.say(match, message("你好 \\ \" 'x", "c1")) == (first, False)
    assert await talk.say(match, message("other", "c1")) == (first, False)  # the caller compares
    second, fresh = await talk.say(match, message("", "c1", "bob", "hello"))
    assert fresh
    assert await talk.last(match) == [first, second]
    assert await talk.find(match, "bob", "c1") == second
    assert await talk.find(match, "bob", "c2") is None
    assert await talk.last("other") == []
    assert first.text == "你好 \\ \" 'x"


async def test_at_once(talk: Talk, match: str) -> None:
    answers = await asyncio.gather(*(talk.say(match, message("x", f"c{n % 5}")) for n in range(25)))
    assert sum(fresh for _, fresh in answers) == 5
    assert len({stored.chat_id for stored, _ in answers}) == 5


async def test_only_the_last_are_kept(talk: Talk, match: str) -> None:
    for number in range(CHAT_MOST + 3):
        await talk.say(match, message(str(number), f"c{number}"))
    kept = await talk.last(match)
    assert [one.text for one in kept] == [str(number) for number in range(3, CHAT_MOST + 3)]


async def test_muted(talk: Talk, match: str) -> None:
    assert await talk.muted(match) == frozenset()
    for _ in range(2):
        await talk.mute(match, "ann", True)
    await talk.mute(match, "bob", True)
    await talk.mute(match, "ann", False)
    assert await talk.muted(match) == {"bob"}


async def test_reports_once_each_newest_first(talk: Talk, match: str) -> None:
    stored, _ = await talk.say(match, message("x", "c1"))
    for reporter in ("bob", "bob", "cat"):
        await talk.report(Report(match, reporter, stored.chat_id, "为什么", 5, (stored,)))
    found = await talk.reports(10)
    assert [(one.reporter_id, one.reason, one.context) for one in found] == [
        ("cat", "为什么", (stored,)),
        ("bob", "为什么", (stored,)),
    ]
    assert len(await talk.reports(1)) == 1


async def test_who_blocks(stores: tuple[Talk, Blocks]) -> None:
    blocks, me = stores[1], uuid4().hex
    for name in ("x", "y", "z"):
        await blocks.block(f"{name}{me}", me, 1)
    await blocks.unblock(f"z{me}", me)
    assert await blocks.who_block(me, [f"{name}{me}" for name in "wxz"]) == {f"x{me}"}
    assert await blocks.who_block(me, []) == frozenset()
