"""The queue: a party of two against two who came alone, and a rated pool in which somebody declines."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence

from kangtou.v1 import party_pb2
from kangtou_clients.api import Place, QuickMatch, Refused, Wanted
from kangtou_clients.api.parties import Parties

from .habits import PLAYS
from .ledger import Ledger
from .people import Person
from .seats import player


def place_of(found: Place | Refused) -> Place:
    """What must not be refused."""
    assert isinstance(found, Place), found
    return found


async def party(people: Sequence[Person], wanted: Wanted, ledger: Ledger, seed: int) -> None:
    """The first two are a party; all four wait in one pool. Partners sit on one side."""
    first, second, *_ = people
    pool = f"party{seed % 1000}"
    made = await Parties(first.client).create(wanted, pool=pool)
    assert isinstance(made, party_pb2.Party), made
    joined = await Parties(second.client).join(made.code)
    assert isinstance(joined, party_pb2.Party), joined
    third = await Parties(people[2].client).join(made.code)
    assert isinstance(third, Refused)
    ledger.refusals[third.code] += 1
    queues = [
        person.client.lobby.quick(wanted, pool=pool, party=made.code if number < 2 else "")
        for number, person in enumerate(people)
    ]
    places = [place_of(found) for found in await asyncio.gather(*(queue.place() for queue in queues))]
    ledger.partners.append((places[0].match_id, (first.account_id, second.account_id)))
    await _play(people, places, ledger, seed)


async def declined(people: Sequence[Person], wanted: Wanted, ledger: Ledger, seed: int) -> None:
    """Two are found, the second declines; the third comes, and the first, who waited, plays with the third."""
    patient, fickle, third = people
    pool = f"rated{seed % 1000}"
    waiting = patient.client.lobby.quick(wanted, rated=True, pool=pool)
    task = asyncio.create_task(waiting.place())
    other = fickle.client.lobby.quick(wanted, rated=True, pool=pool, take=False)
    offered = await _offered(other)
    assert await other.answer(offered, accept=False) is None
    over = await other.answer(offered, accept=True)
    assert isinstance(over, Refused)
    ledger.refusals[over.code] += 1
    twice = await patient.elsewhere.lobby.quick(wanted, rated=True, pool=pool).place()
    assert isinstance(twice, Refused)
    ledger.refusals[twice.code] += 1
    late = third.client.lobby.quick(wanted, rated=True, pool=pool)
    places = [place_of(found) for found in await asyncio.gather(task, late.place())]
    assert places[0].match_id != offered
    ledger.rated.add(places[0].match_id)
    await _play((patient, third), places, ledger, seed)


async def _offered(queue: QuickMatch) -> str:
    """Until a match was found; which."""
    async for status in queue.statuses():
        if status.state == "offered":
            return status.match_id
    raise AssertionError("nothing was offered")


async def _play(people: Sequence[Person], places: Sequence[Place], ledger: Ledger, seed: int) -> None:
    assert len({place.match_id for place in places}) == 1
    chance = random.Random(seed)
    async with asyncio.TaskGroup() as group:
        for person, place in zip(people, places, strict=True):
            group.create_task(player(person, place, PLAYS, ledger, chance.randrange(1 << 30)).play())
