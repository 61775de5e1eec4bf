"""People in the queue, several gateways on one store, on all twins: asked, penalised, rated, in parties, blocked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from uuid import uuid4

import pytest

from kangtou.v1 import game_pb2 as pb
from kangtou_engine.errors import BadOptions
from kangtou_engine.match.match import Game
from kangtou_services.identity import Account
from kangtou_services.log.memory import MemoryMatchStore
from kangtou_services.log.redis import RedisMatchStore
from kangtou_services.marks import MemoryMarks, RedisMarks
from kangtou_services.matchmaking import (
    Matchmaker,
    MatchmakingSettings,
    MemoryPoolStore,
    Pool,
    RedisPoolStore,
    State,
    Status,
)
from kangtou_services.matchmaking.base import Ticket
from kangtou_services.matchmaking.grouping import Windows
from kangtou_services.matchmaking.known import Known
from kangtou_services.matchmaking.matcher import Matcher, MatcherSettings
from kangtou_services.matchmaking.parties import MemoryPartyStore, Party, PartyStore, RedisPartyStore
from kangtou_services.matchmaking.penalties import FIRST_MS, MemoryPenalties, Penalties, RedisPenalties
from kangtou_services.opening import Choice, LiveMatches, Opening
from tests.servers import client_of

from ..conftest import Bound
from ..games import parrot
from .rooms import CLOCKS, OpenTables, choose, eventually
from .test_matchmaking import Call, Gateway, Hall, person

SETTINGS = MatchmakingSettings(tick_s=0.05, sweep_s=0.1, patience_s=0.3, bot_tickets=3)
ASKING = MatcherSettings(silent_ms=2_000, orphan_ms=0, accept_ms=20_000)


class WithSides:
    """A registry of one game, in which four play as partners."""

    def __init__(self) -> None:
        self._game = Game(replace(parrot.GAME, sides=lambda config: ((0, 2), (1, 3)) if config.seats == 4 else ()))

    def names(self) -> tuple[str, ...]:
        return ("parrot",)

    def game(self, name: str, version: int | None = None) -> Game:
        if name != "parrot" or version not in (None, 1):
            raise BadOptions("CM-11.1", "bad_option", "game", name, "parrot")
        return self._game


@dataclass
class Bots:
    """Sends bots into a pool when they are wanted."""

    hall: Rooms
    gateway: Gateway | None = None
    asked: list[int] = field(default_factory=list)

    async def come(self, pool: Pool, missing: int) -> None:
        self.asked.append(missing)
        if len(self.asked) == 1 and self.gateway is not None:
            for number in range(missing):
                Call(self.hall, self.gateway, person(f"bot{number}", "bot"), pool.choice)

    async def placed(self, match_id: str, game: str, seats: Mapping[int, str]) -> None:
        raise AssertionError("none of them is of the house")


@dataclass
class Rooms(Hall):
    """A hall in which people are known."""

    penalties: Penalties = field(default_factory=MemoryPenalties)
    parties: PartyStore = field(default_factory=MemoryPartyStore)
    known: dict[str, Known] = field(default_factory=dict)

    async def knowledge(self, account: Account, choice: Choice) -> Known:
        return self.known.get(account.account_id, Known())

    @asynccontextmanager
    async def gateway(
        self,
        matcher: MatcherSettings = ASKING,
        settings: MatchmakingSettings = SETTINGS,
        bots: Bots | None = None,
    ) -> AsyncIterator[Gateway]:
        tables, live, games = OpenTables(), LiveMatches(self.matches), WithSides()
        opening = Opening(self.matches, tables, CLOCKS)
        work = Matcher(self.pools, games, opening, live, matcher, self.penalties, bots)
        maker = Matchmaker(self.pools, self.marks, work, live, settings, self.knowledge, self.penalties, self.parties)
        maker.start()
        gateway = Gateway(maker, work, tables)
        try:
            yield gateway
        finally:
            for call in gateway.calls:
                await call.end()
            await maker.stop()


@pytest.fixture(params=["memory", "valkey", "cluster"])
async def hall(request: pytest.FixtureRequest) -> AsyncIterator[Rooms]:
    """On each of the twins; its name is a pool that no other test uses."""
    if request.param == "memory":
        yield Rooms(MemoryPoolStore(), MemoryMarks(), MemoryMatchStore())
        return
    async with client_of(request.getfixturevalue(request.param)) as client:
        yield Rooms(
            RedisPoolStore(client),
            RedisMarks(client),
            RedisMatchStore(client),
            penalties=RedisPenalties(client),
            parties=RedisPartyStore(client),
        )


async def offered(call: Call) -> Status:
    """A match was found for it."""
    return await call.until(lambda it: isinstance(it, Status) and it.state is State.OFFERED)


async def answer(gateway: Gateway, call: Call, match: str, *, accept: bool = True) -> Status | pb.Refusal:
    return await gateway.maker.answer(call.account.account_id, call.ticket, match, accept)


RATED = choose(rated=True)


async def test_people_are_asked_and_take_it(hall: Rooms) -> None:
    """Answers may come through any gateway; the match is made when the last has taken it."""
    async with hall.gateway() as one, hall.gateway() as two:
        calls = [Call(hall, gateway, person(name), RATED) for gateway, name in ((one, "a"), (two, "b"))]
        found = [await offered(call) for call in calls]
        match = found[0].match_id
        assert match == found[1].match_id
        assert {status.seat for status in found} == {0, 1}
        assert await hall.matches.agreement(match) is None
        assert found[0].answer_by_ms > 0
        first = await answer(two, calls[0], match)
        assert isinstance(first, Status)
        assert (first.state, first.accepted) == (State.ACCEPTED, 1)
        waits = await calls[1].until(lambda it: isinstance(it, Status) and it.accepted == 1)
        assert waits.state is State.OFFERED
        last = await answer(two, calls[1], match)
        assert isinstance(last, Status)
        assert last.state is State.MATCHED
        assert {(await call.ready()).match_id for call in calls} == {match}
        agreement = await hall.agreement(match)
        assert [member.account_id for member in agreement.members] == [
            call.account.account_id for _, call in sorted(zip(found, calls, strict=True), key=lambda row: row[0].seat)
        ]
        repeated = await answer(one, calls[1], match)
        assert isinstance(repeated, Status)


async def test_bots_and_unrated_pools_are_not_asked(hall: Rooms) -> None:
    async with hall.gateway() as gateway:
        for kind, choice in (("bot", RATED), ("human", choose())):
            calls = [Call(hall, gateway, person(name, kind), choice) for name in "ab"]
            for call in calls:
                await call.ready()
                assert State.OFFERED not in [one.state for one in call.told if isinstance(one, Status)]


async def test_who_declines_often_waits(hall: Rooms) -> None:
    """The first time is free; then the refusal says for how long. The other keeps its place throughout."""
    async with hall.gateway() as gateway:
        patient, fickle = Call(hall, gateway, person("a"), RATED), person("b")
        for _ in range(2):
            call = Call(hall, gateway, fickle, RATED)
            match = (await offered(call)).match_id
            declined = await answer(gateway, call, match, accept=False)
            assert isinstance(declined, Status)
            assert await call.ended() is State.DECLINED
            await patient.waits()
        refused = Call(hall, gateway, fickle, RATED)
        assert await refused.refused() == "declined_often"
        (told,) = refused.told
        assert isinstance(told, pb.Refusal)
        assert "queue again in 30 s" in told.text_en or "queue again in 29 s" in told.text_en
        await Call(hall, gateway, fickle, choose()).waits()  # pools that do not ask are open
        other = Call(hall, gateway, person("c"), RATED)
        match = (await offered(other)).match_id
        assert (await offered(patient)).match_id == match
        for call in (patient, other):
            await answer(gateway, call, match)
        assert (await patient.ready()).match_id == match


async def test_who_does_not_answer_is_out(hall: Rooms) -> None:
    """After the time the one who took it waits again, the other's ticket is over, and counts as declined."""
    quick = replace(ASKING, accept_ms=150)
    async with hall.gateway(quick) as one, hall.gateway(quick) as two:
        calls = [Call(hall, one, person("a"), RATED), Call(hall, two, person("b"), RATED)]
        match = (await offered(calls[0])).match_id
        assert isinstance(await answer(two, calls[0], match), Status)
        assert await calls[1].ended() is State.MISSED
        await calls[0].waits()
        late = await answer(two, calls[1], match)
        assert isinstance(late, pb.Refusal)
        assert late.code == "offer_over"
        assert await hall.penalties.declined(calls[1].account.account_id, "another", 1) == 1 + FIRST_MS  # the second


async def test_an_answer_to_nothing(hall: Rooms) -> None:
    async with hall.gateway() as gateway:
        call = Call(hall, gateway, person("a"), RATED)
        await call.waits()
        for ticket, match in ((call.ticket, "m"), ("other", "m")):
            told = await gateway.maker.answer(call.account.account_id, ticket, match, True)
            assert isinstance(told, pb.Refusal)
            assert told.code == "offer_over"
        later = Call(hall, gateway, call.account, RATED, ticket="other")
        assert await later.refused() == "already_queued"  # asking about it has not used it up


async def test_a_gateway_that_dies_before_it_opens_the_match(hall: Rooms) -> None:
    """All have taken it; whoever sees the offer makes the match."""
    async with hall.gateway() as one:
        calls = [Call(hall, one, person(name), RATED) for name in "ab"]
        match = (await offered(calls[0])).match_id
        pool = Pool(hall.name, RATED, "human").id
        for call in calls:  # as a gateway does that is killed right after the store has it
            await hall.pools.answer(pool, f"{call.account.account_id}/{call.ticket}", match, True, 0)
        assert {(await call.ready()).match_id for call in calls} == {match}


async def test_a_window_that_widens(hall: Rooms, bound: Bound) -> None:
    """Far apart they wait; after a while they meet. Whoever is near meets at once."""
    slow = replace(ASKING, accept_ms=0, windows=Windows(points=100, per_s=300, open_s=30))
    async with hall.gateway(slow) as gateway:
        people = {name: person(name) for name in "abc"}
        for name, rating in (("a", 1500), ("b", 1900), ("c", 1880)):
            hall.known[people[name].account_id] = Known(rating)
        calls = {name: Call(hall, gateway, people[name], RATED) for name in "abc"}
        match = (await calls["b"].ready()).match_id
        assert (await calls["c"].ready()).match_id == match
        assert not calls["a"].task.done()
        hall.known[people["a"].account_id] = Known(1500)
        later = person("d")
        hall.known[later.account_id] = Known(1900)
        began = asyncio.get_running_loop().time()
        call = Call(hall, gateway, later, RATED)
        assert (await call.ready()).match_id == (await calls["a"].ready()).match_id
        assert asyncio.get_running_loop().time() - began < bound(5)


async def test_blocked_accounts_are_not_paired(hall: Rooms) -> None:
    async with hall.gateway() as gateway:
        shy, rude, other = person("a"), person("b"), person("c")
        hall.known[shy.account_id] = Known(None, (rude.account_id,))
        calls = []
        for account in (shy, rude):
            calls.append(Call(hall, gateway, account, choose()))
            await calls[-1].waits()
        await asyncio.sleep(0.3)  # a few runs of the matcher
        assert await hall.waiting(choose()) == 2
        third = Call(hall, gateway, other, choose())
        assert (await third.ready()).match_id == (await calls[0].ready()).match_id
        assert not calls[1].task.done()


async def test_how_long_it_takes(hall: Rooms) -> None:
    async with hall.gateway() as gateway:
        first = Call(hall, gateway, person("x"), choose())
        assert (await first.waits()).estimate_ms == 0
        await first.end()
        await hall.pools.waited(Pool(hall.name, choose()).id, [100, 90_000, 7_000, 5_000, 300])
    async with hall.gateway() as gateway:
        call = Call(hall, gateway, person("a"), choose(3))
        other = Call(hall, gateway, person("b"), choose())
        await other.until(lambda it: isinstance(it, Status) and it.estimate_ms == 5_000)
        assert (await call.waits()).estimate_ms == 0


FOUR = choose(4)


async def party_of(hall: Rooms, *accounts: Account, choice: Choice = FOUR) -> str:
    code = uuid4().hex[:8]
    await hall.parties.create(code, Pool(hall.name, choice), accounts[0].account_id)
    for account in accounts[1:]:
        assert isinstance(await hall.parties.join(code, account.account_id), Party)
    return code


async def test_a_party_sits_as_partners(hall: Rooms) -> None:
    async with hall.gateway() as one, hall.gateway() as two:
        pair = [person("a"), person("b")]
        code = await party_of(hall, *pair)
        half = Call(hall, one, pair[0], FOUR, party=code)
        await half.waits()
        singles = [Call(hall, two, person(name), FOUR) for name in "cd"]
        for call in singles:
            await call.waits()
        other = Call(hall, two, pair[1], FOUR, party=code)
        found = [await call.ready() for call in (half, other, *singles)]
        assert len({status.match_id for status in found}) == 1
        assert (found[0].seat - found[1].seat) % 2 == 0
        assert sorted(status.seat for status in found) == [0, 1, 2, 3]


async def test_who_may_queue_as_a_party(hall: Rooms) -> None:
    async with hall.gateway() as gateway:
        alone, stranger = person("a"), person("c")
        code = await party_of(hall, alone)
        assert await Call(hall, gateway, alone, FOUR, party=code).refused() == "party_alone"
        assert await Call(hall, gateway, alone, FOUR, party="nowhere").refused() == "unknown_party"
        assert await Call(hall, gateway, stranger, FOUR, party=code).refused() == "not_in_party"
        await hall.parties.join(code, "somebody")
        assert await Call(hall, gateway, alone, choose(4, rounds=1), party=code).refused() == "party_elsewhere"
        await hall.parties.leave(code, "somebody")
        assert await Call(hall, gateway, alone, FOUR, party=code).refused() == "party_over"


async def test_leaving_a_party_in_the_moment_of_its_match(hall: Rooms) -> None:
    """Either both are in the match, or neither is: nobody is matched with half a party."""
    async with hall.gateway() as one, hall.gateway() as two:
        for number in range(8):
            pair, others = [person("a"), person("b")], [person(name) for name in "cd"]
            code = await party_of(hall, *pair)
            calls = [Call(hall, one, account, FOUR, party=code) for account in pair]
            for call in calls:
                await call.waits()
            single = [Call(hall, two, account, FOUR) for account in others]
            for _ in range(number):
                await asyncio.sleep(0.002)
            left = await hall.parties.leave(code, pair[0].account_id)
            assert isinstance(left, Party)
            pool = Pool(hall.name, FOUR).id
            taken = [await two.maker.take_back(pool, ref) for _, ref in sorted(left.refs.items())]
            ends = [await call.ended() for call in calls]
            assert ends in ([State.READY] * 2, [State.CANCELLED] * 2)
            assert {status.state for status in taken} <= (
                {State.CANCELLED} if ends[0] is State.CANCELLED else {State.MATCHED, State.READY}
            )
            for call in single:
                if ends[0] is State.READY:
                    await call.ready()
                else:
                    await call.waits()
                    await call.end()
            await eventually(lambda: hall.waiting(FOUR), lambda count: count == 0)


async def test_bots_come_after_a_while(hall: Rooms) -> None:
    """They are called as long as they are wanted, and queue like anybody else; rated pools of people never call."""
    bots = Bots(hall)
    patience = replace(SETTINGS, fill_after_ms=200)
    async with hall.gateway(settings=patience, bots=bots) as gateway:
        bots.gateway = gateway
        rated = Call(hall, gateway, person("r"), RATED)
        await rated.waits()
        call = Call(hall, gateway, person("a"), choose(3))
        await call.waits()
        members = (await hall.agreement((await call.ready()).match_id)).members
        assert sorted(member.kind for member in members) == ["bot", "bot", "human"]
        assert bots.asked[0] == 2
        assert not rated.task.done()
        assert len(set(bots.asked)) <= 2


async def test_tickets_of_an_older_release_can_be_read(hall: Rooms) -> None:
    ticket = Ticket.from_json('{"ticket_id":"t","account_id":"a","kind":"human","name":"a","later":1}')
    assert ticket == Ticket("t", "a", "human", "a")
    assert Ticket.from_json(replace(ticket, blocks=("x", "y")).to_json()).blocks == ("x", "y")
