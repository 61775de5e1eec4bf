"""The contract of PoolStore, on all twins."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from uuid import uuid4

import pytest

from kangtou_services.matchmaking import (
    MemoryPoolStore,
    Pool,
    PoolStore,
    RedisPoolStore,
    State,
    Status,
    Ticket,
)
from kangtou_services.matchmaking.base import NoPlace
from tests.servers import client_of

from .rooms import choose


@dataclass
class Desk:
    """A store, a pool that no other test uses, and a clock."""

    store: PoolStore
    pool: Pool
    now: int = 1_800_000_000_000

    async def arrive(self, name: str, *, stream: str = "s1", most: int = 1, ticket: str = "") -> Status | NoPlace:
        return await self.store.enqueue(self.pool, ticket_of(name, ticket), stream, most, self.now)

    async def waiting(self) -> list[str]:
        return [ticket.account_id for ticket in (await self.store.look(self.pool.id)).waiting]

    async def fence(self, holder: str = "me") -> int:
        number = await self.store.lease(self.pool.id, holder, 60_000)
        assert number is not None
        return number

    async def state(self, name: str, ticket: str = "") -> State:
        ref = ticket_of(name, ticket).ref
        return (await self.store.refresh(self.pool.id, {ref: "nobody"}, self.now))[ref].state


def ticket_of(name: str, ticket: str = "") -> Ticket:
    """Somebody's ticket."""
    return Ticket(ticket or f"t-{name}", name, "human", f"老{name} <|>", "ab" * 32)


@pytest.fixture(params=["memory", "valkey", "cluster"])
async def desk(request: pytest.FixtureRequest) -> AsyncIterator[Desk]:
    """On each of the twins."""
    pool = Pool(uuid4().hex, choose(), "")
    if request.param == "memory":
        yield Desk(MemoryPoolStore(), pool)
        return
    async with client_of(request.getfixturevalue(request.param)) as client:
        yield Desk(RedisPoolStore(client), pool)


async def test_tickets_wait_in_order(desk: Desk) -> None:
    for number, name in enumerate(("c", "a", "b")):
        assert await desk.arrive(name) == Status(State.WAITING, waiting=number + 1)
    look = await desk.store.look(desk.pool.id)
    assert look.pool == desk.pool
    assert look.waiting == tuple(map(ticket_of, ("c", "a", "b")))
    assert look.offers == ()
    assert look.seats == {}


async def test_an_unknown_pool_is_empty(desk: Desk) -> None:
    look = await desk.store.look(desk.pool.id)
    assert (look.pool, look.waiting, look.offers, look.seats) == (None, (), (), {})
    assert await desk.store.refresh(desk.pool.id, {"a/b": "s"}, desk.now) == {}
    await desk.store.leave(desk.pool.id, "a/b", "s", desk.now)
    await desk.store.ready(desk.pool.id, "m", desk.now)
    await desk.store.free(desk.pool.id, ["m"])


async def test_a_repeat_joins_the_ticket(desk: Desk) -> None:
    await desk.arrive("a")
    await desk.arrive("b")
    assert await desk.arrive("a", stream="s2") == Status(State.WAITING, waiting=2)
    assert await desk.waiting() == ["a", "b"]


async def test_repeats_at_once_are_one_ticket(desk: Desk) -> None:
    answers = await asyncio.gather(*(desk.arrive("a", stream=f"s{number}") for number in range(20)))
    assert set(answers) == {Status(State.WAITING, waiting=1)}
    assert await desk.waiting() == ["a"]


async def test_one_account_has_one_ticket(desk: Desk) -> None:
    answers = await asyncio.gather(*(desk.arrive("a", ticket=f"t{number}") for number in range(10)))
    assert sum(isinstance(answer, Status) for answer in answers) == 1
    assert answers.count(NoPlace.HELD) == 9
    assert await desk.waiting() == ["a"]


async def test_bots_have_as_many_as_allowed(desk: Desk) -> None:
    answers = [await desk.arrive("a", ticket=f"t{number}", most=3) for number in range(5)]
    assert answers.count(NoPlace.HELD) == 2
    await desk.store.cancel(desk.pool.id, "a/t1", desk.now)
    assert isinstance(await desk.arrive("a", ticket="t9", most=3), Status)
    assert await desk.arrive("a", ticket="t10", most=3) is NoPlace.HELD


async def test_cancel(desk: Desk) -> None:
    await desk.arrive("a")
    await desk.arrive("b")
    for _ in range(2):
        assert (await desk.store.cancel(desk.pool.id, "a/t-a", desk.now)).state is State.CANCELLED
    assert await desk.waiting() == ["b"]
    again = await desk.arrive("a")
    assert isinstance(again, Status)
    assert again.state is State.CANCELLED
    assert isinstance(await desk.arrive("a", ticket="other"), Status)


async def test_a_ticket_cancelled_before_it_comes_does_not_come(desk: Desk) -> None:
    assert (await desk.store.cancel(desk.pool.id, "a/t-a", desk.now)).state is State.CANCELLED
    answer = await desk.arrive("a")
    assert isinstance(answer, Status)
    assert answer.state is State.CANCELLED
    assert await desk.waiting() == []


async def test_an_offer_takes_its_tickets(desk: Desk) -> None:
    for name in ("a", "b", "c"):
        await desk.arrive(name)
    fence = await desk.fence()
    assert await desk.store.offer(desk.pool.id, fence, "m1", ["c/t-c", "a/t-a"], desk.now)
    look = await desk.store.look(desk.pool.id)
    assert [ticket.account_id for ticket in look.waiting] == ["b"]
    (offer,) = look.offers
    assert (offer.match_id, offer.at_ms) == ("m1", desk.now)
    assert offer.tickets == (ticket_of("c"), ticket_of("a"))
    assert await desk.arrive("a") == Status(State.MATCHED, "m1", 1, 1)
    assert (await desk.store.cancel(desk.pool.id, "c/t-c", desk.now)) == Status(State.MATCHED, "m1", 0, 1)
    assert await desk.arrive("a", ticket="other") is NoPlace.HELD
    assert await desk.store.offer(desk.pool.id, fence, "m1", ["c/t-c", "a/t-a"], desk.now)  # a repeat
    assert not await desk.store.offer(desk.pool.id, fence, "m2", ["b/t-b", "a/t-a"], desk.now)
    assert await desk.waiting() == ["b"]


async def test_ready_gives_seats_until_the_match_has_ended(desk: Desk) -> None:
    for name in ("a", "b"):
        await desk.arrive(name)
    await desk.store.offer(desk.pool.id, await desk.fence(), "m1", ["a/t-a", "b/t-b"], desk.now)
    for _ in range(2):
        await desk.store.ready(desk.pool.id, "m1", desk.now)
        look = await desk.store.look(desk.pool.id)
        assert look.offers == ()
        assert look.seats == {"m1": ("a", "b")}
    assert await desk.arrive("b", stream="s9") == Status(State.READY, "m1", 1, 0)
    assert (await desk.store.cancel(desk.pool.id, "a/t-a", desk.now)) == Status(State.READY, "m1", 0, 0)
    assert await desk.arrive("a", ticket="next") is NoPlace.HELD
    for _ in range(2):
        await desk.store.free(desk.pool.id, ["m1", "m0"])
    assert isinstance(await desk.arrive("a", ticket="next"), Status)
    assert await desk.arrive("a", ticket="more") is NoPlace.HELD


async def test_an_older_matcher_is_fenced(desk: Desk) -> None:
    for name in ("a", "b"):
        await desk.arrive(name)
    old = await desk.fence("one")
    assert await desk.store.lease(desk.pool.id, "two", 60_000) is None
    await desk.store.release(desk.pool.id, "two")
    assert await desk.store.lease(desk.pool.id, "two", 60_000) is None
    await desk.store.release(desk.pool.id, "one")
    new = await desk.fence("two")
    assert new > old
    assert not await desk.store.offer(desk.pool.id, old, "m1", ["a/t-a", "b/t-b"], desk.now)
    await desk.store.prune(desk.pool.id, old, desk.now + 9, desk.now + 9, desk.now)
    assert await desk.waiting() == ["a", "b"]
    assert await desk.store.offer(desk.pool.id, new, "m1", ["a/t-a", "b/t-b"], desk.now)


async def test_a_lease_ends_by_itself(desk: Desk) -> None:
    assert await desk.store.lease(desk.pool.id, "one", 30) is not None
    async with asyncio.timeout(60):
        for _ in iter(int, 1):
            if await desk.store.lease(desk.pool.id, "two", 60_000) is not None:
                break
            await asyncio.sleep(0.01)


async def test_of_cancel_and_offer_at_once_one_wins(desk: Desk) -> None:
    for number in range(30):
        names = (f"a{number}", f"b{number}")
        for name in names:
            await desk.arrive(name)
        refs = [ticket_of(name).ref for name in names]
        fence = await desk.fence()
        match = f"m{number}"
        offered, cancelled = await asyncio.gather(
            desk.store.offer(desk.pool.id, fence, match, refs, desk.now),
            desk.store.cancel(desk.pool.id, refs[number % 2], desk.now),
        )
        assert (cancelled.state is State.MATCHED) is offered
        assert (cancelled.state is State.CANCELLED) is not offered
        if not offered:
            await desk.store.cancel(desk.pool.id, refs[1 - number % 2], desk.now)


async def test_silent_tickets_drop_out_and_come_back_to_their_place(desk: Desk) -> None:
    for name in ("a", "b", "c"):
        await desk.arrive(name)
    fence = await desk.fence()
    desk.now += 5_000
    await desk.store.refresh(desk.pool.id, {"b/t-b": "s1", "c/t-c": "another"}, desk.now)
    await desk.store.prune(desk.pool.id, fence, desk.now, 0, desk.now)
    assert await desk.waiting() == ["b"]
    assert await desk.state("a") is State.SILENT
    assert not await desk.store.offer(desk.pool.id, fence, "m1", ["a/t-a", "b/t-b"], desk.now)
    await desk.arrive("d")
    assert isinstance(await desk.arrive("a", ticket="new"), Status)  # the silent one counts no more
    assert await desk.arrive("a") is NoPlace.HELD
    assert isinstance(await desk.arrive("c"), Status)
    assert await desk.waiting() == ["b", "c", "d", "a"]


async def test_leaving_gives_the_place_up_unless_a_newer_stream_has_joined(desk: Desk) -> None:
    await desk.arrive("a", stream="s1")
    await desk.arrive("b")
    await desk.arrive("a", stream="s2")
    await desk.store.leave(desk.pool.id, "a/t-a", "s1", desk.now)
    assert await desk.waiting() == ["a", "b"]
    for _ in range(2):
        await desk.store.leave(desk.pool.id, "a/t-a", "s2", desk.now)
        assert await desk.waiting() == ["b"]
    assert await desk.state("a") is State.LEFT
    assert await desk.arrive("a", stream="s3") == Status(State.WAITING, waiting=2)
    assert await desk.waiting() == ["a", "b"]
    await desk.store.leave(desk.pool.id, "a/t-a", "s3", desk.now)
    assert (await desk.store.cancel(desk.pool.id, "a/t-a", desk.now)).state is State.CANCELLED
    assert await desk.state("a") is State.CANCELLED


async def test_ended_tickets_are_forgotten(desk: Desk) -> None:
    for name in ("a", "b", "c", "d"):
        await desk.arrive(name)
    fence = await desk.fence()
    await desk.store.offer(desk.pool.id, fence, "m1", ["a/t-a", "b/t-b"], desk.now)
    await desk.store.cancel(desk.pool.id, "c/t-c", desk.now)
    await desk.store.prune(desk.pool.id, fence, 0, desk.now + 1, desk.now)
    refs = {f"{name}/t-{name}": "s1" for name in "abcd"}
    assert set(await desk.store.refresh(desk.pool.id, refs, desk.now)) == {"a/t-a", "b/t-b", "d/t-d"}
    await desk.store.ready(desk.pool.id, "m1", desk.now)
    await desk.store.prune(desk.pool.id, fence, 0, desk.now, desk.now)
    assert len(await desk.store.refresh(desk.pool.id, refs, desk.now)) == 3
    await desk.store.prune(desk.pool.id, fence, 0, desk.now + 1, desk.now)
    assert set(await desk.store.refresh(desk.pool.id, refs, desk.now)) == {"d/t-d"}


async def test_pools_are_listed_while_they_are_touched(desk: Desk) -> None:
    assert desk.pool.id not in await desk.store.pools(0)
    await desk.arrive("a")
    assert desk.pool.id in await desk.store.pools(desk.now)
    await desk.store.touch(desk.pool.id, desk.now + 5)
    await desk.store.touch(desk.pool.id, desk.now - 5)
    assert desk.pool.id in await desk.store.pools(desk.now + 5)
    assert desk.pool.id not in await desk.store.pools(desk.now + 6)


async def test_news_tell_of_arrivals_and_offers(desk: Desk) -> None:
    async with asyncio.timeout(60), desk.store.news() as news:

        async def told() -> None:
            while await anext(news) != desk.pool.id:
                pass  # of a pool of another test: what a cluster tells goes from server to server

        await desk.arrive("a")
        await told()
        await desk.arrive("b")
        await told()
        await desk.store.offer(desk.pool.id, await desk.fence(), "m1", ["a/t-a", "b/t-b"], desk.now)
        await told()
        await desk.store.ready(desk.pool.id, "m1", desk.now)
        await told()


def test_pools_differ_by_all_that_must_be_equal() -> None:
    pools = [
        Pool("", choose()),
        Pool("demo", choose()),
        Pool("", choose(3)),
        Pool("", choose(rounds=3)),
        Pool("", choose(turn_ms=500)),
        Pool("", choose(rated=True), "human"),
        Pool("", choose(rated=True), "bot"),
    ]
    assert len({pool.id for pool in pools}) == len(pools)
    spelt = replace(choose(), options={})  # two rounds are the default
    assert Pool("", spelt).id == pools[0].id
    assert [Pool.from_json(pool.to_json()) for pool in pools] == pools
