"""What several readers read at their own pace."""

from __future__ import annotations

import asyncio

import pytest

from kangtou_clients.api import feed
from kangtou_clients.api.feed import Feed


async def test_a_reader_that_does_not_read_holds_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """It loses what waits, is told so by the item after that, and has the newest; another reader loses nothing."""
    monkeypatch.setattr(feed, "MOST", 8)
    told, over = asyncio.Event(), False
    numbers: Feed[int] = Feed(lambda number: -number)
    slow, quick = (numbers.read(told.wait, lambda: over) for _ in range(2))
    firsts = [asyncio.ensure_future(anext(one)) for one in (slow, quick)]
    await asyncio.sleep(0)  # both wait
    numbers.put(0)
    told.set()
    assert await asyncio.gather(*firsts) == [0, 0]
    for number in range(1, 101):
        numbers.put(number)
        assert await anext(quick) == number
        assert max(map(len, numbers._readers)) <= 8
    over = True
    left = [number async for number in slow]
    assert left[0] < 0
    assert [abs(number) for number in left] == list(range(101 - len(left), 101))
    assert [number async for number in quick] == []
    assert numbers._readers == []
