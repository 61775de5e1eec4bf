"""The store of what house bots are needed for, on all twins."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from uuid import uuid4

import pytest

from kangtou_services.house import Kind, Lent, MemoryNeeds, Need, NeedStore, Outcome, RedisNeeds, Worker

from ..servers import client_of

NOW, LEASE = 1_800_000_000_000, 2_000


@pytest.fixture(params=["memory", "valkey", "cluster"])
async def needs(request: pytest.FixtureRequest) -> AsyncIterator[NeedStore]:
    """Each of the twins, empty."""
    if request.param == "memory":
        yield MemoryNeeds()
        return
    async with client_of(request.getfixturevalue(request.param)) as client:
        for key in await client.keys("{house}*"):
            await client.delete(key)
        yield RedisNeeds(client)


def worker(account: str, process: str = "p1") -> Worker:
    return Worker(account, process)


def seat(place: str, number: int, **given: object) -> Need:
    """A free seat of a table."""
    return replace(Need(f"s:{place}:{number}", Kind.SIT, "hongshi", place, number), **given)  # type: ignore[arg-type]


async def opened(needs: NeedStore, now_ms: int = NOW, *workers: Worker) -> list[str]:
    return [need.need_id for need in (await needs.look(workers, now_ms, LEASE)).open]


async def held(needs: NeedStore, who: Worker, now_ms: int = NOW) -> list[str]:
    return sorted(need.need_id for need in (await needs.look([who], now_ms, LEASE)).held[who.key])


async def test_one_of_many_has_a_need(needs: NeedStore) -> None:
    """Twenty claim at once; the one who has it finds that he has it; the others never."""
    need = seat("t1", 2, pool="{}")
    assert await needs.put("t:t1", 1, [need], NOW)
    assert (await needs.look([], NOW, LEASE)).open == (need,)
    many = [worker(f"a{number}", uuid4().hex) for number in range(20)]
    won = await asyncio.gather(*(needs.claim(need, one, NOW, LEASE) for one in many))
    assert sum(won) == 1
    winner = many[won.index(True)]
    assert await opened(needs) == []
    assert await held(needs, winner) == [need.need_id]
    assert await needs.claim(need, winner, NOW, LEASE)
    assert await needs.account_of(need.need_id, NOW) == winner.account_id
    assert not await needs.settle(need.need_id, worker("b"), Outcome.DONE, NOW)
    assert await needs.settle(need.need_id, winner, Outcome.DONE, NOW)
    assert await opened(needs) == await held(needs, winner) == []
    assert not await needs.claim(need, winner, NOW, LEASE)


async def test_a_lease_is_renewed_by_looking_and_runs_out(needs: NeedStore) -> None:
    """Also a moment after the call of its worker has ended; who comes back in time has it still."""
    need, one, other = seat("t1", 0), worker("a"), worker("b")
    await needs.put("t:t1", 1, [need], NOW)
    assert await needs.claim(need, one, NOW, LEASE)
    for step in range(1, 4):
        assert await held(needs, one, NOW + step * 1_500) == [need.need_id]
    at = NOW + 4_500
    await needs.linger(one, at, 500)
    assert not await needs.claim(need, other, at + 400, LEASE)
    assert await held(needs, one, at + 450) == [need.need_id]
    await needs.linger(one, at + 450, 500)
    assert await needs.account_of(need.need_id, at + 950) == ""
    assert await opened(needs, at + 951) == [need.need_id]
    assert await held(needs, one, at + 951) == []
    assert await needs.claim(need, other, at + 951, LEASE)
    assert not await needs.settle(need.need_id, one, Outcome.DONE, at + 951)


async def test_a_group_is_replaced_as_a_whole(needs: NeedStore) -> None:
    """Claims of what stays go on; an older number comes too late; what was ended does not come back."""
    first, second, third = (seat("t1", number) for number in range(3))
    one = worker("a")
    await needs.put("t:t1", 3, [first, second], NOW)
    assert await needs.claim(first, one, NOW, LEASE)
    assert await needs.claim(second, one, NOW, LEASE)
    assert await needs.put("t:t1", 4, [second, third], NOW)
    assert await held(needs, one) == [second.need_id]
    assert await opened(needs) == [third.need_id]
    assert not await needs.put("t:t1", 3, [first], NOW)
    assert await opened(needs) == [third.need_id]
    await needs.end("t:t1", NOW)
    assert await held(needs, one) == await opened(needs) == []
    assert not await needs.put("t:t1", 4, [third], NOW)
    assert await opened(needs) == []
    assert await needs.put("t:t1", 5, [third], NOW)
    assert await opened(needs) == [third.need_id]


async def test_needs_of_one_account_and_needs_that_end(needs: NeedStore) -> None:
    """Nobody else can have what is for one; what is not said again is over, also for who has it."""
    mine, soon = seat("t1", 0, only="a"), seat("t2", 0, until_ms=NOW + 100)
    await needs.put("t:t1", 1, [mine], NOW)
    await needs.put("t:t2", 1, [soon], NOW)
    assert await opened(needs, NOW, worker("b")) == [soon.need_id]
    assert sorted(await opened(needs, NOW, worker("a"))) == [mine.need_id, soon.need_id]
    assert not await needs.claim(mine, worker("b"), NOW, LEASE)
    assert await needs.claim(mine, worker("a"), NOW, LEASE)
    assert await needs.claim(soon, worker("a"), NOW, LEASE)
    await needs.put("t:t2", 1, [replace(soon, until_ms=NOW + 300)], NOW + 50)
    assert await held(needs, worker("a"), NOW + 200) == [mine.need_id, soon.need_id]
    assert await held(needs, worker("a"), NOW + 300) == [mine.need_id]


async def test_who_declines_is_not_asked_again(needs: NeedStore) -> None:
    need = seat("t1", 0)
    await needs.put("t:t1", 1, [need], NOW)
    assert await needs.claim(need, worker("a"), NOW, LEASE)
    assert await needs.settle(need.need_id, worker("a"), Outcome.DECLINED, NOW)
    assert not await needs.claim(need, worker("a", "p2"), NOW, LEASE)
    assert await needs.claim(need, worker("b"), NOW, LEASE)
    assert await needs.settle(need.need_id, worker("b"), Outcome.GIVEN_BACK, NOW)
    assert await needs.claim(need, worker("b"), NOW, LEASE)


async def test_an_account_plays_for_one_seat_of_a_match(needs: NeedStore) -> None:
    """It has seen the cards. Also after its lease, and after the table has been taken over and tells again."""
    house = Lent(needs, lambda: NOW)
    for number in (0, 2):
        await house.delegated("m1", number, "hongshi", 7)
    first, second = (await needs.look([], NOW, LEASE)).open
    assert await needs.claim(first, worker("a"), NOW, LEASE)
    assert await house.may_play("a", "m1", 0)
    assert not await house.may_play("a", "m1", 2)
    assert not await house.may_play("b", "m1", 0)
    assert not await needs.claim(second, worker("a"), NOW, LEASE)
    assert await needs.settle(first.need_id, worker("a"), Outcome.GIVEN_BACK, NOW)
    assert not await house.may_play("a", "m1", 0)
    await house.delegated("m1", 2, "hongshi", 9)
    assert not await needs.claim(second, worker("a", "p2"), NOW, LEASE)
    assert await needs.claim(second, worker("b"), NOW, LEASE)
    assert await needs.claim(first, worker("a", "p2"), NOW, LEASE)
    await house.ended("m1", 0)
    assert not await house.may_play("a", "m1", 0)
    await house.delegated("m1", 0, "hongshi", 7)  # a late repeat
    assert await opened(needs) == []


async def test_done_with_an_older_hand_over_ends_no_newer_one(needs: NeedStore) -> None:
    house, one = Lent(needs, lambda: NOW), worker("a")
    await house.delegated("m1", 0, "hongshi", 7)
    (need,) = (await needs.look([], NOW, LEASE)).open
    assert await needs.claim(need, one, NOW, LEASE)
    await house.delegated("m1", 0, "hongshi", 9)
    assert await house.may_play("a", "m1", 0)
    assert await needs.settle(need.need_id, one, Outcome.DONE, NOW, 7)
    assert await opened(needs) == [need.need_id]
    assert await needs.claim(need, one, NOW, LEASE)
    assert await needs.settle(need.need_id, one, Outcome.DONE, NOW, 9)
    assert await opened(needs) == []
