"""How many nodes the scaler asks Ray for, and that it goes on asking."""

from __future__ import annotations

import asyncio

import pytest

from kangtou_services.directory import Actor, DirectoryUnavailable, MemoryDirectory
from kangtou_services.scaling import keep_asking, nodes_for
from kangtou_services.settings import Settings
from tests.inprocess import until

SETTINGS = Settings(scale_tables=1_000, scale_least=2, scale_most=10)


def actors(*tables: int, a_node: int = 1) -> list[Actor]:
    """With so many tables, so many to a node."""
    return [Actor(f"a{n}", f"unix:{n}", f"n{n // a_node}", n, tables=count) for n, count in enumerate(tables)]


@pytest.mark.parametrize(
    ("living", "nodes"),
    [
        ([], 2),  # the least
        (actors(0, 0, 0), 3),  # never fewer than there are
        (actors(500, 500), 2),
        (actors(900, 900), 3),  # 1,800 and a quarter more: room for those that come meanwhile
        (actors(400, 400, 400, 400, a_node=4), 2),
        (actors(*[1_000] * 8), 10),
        (actors(*[1_000] * 12), 12),  # more than the most, but they are there
    ],
)
def test_nodes_for(living: list[Actor], nodes: int) -> None:
    assert nodes_for(living, SETTINGS) == nodes


async def test_it_asks_again_and_while_nothing_is_known_for_the_same() -> None:
    directory, stopping, asked = MemoryDirectory(), asyncio.Event(), list[int]()
    away = False

    class Sometimes(MemoryDirectory):
        async def living(self) -> list[Actor]:
            if away:
                raise DirectoryUnavailable("away")
            return await directory.living()

    task = asyncio.create_task(keep_asking(Sometimes(), SETTINGS, asked.append, stopping, 0.01))
    await until(lambda: asked[-2:] == [2, 2])
    for actor in actors(1_500, 1_500):
        await directory.register(actor)
    await until(lambda: asked[-1] == 4)
    away, seen = True, len(asked)
    await until(lambda: len(asked) >= seen + 3)
    assert set(asked[seen + 1 :]) == {4}
    stopping.set()
    await task


async def test_an_autoscaler_that_cannot_be_asked_ends_it() -> None:
    def ask(nodes: int) -> None:
        raise ConnectionError("no head")

    with pytest.raises(ConnectionError):
        await keep_asking(MemoryDirectory(), SETTINGS, ask, asyncio.Event(), 0.01)
