"""A hundred clients at three gateways want the same: one has it, everybody is told, and what is dealt is dealt once.

Over gRPC against whole servers, in memory and on Redis.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from uuid import uuid4

import pytest

from kangtou.v1 import lobby_pb2 as pb
from kangtou_clients.api import Client, Place, Refused, TableTerms, Wanted
from kangtou_services.agreement import Agreement
from kangtou_services.embedded import EmbeddedServer

from ..conftest import Counts
from ..contract.rooms import eventually
from ..servers import redis_server
from .towns import Town, town_of

pytestmark = pytest.mark.timeout(900)  # in full each is dozens of races of a hundred clients, which wait for seconds
GATEWAYS, CLIENTS = 3, 100
PAIR = Wanted("parrot", seats=2)


@pytest.fixture(scope="module")
def redis() -> Iterator[EmbeddedServer]:
    """One server for this module."""
    with redis_server() as server:
        yield server


@pytest.fixture(params=["memory", "redis"])
async def town(request: pytest.FixtureRequest) -> AsyncIterator[Town]:
    """On either."""
    url = request.getfixturevalue("redis").url if request.param == "redis" else ""
    async with town_of(url, GATEWAYS) as found:
        yield found


async def crowd(town: Town, number: int = CLIENTS) -> list[Client]:
    """Clients with accounts of their own, spread over the gateways."""
    return list(
        await asyncio.gather(*(town.client(f"c{one}", gateway=one % GATEWAYS, kind="human") for one in range(number)))
    )


async def ids_of(clients: list[Client]) -> list[str]:
    """Their accounts."""
    return [one.account_id for one in await asyncio.gather(*(client.accounts.who_am_i() for client in clients))]


def table_of(answer: pb.Table | Refused) -> pb.Table:
    """What must not be refused."""
    assert isinstance(answer, pb.Table), answer
    return answer


def codes(answers: list[object]) -> Counter[str]:
    """How often each refusal was given."""
    return Counter(answer.code for answer in answers if isinstance(answer, Refused))


async def dealt_once(town: Town, match: str) -> Agreement:
    """The match has one agreement and one log, in which the first round is dealt once."""
    text = await town.backend.store.agreement(match)
    assert text is not None

    async def deals() -> int:
        entries = await town.backend.log.read(match)
        return sum(line.startswith("dealt ") for entry in entries for line in entry.body.split("\n"))

    assert await eventually(deals) == 1
    return Agreement.from_json(text)


async def test_the_last_seat(town: Town, counts: Counts) -> None:
    clients = await crowd(town)
    names = await ids_of(clients)
    owner = await town.client("owner")
    for number in range(counts(3, 40)):
        table = table_of(await owner.lobby.open(PAIR)).match_id
        assert isinstance(await owner.lobby.sit(table, 0), Place)
        seats = [1 if one % 2 else None for one in range(CLIENTS)]
        random.Random(number).shuffle(seats)
        answers = await asyncio.gather(
            *(client.lobby.sit(table, seat) for client, seat in zip(clients, seats, strict=True))
        )
        won = [one for one, answer in enumerate(answers) if isinstance(answer, Place)]
        assert len(won) == 1
        assert set(codes(list(answers))) <= {"table_full", "seat_taken"}
        seen = [table_of(await client.lobby.table(table)) for client in clients[:GATEWAYS]]
        assert {tuple(seat.account_id for seat in one.seats)[1] for one in seen} == {names[won[0]]}
        agreement = await dealt_once(town, table)
        assert agreement.members[1].account_id == names[won[0]]


async def test_the_start_against_leaving(town: Town, counts: Counts) -> None:
    owner, *others = players = await crowd(town, 4)
    names = await ids_of(players)
    started = Counter[bool]()
    for number in range(counts(4, 60)):
        table = table_of(await owner.lobby.open(Wanted("parrot", seats=4), terms=TableTerms("owner"))).match_id
        for client in players:
            assert isinstance(await client.lobby.sit(table), Place)
        for client in others:
            assert isinstance(await client.tables.ready(table), pb.Table)
        stubs = [await town.client(f"o{number}", one) for one in range(GATEWAYS)]
        for stub in stubs:
            stub.token = owner.token
        starts = [stubs[one % GATEWAYS].tables.start(table) for one in range(30)]
        leaving = [others[0].lobby.stand(table)] if number % 2 else [owner.tables.remove(table, names[1])]
        calls = [*starts, *leaving] if number % 4 < 2 else [*leaving, *starts]
        done = dict(zip(calls, await asyncio.gather(*calls), strict=True))
        winners = [call for call in starts if isinstance(done[call], pb.Table)]
        left = isinstance(done[leaving[0]], pb.Table)
        assert len(winners) + left == 1, codes(list(done.values()))
        now = table_of(await owner.lobby.table(table))
        started[not left] += 1
        if left:
            assert set(codes(list(done.values()))) <= {"seats_free", "not_ready"}
            assert (now.state, [bool(seat.account_id) for seat in now.seats].count(False)) == (pb.TABLE_STATE_OPEN, 1)
            assert await town.backend.store.agreement(table) is None
            for client in (*players, owner):
                await client.lobby.stand(table)
        else:
            assert set(codes(list(done.values()))) == {"match_started"}
            assert [member.account_id for member in (await dealt_once(town, table)).members] == names
    print(f"start against leaving: {started[True]} started, {started[False]} left")


async def test_getting_ready_against_removal(town: Town, counts: Counts) -> None:
    owner, guest = await crowd(town, 2)
    names = await ids_of([owner, guest])
    for number in range(counts(4, 60)):
        table = table_of(await owner.lobby.open(PAIR, terms=TableTerms("ready"))).match_id
        for client in (owner, guest):
            assert isinstance(await client.lobby.sit(table), Place)
        assert isinstance(await owner.tables.ready(table), pb.Table)
        calls = [guest.tables.ready(table), owner.tables.remove(table, names[1])]
        if number % 2:
            removed, ready = await asyncio.gather(*reversed(calls))
        else:
            ready, removed = await asyncio.gather(*calls)
        now = table_of(await owner.lobby.table(table))
        if isinstance(ready, pb.Table):
            assert isinstance(removed, Refused)
            assert removed.code == "match_started"
            assert now.state == pb.TABLE_STATE_PLAYING
            await dealt_once(town, table)
        else:
            assert ready.code == "not_seated"
            assert isinstance(removed, pb.Table)
            assert (now.state, now.seats[1].account_id) == (pb.TABLE_STATE_OPEN, "")
            for _ in range(2):  # the seat, then the table
                assert isinstance(await owner.lobby.stand(table), pb.Table)


async def test_a_ticket_taken_back_in_the_moment_of_its_match(town: Town, counts: Counts) -> None:
    clients = await crowd(town)
    names = await ids_of(clients)
    totals = Counter[str]()
    for number in range(counts(2, 20)):
        pool, chance = uuid4().hex, random.Random(number)

        async def one(client: Client, wait: float | None, pool: str = pool) -> Place | None:
            queue = client.lobby.quick(PAIR, pool=pool)
            placed = asyncio.create_task(queue.place())
            if wait is not None:
                await asyncio.sleep(wait)
                late = await queue.cancel()
                result = await placed
                assert (late is None) == isinstance(result, Refused), (late, result)
                assert late is None or (isinstance(result, Place) and late.match_id == result.match_id)
                return late
            try:
                async with asyncio.timeout(60):
                    result = await placed
            except TimeoutError:
                return await queue.cancel()
            assert isinstance(result, Place), result
            return result

        waits = [chance.uniform(0, 0.4) if one % 2 else None for one in range(CLIENTS)]
        # One more comes when all others have been served: whoever is left alone gets it.
        tasks = [asyncio.create_task(one(client, wait)) for client, wait in zip(clients, waits, strict=True)]
        last = await town.client("last", kind="human")
        await asyncio.wait([task for task, wait in zip(tasks, waits, strict=True) if wait is not None])
        spare = asyncio.create_task(one(last, 3.0))
        places = await asyncio.gather(*tasks)
        await spare
        matches: dict[str, list[str]] = {}
        for name, place in zip(names, places, strict=True):
            if place is not None:
                matches.setdefault(place.match_id, []).append(name)
        assert all(place is not None for place, wait in zip(places, waits, strict=True) if wait is None)
        cancelled = {name for name, place in zip(names, places, strict=True) if place is None}
        for match, seated in matches.items():
            members = [member.account_id for member in (await dealt_once(town, match)).members]
            assert len(set(members)) == 2
            assert set(seated) <= set(members)
            assert not cancelled & set(members)
        totals += Counter(matched=len(names) - len(cancelled), cancelled=len(cancelled))
    print(f"tickets taken back in the moment of the match: {dict(totals)}")
