"""People over gRPC, on two gateways, in memory and on Redis: asked, partners, blocked, rated."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from uuid import uuid4

import grpc
import pytest

from kangtou.v1 import game_pb2, party_pb2, people_pb2, rating_pb2, rating_pb2_grpc
from kangtou_clients.api import Client, Ending, Match, connect
from kangtou_clients.api.lobby import Place, Queued, QuickMatch, Wanted
from kangtou_clients.api.parties import Parties, wanted_of
from kangtou_clients.api.people import People
from kangtou_clients.api.values import NotAuthenticated, Refused
from kangtou_clients.bots.player import Tally, dice, play
from kangtou_services.embedded import EmbeddedServer
from kangtou_services.ratings import Ladder, Result
from kangtou_services.ratings.rebuild import check

from ..contract.rooms import eventually
from ..servers import redis_server
from .towns import Town, town_of

PAIR = Wanted("parrot", seats=2, options={"rounds": 1})


@pytest.fixture(scope="module")
def redis() -> Iterator[EmbeddedServer]:
    """One server for this module."""
    with redis_server() as server:
        yield server


@pytest.fixture(params=["memory", "redis"])
async def town(request: pytest.FixtureRequest) -> AsyncIterator[Town]:
    """On either."""
    url = request.getfixturevalue("redis").url if request.param == "redis" else ""
    async with town_of(url) as found:
        yield found


async def identity_of(client: Client) -> str:
    return (await client.accounts.who_am_i()).account_id


def refused(answer: object) -> str:
    """The code of a refusal in both languages."""
    assert isinstance(answer, Refused), answer
    assert answer.text_en
    assert answer.text_zh
    return answer.code


async def _ratings(clients: Sequence[Client]) -> list[tuple[rating_pb2.Rating, ...]]:
    return [await People(client).ratings() for client in clients]


async def offer_of(queue: QuickMatch, told: list[Queued]) -> Queued:
    """Until a match was found."""
    async for status in queue.statuses():
        told.append(status)
        if status.state == "offered":
            return status
    raise AssertionError(told)


async def test_a_rated_match_is_taken_played_and_rated(town: Town) -> None:
    """From the queue to the leaderboard's numbers; the client takes what is offered by itself."""
    clients = [await town.client(name, gateway, "human") for name, gateway in (("Ann", 0), ("Bob", 1))]
    pool, wanted = uuid4().hex[:8], Wanted("erbaiwu", seats=2, options={"rounds": 1})
    queues = [client.lobby.quick(wanted, rated=True, pool=pool) for client in clients]
    found = await asyncio.wait_for(asyncio.gather(*(queue.place() for queue in queues)), 60)
    places = [place for place in found if isinstance(place, Place)]
    assert len(places) == 2

    async def one(client: Client, place: Place) -> None:
        async with client.play() as session:
            match = await session.attach(place.match_id, entropy=place.entropy)
            assert isinstance(match, Match)
            assert isinstance(await play(match, "greedy", dice(place.seat), Tally()), Ending)

    async with asyncio.timeout(60):
        await asyncio.gather(*(one(client, place) for client, place in zip(clients, places, strict=True)))
        ids = [await identity_of(client) for client in clients]
        ratings = await eventually(lambda: _ratings(clients), all)
    (mine,), (theirs,) = ratings
    assert (mine.ladder.game, mine.games, mine.provisional) == ("erbaiwu", 1, True)
    assert min(mine.rating, theirs.rating) <= 1500 <= max(mine.rating, theirs.rating)
    profile = await People(clients[1]).profile(ids[0])
    assert isinstance(profile, people_pb2.Profile)
    assert (profile.account.name, list(profile.ratings)) == ("Ann", [mine])
    assert profile.joined_ms > 0
    assert (await check(town.backend.ratings)).difference == ""


async def test_declining_and_waiting(town: Town) -> None:
    ann, bob = await town.client("Ann", 0, "human"), await town.client("Bob", 1, "human")
    pool = uuid4().hex[:8]
    patient = ann.lobby.quick(PAIR, rated=True, pool=pool, take=False)
    told: list[Queued] = []
    async with asyncio.timeout(60):
        for _ in range(2):
            fickle = bob.lobby.quick(PAIR, rated=True, pool=pool, take=False)
            (mine, theirs) = await asyncio.gather(offer_of(patient, told), offer_of(fickle, []))
            assert mine.match_id == theirs.match_id
            assert mine.answer_by_ms > 0
            assert await fickle.answer(theirs.match_id, accept=False) is None
            assert refused(await patient.answer(mine.match_id, accept=True)) == "offer_over"
        again = await bob.lobby.quick(PAIR, rated=True, pool=pool).place()
        assert refused(again) == "declined_often"
    await patient.cancel()


async def test_partners(town: Town) -> None:
    """Two make a party, the others queue alone; the party sits opposite."""
    clients = [await town.client(name, number % 2) for number, name in enumerate(("Ann", "Bob", "Cat", "Dan"))]
    ann, bob, cat, _ = clients
    pool = uuid4().hex[:8]
    wanted = Wanted("duizhu", options={"end_level": "4"})
    party = await Parties(ann).create(wanted, pool=pool, command_id="p1")
    assert isinstance(party, party_pb2.Party)
    assert party == await Parties(ann).create(wanted, pool=pool, command_id="p1")
    assert refused(await Parties(ann).create(Wanted("duizhu"), pool=pool, command_id="p1")) == "id_reused"
    assert refused(await Parties(ann).create(Wanted("hongshi"))) == "party_no_sides"
    assert refused(await Parties(ann).create(Wanted("wushik", options={"variant": "liaoning"}))) == "party_no_sides"
    assert refused(await Parties(ann).create(Wanted("duizhu", options={"end_level": "0"}))) == "bad_option"
    assert refused(await Parties(bob).join("nowhere")) == "unknown_party"
    assert refused(await ann.lobby.quick(wanted, pool=pool, party=party.code).place()) == "party_alone"
    joined = await Parties(bob).join(party.code)
    assert isinstance(joined, party_pb2.Party)
    assert [member.name for member in joined.members] == ["Ann", "Bob"]
    assert refused(await Parties(cat).join(party.code)) == "party_full"
    found = await Parties(cat).find(party.code)
    assert isinstance(found, party_pb2.Party)
    assert wanted_of(found).options == {"end_level": "4"}
    code = party.code
    queues = [
        client.lobby.quick(wanted_of(found), pool=pool, party=code if client in (ann, bob) else "")
        for client in clients
    ]
    places = await asyncio.wait_for(asyncio.gather(*(queue.place() for queue in queues)), 60)
    seats = [place.seat for place in places if isinstance(place, Place)]
    assert sorted(seats) == [0, 1, 2, 3]
    assert (seats[0] - seats[1]) % 2 == 0
    assert refused(await Parties(cat).leave(code)) == "not_in_party"
    assert await Parties(bob).leave(code) is None
    assert refused(await ann.lobby.quick(wanted, pool=pool, party=code).place()) == "party_over"


async def test_leaving_takes_both_tickets_back(town: Town) -> None:
    ann, bob = await town.client("Ann", 0), await town.client("Bob", 1)
    party = await Parties(ann).create(Wanted("duizhu"), pool=(pool := uuid4().hex[:8]))
    assert isinstance(party, party_pb2.Party)
    await Parties(bob).join(party.code)
    queues = [one.lobby.quick(Wanted("duizhu"), pool=pool, party=party.code) for one in (ann, bob)]
    waiting = [asyncio.ensure_future(queue.place()) for queue in queues]
    async with asyncio.timeout(60):
        for _ in range(40):  # a ticket may come after it: the repeat takes it back, or it is refused
            assert await Parties(bob).leave(party.code) is None
            await asyncio.wait(waiting, timeout=0.05)
        ends = [refused(await task) for task in waiting]
    assert set(ends) <= {"cancelled", "party_over"}


async def test_a_rated_party_is_of_one_kind(town: Town) -> None:
    ann, bot = await town.client("Ann", 0, "human"), await town.client("Bot", 1, "bot")
    rated = await Parties(ann).create(Wanted("duizhu"), rated=True)
    assert isinstance(rated, party_pb2.Party)
    assert refused(await Parties(bot).join(rated.code)) == "party_kind"
    mixed = await Parties(ann).create(Wanted("duizhu"))
    assert isinstance(mixed, party_pb2.Party)
    assert isinstance(await Parties(bot).join(mixed.code), party_pb2.Party)


async def test_blocks(town: Town) -> None:
    """At the owner's table and in the queue; one direction is enough; nobody is told."""
    ann, bob = await town.client("Ann", 0, "human"), await town.client("Bob", 1, "human")
    whom = await identity_of(bob)
    assert refused(await People(ann).block(await identity_of(ann))) == "block_self"
    assert refused(await People(ann).block("nobody")) == "unknown_account"
    assert await People(ann).block(whom) is None
    assert [one.name for one in await People(ann).blocks()] == ["Bob"]
    assert await People(bob).blocks() == ()
    table = await ann.lobby.open(PAIR)
    assert not isinstance(table, Refused)
    assert refused(await bob.lobby.sit(table.match_id)) == "not_welcome"
    own = await bob.lobby.open(PAIR)
    assert not isinstance(own, Refused)
    assert isinstance(await ann.lobby.sit(own.match_id), Place)  # a block is for one's own tables

    pool = uuid4().hex[:8]
    waiting = [asyncio.ensure_future(client.lobby.quick(PAIR, pool=pool).place()) for client in (ann, bob)]
    await asyncio.sleep(1.2)  # a few runs of the matcher
    assert not any(task.done() for task in waiting)
    cat = await town.client("Cat", 0, "human")
    third = await asyncio.wait_for(cat.lobby.quick(PAIR, pool=pool).place(), 60)
    assert isinstance(third, Place)
    assert sum(task.done() for task in waiting) <= 1
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    await People(ann).unblock(whom)
    assert isinstance(await bob.lobby.sit(table.match_id), Place)


async def test_pages_of_a_leaderboard(town: Town) -> None:
    client = await town.client("Ann", 1)
    ladder = Ladder(f"g{uuid4().hex[:6]}", "", "human")
    for number in range(10):
        for pair in range(6):
            sides = ((f"a{pair}",), (f"b{pair}",))
            await town.backend.ratings.append(Result(uuid4().hex, ladder, sides, (1 + (number < pair), 1), 5))
    stub = rating_pb2_grpc.RatingServiceStub(client.channel)
    asked = rating_pb2.Ladder(game=ladder.game, kind=game_pb2.ACCOUNT_KIND_HUMAN)

    async def page(token: str) -> rating_pb2.GetLeaderboardResponse:
        request = rating_pb2.GetLeaderboardRequest(ladder=asked, page_size=5, page_token=token)
        return await stub.GetLeaderboard(request, metadata=client.metadata())

    found = await eventually(lambda: page(""), lambda page: len(page.rows) == 5, 20)
    rows = list(found.rows)
    while found.next_page_token:
        found = await page(found.next_page_token)
        rows += found.rows
    assert len({row.account_id for row in rows}) == len(rows) == 12
    assert [row.rating.mu - 3 * row.rating.sigma for row in rows] == sorted(
        (row.rating.mu - 3 * row.rating.sigma for row in rows), reverse=True
    )
    assert [row.rank for row in rows] == [1 + sum(_floor(one) > _floor(row) for one in rows) for row in rows]
    assert ladder.game in [one.game for one in await People(client).ladders()]
    request = rating_pb2.GetLeaderboardRequest(ladder=asked, page_token="x")
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await stub.GetLeaderboard(request, metadata=client.metadata())
    assert error.value.code() is grpc.StatusCode.INVALID_ARGUMENT


def _floor(row: rating_pb2.LeaderboardRow) -> float:
    return row.rating.mu - 3 * row.rating.sigma


async def test_who_is_not_signed_in_is_told_nothing(town: Town) -> None:
    async with connect(town.addresses[0], retry_s=0) as nobody:
        for call in (
            People(nobody).profile("x"),
            People(nobody).blocks(),
            People(nobody).ratings("x"),
            Parties(nobody).find("x"),
        ):
            with pytest.raises(NotAuthenticated):
                await call
