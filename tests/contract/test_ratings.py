"""The contract of RatingStore, on all twins; appliers that race on it."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from uuid import uuid4

import pytest

from kangtou_services.ratings import (
    Applier,
    Ladder,
    Mark,
    MemoryRatingStore,
    RatingStore,
    RedisRatingStore,
    Result,
    Standing,
)
from kangtou_services.ratings.model import replay
from kangtou_services.ratings.rebuild import check, write
from tests.servers import client_of

LADDER = Ladder("wushik", "liaoning", "human")
OTHER = Ladder("hongshi", "", "bot")


def result(match: str, *accounts: str, ladder: Ladder = LADDER, places: tuple[int, ...] = ()) -> Result:
    """Each for itself, in the order of their places."""
    order = places or tuple(range(1, len(accounts) + 1))
    return Result(match, ladder, tuple((account,) for account in accounts), order, 1_800_000_000_000)


def evening(seed: int, count: int, players: int = 12) -> list[Result]:
    """Random results on two ladders: partners, ties, two to six seats."""
    chance = random.Random(seed)
    found = []
    for _ in range(count):
        ladder = chance.choice((LADDER, OTHER))
        drawn = [f"p{number}" for number in chance.sample(range(players), 6)]
        if chance.random() < 0.4:
            sides: tuple[tuple[str, ...], ...] = ((drawn[0], drawn[2]), (drawn[1], drawn[3]))
        else:
            sides = tuple((name,) for name in drawn[: chance.randint(2, 6)])
        places = tuple(chance.randint(1, len(sides)) for _ in sides)
        found.append(Result(f"{chance.getrandbits(64):x}", ladder, sides, places, chance.getrandbits(40)))
    return found


@pytest.fixture(params=["memory", "valkey", "cluster"])
async def store(request: pytest.FixtureRequest) -> AsyncIterator[RatingStore]:
    """On each of the twins, empty."""
    if request.param == "memory":
        yield MemoryRatingStore()
        return
    async with client_of(request.getfixturevalue(request.param)) as client:
        held = await client.keys("{ratings}:*")
        if held:
            await client.delete(*held)
        yield RedisRatingStore(client)


async def test_a_match_is_in_the_log_once(store: RatingStore) -> None:
    first, second = result("m1", "a", "b"), result("m2", "b", "a")
    answers = await asyncio.gather(*(store.append(first) for _ in range(20)))
    assert set(answers) == {1}
    assert await store.append(second) == 2
    assert await store.append(first) == 1
    assert await store.length() == 2
    assert await store.read(0, 10) == [first, second]
    assert await store.read(1, 10) == [second]
    assert await store.read(0, 1) == [first]
    assert await store.read(2, 10) == []


async def test_empty(store: RatingStore) -> None:
    assert (await store.length(), await store.mark(), await store.read(0, 5)) == (0, Mark(0, 0), [])
    assert await store.standings(LADDER, ["a"]) == {}
    assert await store.standings(LADDER, []) == {}
    assert await store.board(LADDER, 0, 10) == []
    assert await store.of("a") == {}
    assert list(await store.ladders()) == []
    assert await store.everything() == (Mark(0, 0), {})


async def test_a_mark_moves_once(store: RatingStore) -> None:
    """Compare-and-set: of many that would move it, one does; nothing of the others is kept."""
    offered = [{LADDER: {"a": Standing(20.0 + number, 3.1, 1, 5)}} for number in range(20)]
    moved = await asyncio.gather(*(store.apply(Mark(0, 0), 1, changed) for changed in offered))
    assert sum(moved) == 1
    assert (await store.standings(LADDER, ["a", "b"])) == offered[moved.index(True)][LADDER]
    assert await store.mark() == Mark(0, 1)


async def test_floats_come_back_to_the_bit(store: RatingStore) -> None:
    standing = Standing(0.1 + 0.2, 1e-17, 3, 7)
    assert await store.apply(Mark(0, 0), 1, {LADDER: {"a": standing}, OTHER: {"a": Standing(-3.5, 2 / 3, 1, 1)}})
    assert await store.standings(LADDER, ["a"]) == {"a": standing}
    assert await store.of("a") == {LADDER: standing, OTHER: Standing(-3.5, 2 / 3, 1, 1)}
    assert list(await store.ladders()) == [OTHER, LADDER]


async def test_leaderboard(store: RatingStore) -> None:
    """By floor, ties share a rank, those with few results are left out; pages."""
    held = {
        "best": Standing(30.0, 1.0, 50, 1),
        "tied-a": Standing(28.0, 1.0, 10, 1),
        "tied-b": Standing(31.0, 2.0, 10, 1),
        "new": Standing(45.0, 1.0, 9, 1),
        "last": Standing(20.0, 1.0, 10, 1),
    }
    await store.apply(Mark(0, 0), 1, {LADDER: held})
    rows = await store.board(LADDER, 0, 10)
    assert [(row.rank, row.account_id) for row in rows] == [(1, "best"), (2, "tied-b"), (2, "tied-a"), (4, "last")]
    assert [row.standing for row in rows] == [held[row.account_id] for row in rows]
    assert await store.board(LADDER, 1, 2) == rows[1:3]
    assert await store.board(LADDER, 4, 2) == []
    assert await store.board(LADDER, 0, 0) == []
    assert await store.board(OTHER, 0, 10) == []


async def test_appliers_that_race_give_the_ratings_of_one(store: RatingStore) -> None:
    results = evening(1, 120)
    appliers = [Applier(store, batch=7) for _ in range(4)]
    applied = 0
    for start in range(0, len(results), 30):
        for one in results[start : start + 30]:
            await store.append(one)
        applied += sum(await asyncio.gather(*(applier.catch_up() for applier in appliers)))
    assert applied == len(results)
    mark, held = await store.everything()
    assert mark == Mark(0, len(results))
    assert held == replay(results)
    found = await check(store)
    assert (found.results, found.difference) == (len(results), "")


async def test_a_rebuild_names_the_first_difference(store: RatingStore) -> None:
    for one in evening(2, 60):
        await store.append(one)
    await Applier(store).catch_up()
    right = (await store.everything())[1]
    mark = await store.mark()
    wrong = Standing(right[OTHER]["p3"].mu + 1e-12, right[OTHER]["p3"].sigma, right[OTHER]["p3"].games, 0)
    await store.apply(mark, mark.at, {OTHER: {"p3": wrong}, LADDER: {"ghost": wrong}})
    said = (await check(store)).difference
    assert said.startswith(f"hongshi:bot p3: stored {wrong.to_text()}, from the log ")
    again = await write(store)
    assert again.difference == ""
    assert await store.everything() == (Mark(mark.life + 1, mark.at), right)


async def test_ratings_begun_anew_take_nothing_from_an_older_life(store: RatingStore) -> None:
    """An applier that has read before a restart cannot write after it, though the mark is at the same place again."""
    await store.append(result("m1", "a", "b"))
    before = await store.mark()
    await store.restart()
    assert not await store.apply(before, 1, {LADDER: {"a": Standing(1.0, 1.0, 1, 1)}})
    assert await store.of("a") == {}


def test_results_and_ladders_as_text() -> None:
    for one in evening(3, 50):
        assert Result.from_json(one.to_json()) == one
    for ladder in (LADDER, OTHER):
        assert Ladder.of(ladder.id) == ladder
    assert (LADDER.id, OTHER.id) == ("wushik/liaoning:human", "hongshi:bot")
    with pytest.raises(ValueError, match="no ladder"):
        Ladder.of(uuid4().hex)


async def test_a_deleted_account_is_shown_nowhere(store: RatingStore) -> None:
    """Off the boards, ranks without it, also after late results and a rebuild, which finds the same ratings."""
    results = [result(f"m{number}", "gone", "b", "c") for number in range(12)]
    for one in results[:11]:
        await store.append(one)
    await Applier(store).catch_up()
    assert [row.account_id for row in await store.board(LADDER, 0, 10)] == ["gone", "b", "c"]
    for _ in range(2):
        await store.forget("gone")
        assert [(row.rank, row.account_id) for row in await store.board(LADDER, 0, 10)] == [(1, "b"), (2, "c")]
        assert await store.of("gone") == {}
    await store.append(results[11])
    await Applier(store).catch_up()
    assert [row.account_id for row in await store.board(LADDER, 0, 10)] == ["b", "c"]
    assert (await store.of("b"))[LADDER].games == 12
    for found in (await check(store), await write(store)):
        assert (found.results, found.difference) == (12, "")
    assert [row.account_id for row in await store.board(LADDER, 0, 10)] == ["b", "c"]
    assert await store.of("gone") == {}
