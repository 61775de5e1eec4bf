"""The contract of PoolStore for matches that people are asked about, of Penalties and of PartyStore, on all twins."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import AsyncIterator
from dataclasses import dataclass
from uuid import uuid4

import pytest

from kangtou_services.matchmaking import MemoryPoolStore, Pool, PoolStore, RedisPoolStore, State, Status, Ticket
from kangtou_services.matchmaking.base import WAITS_MOST
from kangtou_services.matchmaking.parties import MemoryPartyStore, NoParty, Party, PartyStore, RedisPartyStore
from kangtou_services.matchmaking.penalties import (
    FIRST_MS,
    MOST_MS,
    REMEMBER_MS,
    MemoryPenalties,
    Penalties,
    RedisPenalties,
)
from tests.servers import client_of

from .rooms import choose

NOW = 1_800_000_000_000
BY = NOW + 10_000


@dataclass
class Desk:
    """The stores, and a pool that no other test uses."""

    store: PoolStore
    penalties: Penalties
    parties: PartyStore
    pool: Pool

    async def offered(self, *names: str, match: str = "m1") -> None:
        """These have come and are asked about a match."""
        for name in names:
            await self.store.enqueue(self.pool, Ticket(f"t-{name}", name, "human", name), "s", 1, NOW)
        fence = await self.store.lease(self.pool.id, "me", 60_000)
        assert fence is not None
        refs = [f"{name}/t-{name}" for name in names]
        assert await self.store.offer(self.pool.id, fence, match, refs, NOW, BY)

    async def answer(self, name: str, *, accept: bool = True, match: str = "m1", now: int = NOW) -> Status | None:
        return await self.store.answer(self.pool.id, f"{name}/t-{name}", match, accept, now)

    async def states(self, *names: str) -> list[State]:
        found = await self.store.refresh(self.pool.id, {f"{name}/t-{name}": "s" for name in names}, NOW)
        return [found[f"{name}/t-{name}"].state for name in names]


@pytest.fixture(params=["memory", "valkey", "cluster"])
async def desk(request: pytest.FixtureRequest) -> AsyncIterator[Desk]:
    """On each of the twins."""
    pool = Pool(uuid4().hex, choose(), "human")
    if request.param == "memory":
        yield Desk(MemoryPoolStore(), MemoryPenalties(), MemoryPartyStore(), pool)
        return
    async with client_of(request.getfixturevalue(request.param)) as client:
        yield Desk(RedisPoolStore(client), RedisPenalties(client), RedisPartyStore(client), pool)


async def test_all_take_it(desk: Desk) -> None:
    await desk.offered("a", "b", "c")
    look = await desk.store.look(desk.pool.id)
    assert (look.waiting, look.offers, look.asked) == ((), (), {"m1": BY})
    assert await desk.answer("a") == Status(State.ACCEPTED, "m1", 0, 0, BY, 1)
    assert await desk.answer("a") == Status(State.ACCEPTED, "m1", 0, 0, BY, 1)  # a repeat
    assert await desk.answer("b") == Status(State.ACCEPTED, "m1", 1, 0, BY, 2)
    assert await desk.states("a", "b", "c") == [State.ACCEPTED, State.ACCEPTED, State.OFFERED]
    assert await desk.answer("c", now=BY) == Status(State.MATCHED, "m1", 2, 0)
    look = await desk.store.look(desk.pool.id)
    assert look.asked == {}
    (offer,) = look.offers
    assert ([one.account_id for one in offer.tickets], offer.at_ms) == (["a", "b", "c"], BY)
    assert (await desk.answer("a") or Status(State.LEFT)).state is State.MATCHED
    await desk.store.ready(desk.pool.id, "m1", NOW)
    assert (await desk.answer("b") or Status(State.LEFT)).state is State.READY
    assert await desk.store.expire(desk.pool.id, "m1", BY + 1) == []


@pytest.mark.parametrize("way", ["answer", "cancel"])
async def test_one_declines(desk: Desk, way: str) -> None:
    """The others are back at their places, in front of those who came later; the decliner may queue anew."""
    await desk.offered("a", "b", "c")
    await desk.store.enqueue(desk.pool, Ticket("t-d", "d", "human", "d"), "s", 1, NOW)
    await desk.answer("a")
    if way == "answer":
        for _ in range(2):
            assert (await desk.answer("b", accept=False) or Status(State.LEFT)).state is State.DECLINED
    else:
        status = await desk.store.cancel(desk.pool.id, "b/t-b", NOW)
        assert (status.state, status.match_id) == (State.DECLINED, "m1")
    look = await desk.store.look(desk.pool.id)
    assert [one.account_id for one in look.waiting] == ["a", "c", "d"]
    assert (look.offers, look.asked) == ((), {})
    assert await desk.answer("a") is None
    assert await desk.answer("c", accept=False) is None
    again = await desk.store.enqueue(desk.pool, Ticket("t-2", "b", "human", "b"), "s", 1, NOW)
    assert again == Status(State.WAITING, waiting=4)
    old = await desk.store.enqueue(desk.pool, Ticket("t-b", "b", "human", "b"), "s", 1, NOW)
    assert isinstance(old, Status)
    assert old.state is State.DECLINED  # a ticket that is over stays so


async def test_who_does_not_answer_in_time(desk: Desk) -> None:
    await desk.offered("a", "b", "c")
    await desk.answer("b")
    assert await desk.store.expire(desk.pool.id, "m1", BY) == []
    assert await desk.answer("a", now=BY + 1) is None
    assert await desk.store.expire(desk.pool.id, "m1", BY + 1) == ["a/t-a", "c/t-c"]
    assert await desk.store.expire(desk.pool.id, "m1", BY + 1) == []
    assert await desk.states("a", "b", "c") == [State.MISSED, State.WAITING, State.MISSED]
    await desk.store.prune(desk.pool.id, await _fence(desk), NOW + 1, NOW, NOW)
    assert await desk.states("b") == [State.SILENT]


async def test_nobody_is_pruned_while_asked(desk: Desk) -> None:
    await desk.offered("a", "b")
    await desk.store.prune(desk.pool.id, await _fence(desk), NOW + 99, NOW + 99, NOW)
    assert await desk.states("a", "b") == [State.OFFERED, State.OFFERED]


async def test_an_unknown_offer(desk: Desk) -> None:
    await desk.offered("a", "b")
    assert await desk.answer("a", match="m2") is None
    assert await desk.answer("nobody") is None
    assert await desk.store.expire(desk.pool.id, "m2", BY + 1) == []


async def test_answers_that_race(desk: Desk) -> None:
    """Accept, decline, cancel and time-out at once, many times: all are matched, or the match is off for all."""
    chance = random.Random(3)
    for number in range(12):
        names = [f"{letter}{number}" for letter in "abc"]
        match = f"race{number}"
        await desk.offered(*names, match=match)
        calls = [desk.answer(name, match=match) for name in names]
        calls.append(desk.answer(chance.choice(names), accept=False, match=match))
        late = desk.store.expire(desk.pool.id, match, BY + 1)
        cancelled = desk.store.cancel(desk.pool.id, f"{names[0]}/t-{names[0]}", NOW)
        work = [*calls, *((late,) if number % 3 == 1 else ()), *((cancelled,) if number % 3 == 2 else ())]
        chance.shuffle(work)
        await asyncio.gather(*work)
        for unused in (late, cancelled):
            unused.close()
        found = await desk.states(*names)
        look = await desk.store.look(desk.pool.id)
        if match in {offer.match_id for offer in look.offers}:
            assert found == [State.MATCHED] * 3
        else:
            assert set(found) <= {State.WAITING, State.DECLINED, State.MISSED, State.CANCELLED}
            assert found.count(State.WAITING) < 3
            for name in names:
                await desk.store.cancel(desk.pool.id, f"{name}/t-{name}", NOW)
        assert match not in look.asked
        assert not look.waiting or {one.account_id for one in look.waiting} <= set(names)


async def test_recent_waits(desk: Desk) -> None:
    assert await desk.store.waits(desk.pool.id) == []
    await desk.store.waited(desk.pool.id, [])
    await desk.store.waited(desk.pool.id, [5, 3])
    await desk.store.waited(desk.pool.id, [4])
    assert await desk.store.waits(desk.pool.id) == [5, 3, 4]
    await desk.store.waited(desk.pool.id, list(range(WAITS_MOST - 1)))
    assert await desk.store.waits(desk.pool.id) == [4, *range(WAITS_MOST - 1)]


async def test_penalties_grow(desk: Desk) -> None:
    """The first is free; a match counts once, also at once and for repeats; waits double up to a limit."""
    account = uuid4().hex
    assert await desk.penalties.until(account, NOW) == 0
    waits = []
    for number in range(9):
        told = await asyncio.gather(*(desk.penalties.declined(account, f"m{number}", NOW) for _ in range(5)))
        assert len(set(told)) == 1
        waits.append(told[0] - NOW)
        assert await desk.penalties.until(account, NOW) == (told[0] if number else 0)
    assert waits == [0, *(min(MOST_MS, FIRST_MS * 2**number) for number in range(8))]
    assert all(one <= other for one, other in itertools.pairwise(waits))
    assert await desk.penalties.until(account, NOW + MOST_MS) == 0
    assert MOST_MS < REMEMBER_MS
    assert await desk.penalties.until(uuid4().hex, NOW) == 0


async def test_a_party(desk: Desk) -> None:
    code = uuid4().hex[:8]
    assert await desk.parties.find(code) is None
    assert await desk.parties.join(code, "b") is NoParty.UNKNOWN
    for _ in range(2):
        await desk.parties.create(code, desk.pool, "a")
    assert await desk.parties.find(code) == Party(code, desk.pool, ("a",))
    assert await desk.parties.enter(code, "a", "a/t") is NoParty.ALONE
    assert await desk.parties.enter(code, "b", "b/t") is NoParty.STRANGER
    for _ in range(2):
        assert await desk.parties.join(code, "b") == Party(code, desk.pool, ("a", "b"))
    assert await desk.parties.join(code, "c") is NoParty.FULL
    await desk.parties.enter(code, "a", "a/t")
    both = await desk.parties.enter(code, "b", "b/t2")
    assert both == Party(code, desk.pool, ("a", "b"), refs={"a": "a/t", "b": "b/t2"})
    assert await desk.parties.leave(code, "c") is NoParty.STRANGER
    for _ in range(2):
        left = await desk.parties.leave(code, "a")
        assert left == Party(code, desk.pool, ("a", "b"), True, {"a": "a/t", "b": "b/t2"})
    assert await desk.parties.enter(code, "b", "b/t3") is NoParty.OVER
    assert await desk.parties.join(code, "b") is NoParty.OVER


async def test_many_join_a_party_at_once(desk: Desk) -> None:
    code = uuid4().hex[:8]
    await desk.parties.create(code, desk.pool, "a")
    answers = await asyncio.gather(*(desk.parties.join(code, f"p{number}") for number in range(100)))
    assert answers.count(NoParty.FULL) == 99
    (joined,) = [one for one in answers if isinstance(one, Party)]
    assert await desk.parties.find(code) == joined


async def _fence(desk: Desk) -> int:
    fence = await desk.store.lease(desk.pool.id, "me", 60_000)
    assert fence is not None
    return fence
