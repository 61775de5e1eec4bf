"""Matchmaking as gateways offer it, with several gateways on one store, on all twins."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import pytest
from redis.asyncio import Redis

from kangtou.v1 import game_pb2 as pb
from kangtou_engine.shuffle import entropy_commitment, seed_commitment
from kangtou_services.agreement import Agreement
from kangtou_services.identity import Account, StoreUnavailable
from kangtou_services.log.base import MatchStore
from kangtou_services.log.memory import MemoryMatchStore
from kangtou_services.log.redis import RedisMatchStore
from kangtou_services.marks import Marks, MemoryMarks, RedisMarks
from kangtou_services.matchmaking import (
    Matchmaker,
    MatchmakingSettings,
    MemoryPoolStore,
    Pool,
    PoolStore,
    RedisPoolStore,
    State,
    Status,
    Ticket,
)
from kangtou_services.matchmaking.grouping import in_order
from kangtou_services.matchmaking.matcher import Matcher, MatcherSettings
from kangtou_services.opening import Choice, LiveMatches, Opening
from tests.servers import client_of

from .rooms import CLOCKS, GAMES, OpenTables, choose, eventually

SETTINGS = MatchmakingSettings(tick_s=0.05, sweep_s=0.1, patience_s=0.3, bot_tickets=3)
MATCHER = MatcherSettings(silent_ms=400, orphan_ms=0)


@dataclass
class Gateway:
    """One gateway's part."""

    maker: Matchmaker
    matcher: Matcher
    tables: OpenTables
    calls: list[Call] = field(default_factory=list)


@dataclass
class Hall:
    """What gateways share."""

    pools: PoolStore
    marks: Marks
    matches: MatchStore
    name: str = field(default_factory=lambda: uuid4().hex)

    @asynccontextmanager
    async def gateway(
        self, matcher: MatcherSettings = MATCHER, settings: MatchmakingSettings = SETTINGS
    ) -> AsyncIterator[Gateway]:
        """One more."""
        tables = OpenTables()
        live = LiveMatches(self.matches)
        work = Matcher(self.pools, GAMES, Opening(self.matches, tables, CLOCKS), live, matcher)
        maker = Matchmaker(self.pools, self.marks, work, live, SETTINGS)
        maker.start()
        gateway = Gateway(maker, work, tables)
        try:
            yield gateway
        finally:
            for call in gateway.calls:
                await call.end()
            await maker.stop()

    async def agreement(self, match: str) -> Agreement:
        text = await self.matches.agreement(match)
        assert text is not None
        return Agreement.from_json(text)

    async def waiting(self, choice: Choice, kind: str = "") -> int:
        return len((await self.pools.look(Pool(self.name, choice, kind).id)).waiting)


@pytest.fixture(params=["memory", "valkey", "cluster"])
async def hall(request: pytest.FixtureRequest) -> AsyncIterator[Hall]:
    """On each of the twins; its name is a pool that no other test uses."""
    if request.param == "memory":
        yield Hall(MemoryPoolStore(), MemoryMarks(), MemoryMatchStore())
        return
    async with client_of(request.getfixturevalue(request.param)) as client:
        yield _on(client)


def _on(client: Redis) -> Hall:
    return Hall(RedisPoolStore(client), RedisMarks(client), RedisMatchStore(client))


def person(name: str, kind: str = "human") -> Account:
    """An account."""
    return Account(f"{name}-{uuid4().hex[:8]}", name, kind)


class Call:
    """A client's quick match: what it was told so far."""

    def __init__(
        self,
        hall: Hall,
        gateway: Gateway,
        account: Account,
        choice: Choice,
        ticket: str = "",
        commitment: str = "",
        party: str = "",
    ) -> None:
        self.account = account
        self.ticket = ticket or uuid4().hex
        self.told: list[Status | pb.Refusal] = []
        self._heard = asyncio.Event()
        args = (account, hall.name, choice, commitment, self.ticket, party)
        self.task = asyncio.create_task(self._follow(gateway.maker, *args))
        gateway.calls.append(self)

    async def _follow(self, maker: Matchmaker, *args: Any) -> None:
        async with aclosing(maker.quick(*args)) as news:
            async for status in news:
                self.told.append(status)
                self._heard.set()

    async def until(self, wanted: Callable[[Status | pb.Refusal], bool]) -> Status:
        async with asyncio.timeout(60):
            while not (self.told and wanted(self.told[-1])):
                self._heard.clear()
                await self._heard.wait()
        status = self.told[-1]
        assert isinstance(status, Status)
        return status

    async def waits(self) -> Status:
        return await self.until(lambda it: isinstance(it, Status) and it.state is State.WAITING)

    async def ended(self) -> State:
        """How the ticket ended."""
        await asyncio.wait_for(self.task, 60)
        status = self.told[-1]
        assert isinstance(status, Status), status
        return status.state

    async def ready(self) -> Status:
        await asyncio.wait_for(self.task, 60)
        status = self.told[-1]
        assert isinstance(status, Status), status
        assert status.state is State.READY
        return status

    async def refused(self) -> str:
        await asyncio.wait_for(self.task, 60)
        (refusal,) = self.told
        assert isinstance(refusal, pb.Refusal), refusal
        assert refusal.text_en
        assert refusal.text_zh
        return refusal.code

    async def end(self) -> None:
        """The client ends the call."""
        self.task.cancel()
        with contextlib.suppress(asyncio.CancelledError, StoreUnavailable):
            await self.task


async def test_a_full_group_gets_a_match(hall: Hall) -> None:
    async with hall.gateway() as gateway:
        people = [person("a"), person("b", "bot"), person("c")]
        entropies = [b"x", b"y", b"z"]
        calls = []
        for account, entropy in zip(people, entropies, strict=True):
            calls.append(Call(hall, gateway, account, choose(3), commitment=entropy_commitment(entropy)))
            assert (await calls[-1].waits()).waiting in (1, 2, 3)
        found = [await call.ready() for call in calls]
        assert len({status.match_id for status in found}) == 1
        assert sorted(status.seat for status in found) == [0, 1, 2]
        match = found[0].match_id
        assert match in gateway.tables.opened
        agreement = await hall.agreement(match)
        for account, entropy, status in zip(people, entropies, found, strict=True):
            member = agreement.members[status.seat]
            assert (member.account_id, member.name, member.kind) == (account.account_id, account.name, account.kind)
            assert member.commitment == entropy_commitment(entropy)
        seed = await hall.matches.seed(match)
        assert seed is not None
        assert len(seed) == 32
        assert agreement.seed_commitment == seed_commitment(match, seed)
        assert (agreement.game, agreement.version, agreement.seats, agreement.options) == (
            "parrot",
            1,
            3,
            {"rounds": 2},
        )
        assert (agreement.turn_ms, agreement.window_ms, agreement.open_wait_ms) == (1_000, 2_000, 100)
        assert (agreement.pool, agreement.rated) == (hall.name, False)
        assert match in await hall.matches.live()


async def test_what_a_client_is_told(hall: Hall) -> None:
    async with hall.gateway() as gateway:
        gateway.tables.hold.clear()
        first = Call(hall, gateway, person("a"), choose())
        assert await first.waits() == Status(State.WAITING, waiting=1)
        second = Call(hall, gateway, person("b"), choose())
        matched = await first.until(lambda it: isinstance(it, Status) and it.state is State.MATCHED)
        gateway.tables.hold.set()
        ready = await first.ready()
        assert (ready.match_id, ready.seat) == (matched.match_id, matched.seat)
        await second.ready()
        states = [status.state for status in first.told if isinstance(status, Status)]
        assert states == sorted(states, key=[State.WAITING, State.MATCHED, State.READY].index)


async def test_a_client_that_reads_late_is_told_the_end(hall: Hall) -> None:
    async with hall.gateway() as gateway:
        slow = person("slow")
        news = gateway.maker.quick(slow, hall.name, choose(), "", uuid4().hex)
        async with aclosing(news):
            first = await anext(news)
            assert first == Status(State.WAITING, waiting=1)
            await Call(hall, gateway, person("b"), choose()).ready()
            told = [status async for status in news]  # it became READY while the first was being read
        assert isinstance(told[-1], Status)
        assert told[-1].state is State.READY


async def test_groups_over_gateways_in_order_of_waiting(hall: Hall) -> None:
    async with hall.gateway() as one, hall.gateway() as two:
        calls = []
        for number in range(7):
            calls.append(Call(hall, (one, two)[number % 2], person(f"p{number}"), choose(4)))
            await calls[-1].waits()
        early = [await call.ready() for call in calls[:4]]
        assert len({status.match_id for status in early}) == 1
        assert [call.task.done() for call in calls[4:]] == [False] * 3
        calls.append(Call(hall, one, person("p7"), choose(4)))
        late = [await call.ready() for call in calls[4:]]
        assert len({status.match_id for status in late}) == 1
        assert {*one.tables.opened, *two.tables.opened} >= {early[0].match_id, late[0].match_id}


async def test_many_at_once_over_gateways(hall: Hall) -> None:
    async with hall.gateway() as one, hall.gateway() as two, hall.gateway() as three:
        gateways = (one, two, three)
        calls = [Call(hall, gateways[number % 3], person(f"p{number}"), choose(4)) for number in range(100)]
        found = [await call.ready() for call in calls]
        seats: dict[str, set[int]] = {}
        for status in found:
            seats.setdefault(status.match_id, set()).add(status.seat)
        assert len(seats) == 25
        assert all(taken == {0, 1, 2, 3} for taken in seats.values())
        for match in seats:
            members = (await hall.agreement(match)).members
            assert [member.account_id for member in members] == [
                call.account.account_id
                for seat in range(4)
                for call, status in zip(calls, found, strict=True)
                if (status.match_id, status.seat) == (match, seat)
            ]


async def test_a_repeat_joins_the_ticket_also_elsewhere_and_later(hall: Hall) -> None:
    async with hall.gateway() as one, hall.gateway() as two:
        account = person("a")
        first = Call(hall, one, account, choose(), ticket="ticket-1")
        await first.waits()
        second = Call(hall, two, account, choose(), ticket="ticket-1")
        assert await second.waits() == Status(State.WAITING, waiting=1)
        await first.end()  # the older call; the newer keeps the place
        other = Call(hall, one, person("b"), choose())
        ready = await second.ready()
        assert (await other.ready()).match_id == ready.match_id
        third = Call(hall, one, account, choose(), ticket="ticket-1")
        again = await third.ready()
        assert (again.match_id, again.seat) == (ready.match_id, ready.seat)
        assert len(third.told) == 1
        await asyncio.sleep(0)


async def test_the_older_call_goes_on_when_the_newer_ends(hall: Hall) -> None:
    async with hall.gateway() as one, hall.gateway() as two:
        account = person("a")
        first = Call(hall, one, account, choose(), ticket="ticket-1")
        await first.waits()
        second = Call(hall, two, account, choose(), ticket="ticket-1")
        await second.waits()
        await second.end()
        other = Call(hall, two, person("b"), choose())
        assert (await first.ready()).match_id == (await other.ready()).match_id


async def test_ids_are_for_one_content(hall: Hall) -> None:
    async with hall.gateway() as gateway:
        account = person("a")
        first = Call(hall, gateway, account, choose(), ticket="ticket-1")
        await first.waits()
        assert await Call(hall, gateway, account, choose(3), ticket="ticket-1").refused() == "id_reused"
        other = Call(hall, gateway, account, choose(), ticket="ticket-1", commitment="ab" * 32)
        assert await other.refused() == "id_reused"
        await Call(hall, gateway, person("b"), choose(), ticket="ticket-1").ready()  # another account's ids are its own


@pytest.mark.parametrize(
    ("ticket", "pool", "commitment", "code"),
    [
        ("bad id", "", "", "bad_id"),
        ("x" * 65, "", "", "bad_id"),
        ("x", "a pool", "", "bad_pool"),
        ("x", "p" * 33, "", "bad_pool"),
        ("x", "", "ABCD", "bad_commitment"),
        ("x", "", "AB" * 32, "bad_commitment"),
    ],
)
async def test_malformed_tickets(hall: Hall, ticket: str, pool: str, commitment: str, code: str) -> None:
    async with hall.gateway() as gateway:
        hall.name = pool
        call = Call(hall, gateway, person("a"), choose(), ticket=ticket, commitment=commitment)
        assert await call.refused() == code


async def test_cancelling(hall: Hall) -> None:
    async with hall.gateway() as one, hall.gateway() as two:
        call = Call(hall, one, person("a"), choose())
        await call.waits()
        for _ in range(2):
            answer = await two.maker.cancel(call.account.account_id, call.ticket)
            assert answer.state is State.CANCELLED
        await asyncio.wait_for(call.task, 60)
        assert isinstance(call.told[-1], Status)
        assert call.told[-1].state is State.CANCELLED
        again = Call(hall, one, call.account, choose(), ticket=call.ticket)
        await asyncio.wait_for(again.task, 60)
        assert [status.state for status in again.told if isinstance(status, Status)] == [State.CANCELLED]
        assert await hall.waiting(choose()) == 0


async def test_a_ticket_cancelled_before_it_comes(hall: Hall) -> None:
    async with hall.gateway() as gateway:
        account = person("a")
        assert (await gateway.maker.cancel(account.account_id, "early")).state is State.CANCELLED
        call = Call(hall, gateway, account, choose(), ticket="early")
        await asyncio.wait_for(call.task, 60)
        assert call.told == [Status(State.CANCELLED)]


async def test_cancel_in_the_moment_of_the_match(hall: Hall) -> None:
    """Whoever is told CANCELLED is in no match, whoever is told MATCHED or READY is in one."""
    async with hall.gateway() as one, hall.gateway() as two:
        for number in range(25):
            first = Call(hall, one, person("a"), choose())
            await first.waits()
            second = Call(hall, two, person("b"), choose())
            for _ in range(number % 7):
                await asyncio.sleep(0)
            answer = await two.maker.cancel(first.account.account_id, first.ticket)
            if answer.state is State.CANCELLED:
                await asyncio.wait_for(first.task, 60)
                assert isinstance(first.told[-1], Status)
                assert first.told[-1].state is State.CANCELLED
                await second.end()
                await eventually(lambda: hall.waiting(choose()), lambda count: count == 0)  # else it meets the next
            else:
                ready = await first.ready()
                assert ready.match_id == answer.match_id == (await second.ready()).match_id
        assert await eventually(lambda: hall.waiting(choose()), lambda count: count == 0) == 0


async def test_ending_the_call_gives_the_place_up(hall: Hall) -> None:
    async with hall.gateway() as gateway:
        first = Call(hall, gateway, person("a"), choose())
        await first.waits()
        await first.end()
        await eventually(lambda: hall.waiting(choose()), lambda count: count == 0)
        second = Call(hall, gateway, person("b"), choose())
        await second.waits()
        back = Call(hall, gateway, first.account, choose(), ticket=first.ticket)
        assert (await back.ready()).match_id == (await second.ready()).match_id


async def test_tickets_of_a_gateway_that_died_drop_out(hall: Hall) -> None:
    choice = choose()
    pool = Pool(hall.name, choice)
    ticket = Ticket("t", "dead", "human", "dead")
    await hall.pools.enqueue(pool, ticket, "s", 1, 0)  # its last sign of life was long ago
    async with hall.gateway() as gateway:
        call = Call(hall, gateway, person("a"), choice)
        await call.waits()
        await eventually(lambda: hall.waiting(choice), lambda count: count == 1)
        assert not call.task.done()
        other = Call(hall, gateway, person("b"), choice)
        assert (await call.ready()).match_id == (await other.ready()).match_id


async def test_a_matcher_that_dies_after_the_offer(hall: Hall) -> None:
    """The next one finishes what it began, under the same match id."""
    never = MatcherSettings(silent_ms=60_000, orphan_ms=3_600_000)
    async with hall.gateway(never) as dying:
        dying.tables.hold.clear()
        calls = [Call(hall, dying, person(name), choose(), ticket=f"t-{name}") for name in "ab"]
        offered = [await call.until(lambda it: isinstance(it, Status) and it.state is State.MATCHED) for call in calls]
        await dying.matcher.stop()
        for call in calls:
            await call.end()
    async with hall.gateway() as living:
        again = [Call(hall, living, call.account, choose(), ticket=call.ticket) for call in calls]
        found = [await call.ready() for call in again]
        assert [(it.match_id, it.seat) for it in found] == [(it.match_id, it.seat) for it in offered]
        assert found[0].match_id in living.tables.opened
        assert (await hall.agreement(found[0].match_id)).seats == 2


async def test_an_offer_is_finished_also_when_no_client_asks(hall: Hall) -> None:
    pool = Pool(hall.name, choose())
    tickets = [Ticket("t", name, "human", name) for name in ("a", "b")]
    for ticket in tickets:
        await hall.pools.enqueue(pool, ticket, "s", 1, 10**13)
    fence = await hall.pools.lease(pool.id, "dead", 50)
    assert fence is not None
    match = uuid4().hex[:16]
    assert await hall.pools.offer(pool.id, fence, match, [ticket.ref for ticket in tickets], 0)
    async with hall.gateway() as gateway:
        await eventually(lambda: hall.matches.agreement(match))
        look = await eventually(lambda: hall.pools.look(pool.id), lambda look: not look.offers)
        assert look.seats == {match: ("a", "b")}
        assert match in gateway.tables.opened


async def test_two_matchers_that_finish_one_offer_make_one_match(hall: Hall) -> None:
    async with hall.gateway() as one, hall.gateway() as two:
        one.tables.hold.clear()
        two.tables.hold.clear()
        calls = [Call(hall, gateway, person("p"), choose()) for gateway in (one, two)]
        matched = [await call.until(lambda it: isinstance(it, Status) and it.state is State.MATCHED) for call in calls]
        match = matched[0].match_id
        seed = await eventually(lambda: hall.matches.seed(match))
        for gateway in (one, two):
            await eventually(lambda: _asked(gateway, match))  # noqa: B023 - awaited here
        for gateway in (one, two):
            gateway.tables.hold.set()
        assert {(await call.ready()).match_id for call in calls} == {match}
        assert await hall.matches.seed(match) == seed


async def test_ready_also_when_no_actor_can_host_it_yet(hall: Hall) -> None:
    async with hall.gateway() as gateway:
        gateway.tables.answer = False
        calls = [Call(hall, gateway, person(name), choose()) for name in "ab"]
        assert (await calls[0].ready()).match_id in await hall.matches.live()


async def test_people_have_one_ticket_or_seat(hall: Hall) -> None:
    async with hall.gateway() as gateway:
        account = person("a")
        first = Call(hall, gateway, account, choose())
        await first.waits()
        assert await Call(hall, gateway, account, choose()).refused() == "already_queued"
        await Call(hall, gateway, person("b"), choose()).ready()
        match = (await first.ready()).match_id
        assert await Call(hall, gateway, account, choose()).refused() == "already_playing"
        await Call(hall, gateway, account, choose(3)).waits()  # another pool
        late = Call(hall, gateway, account, choose())
        await hall.matches.retire(match, 60_000)
        assert (await late.waits()).waiting == 1


async def test_bots_have_as_many_as_allowed(hall: Hall) -> None:
    async with hall.gateway() as gateway:
        bot = person("bot", "bot")
        calls = [Call(hall, gateway, bot, choose(4)) for _ in range(3)]
        for call in calls:
            await call.waits()
        assert await Call(hall, gateway, bot, choose(4)).refused() == "too_many_tickets"


async def test_seats_in_ended_matches_are_let_go_without_being_asked(hall: Hall) -> None:
    async with hall.gateway() as gateway:
        calls = [Call(hall, gateway, person(name), choose()) for name in "ab"]
        match = (await calls[0].ready()).match_id
        pool = Pool(hall.name, choose()).id
        assert (await hall.pools.look(pool)).seats
        await hall.matches.retire(match, 60_000)
        await eventually(lambda: hall.pools.look(pool), lambda look: not look.seats)


async def test_rated_pools_of_people_admit_no_bots(hall: Hall) -> None:
    async with hall.gateway() as gateway:
        rated = choose(rated=True)
        human = Call(hall, gateway, person("a"), rated)
        await human.waits()
        bots = [Call(hall, gateway, person("b", "bot"), rated) for _ in range(3)]
        pairs = [call for call in bots if not call.task.done()]
        await asyncio.wait([call.task for call in pairs], return_when=asyncio.FIRST_COMPLETED, timeout=10)
        found = await eventually(lambda: _done(bots), lambda done: len(done) == 2)
        agreement = await hall.agreement((await found[0].ready()).match_id)
        assert agreement.rated
        assert {member.kind for member in agreement.members} == {"bot"}
        assert not human.task.done()
        other = Call(hall, gateway, person("c"), rated)
        agreement = await hall.agreement((await other.ready()).match_id)
        assert {member.kind for member in agreement.members} == {"human"}
        mixed = [Call(hall, gateway, person("d"), choose()), Call(hall, gateway, person("e", "bot"), choose())]
        assert (await mixed[0].ready()).match_id == (await mixed[1].ready()).match_id


async def _asked(gateway: Gateway, match: str) -> bool:
    return match in gateway.tables.asked


async def _done(calls: list[Call]) -> list[Call]:
    return [call for call in calls if call.task.done()]


async def test_an_outage_of_the_store_is_not_the_players(hall: Hall) -> None:
    if not isinstance(hall.pools, MemoryPoolStore):
        return  # the twin in memory can be switched off
    async with hall.gateway() as gateway:
        call = Call(hall, gateway, person("a"), choose())
        await call.waits()
        hall.pools.reached = False
        with pytest.raises(StoreUnavailable):
            await Call(hall, gateway, person("b"), choose()).ready()
        await asyncio.sleep(0.6)  # longer than a ticket may be silent
        assert not call.task.done()
        hall.pools.reached = True
        other = Call(hall, gateway, person("c"), choose())
        assert (await call.ready()).match_id == (await other.ready()).match_id


def test_groups_are_formed_in_order_of_waiting() -> None:
    tickets = [Ticket(str(number), account, "bot", "") for number, account in enumerate("aabacbd")]
    assert _ids(in_order(tickets, 2, distinct=False)) == ["01", "23", "45"]
    assert _ids(in_order(tickets, 2, distinct=True)) == ["02", "14", "35"]
    assert _ids(in_order(tickets, 3, distinct=True)) == ["024", "156"]
    assert in_order(tickets[:1], 2, distinct=False) == []
    assert in_order(tickets[:2], 2, distinct=True) == []
    assert in_order([], 4, distinct=True) == []


def _ids(formed: list[tuple[Ticket, ...]]) -> list[str]:
    return ["".join(ticket.ticket_id for ticket in group) for group in formed]
