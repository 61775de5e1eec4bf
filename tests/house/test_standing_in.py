"""Programs of the house stand in for players who are away: who is let in, who has a seat, and what becomes of it."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from pathlib import Path

import pytest

from kangtou_clients.api import CallFailed, Client, Ending, Match, Place, Refused, Wanted
from kangtou_clients.api.house import Offer, Withdrawn
from kangtou_clients.bots.house import NotOfTheHouse, serve
from kangtou_clients.bots.player import Tally, dice, play
from kangtou_engine.registry import REGISTRY
from kangtou_services.embedded import EmbeddedServer
from tests.conftest import Counts
from tests.house.houses import SECRET, attached, hands_over, house_at, table_with, takes_back
from tests.inprocess import until
from tests.servers import client_of, redis_server
from tests.services.towns import Town, town_of

FOUR = Wanted("parrot", options={"rounds": 6}, turn_ms=5_000)
NOT_CALLED_S = 0.8


@pytest.fixture(scope="module")
def redis() -> Iterator[EmbeddedServer]:
    """One server for this module."""
    with redis_server() as server:
        yield server


@pytest.fixture
async def town(redis: EmbeddedServer) -> AsyncIterator[Town]:
    """On a real store; what other tests have left there is wanted still, so it is emptied."""
    async with client_of(redis) as client:
        await client.flushdb()
    async with town_of(redis.url, house_secret=SECRET, substitute_ms=300) as found:
        yield found


async def housed(town: Town, name: str, gateway: int = 0) -> Client:
    """An account of the house without a program."""
    client = await town.client(name, gateway)
    assert await client.house.join(SECRET) is None
    return client


async def test_who_is_of_the_house(town: Town, tmp_path: Path) -> None:
    """Bots that know the secret; the mark holds at every gateway at once. Nobody else is offered anything."""
    bot, person = await town.client("Bot"), await town.client("Ann", kind="human")
    for client, secret, code in ((bot, "guessed", "not_of_the_house"), (person, SECRET, "bad_kind")):
        refused = await client.house.join(secret)
        assert isinstance(refused, Refused)
        assert (refused.code, bool(refused.text_zh)) == (code, True)
        with pytest.raises(CallFailed, match="PERMISSION_DENIED"):
            await anext(client.house.serve("p", {"parrot": 1}))
    other = await town.client("Bot", 1)
    other.token = bot.token
    await other.accounts.who_am_i()  # the second gateway remembers it as it was
    assert await bot.house.join(SECRET) is None
    async with aclosing(other.house.serve("p", {"parrot": 1})) as news:
        assert await anext(news) is None
    with pytest.raises(NotOfTheHouse):
        await serve(town.addresses[0], secret="guessed", keep=tmp_path, accounts=2, tables=1)


@pytest.mark.parametrize("game", REGISTRY.names())
async def test_a_left_seat_is_played_to_the_end(game: str, tmp_path: Path, counts: Counts) -> None:
    """Of every game. Everybody sees that a substitute plays, and whose seat it is still."""
    async with town_of(house_secret=SECRET) as town, house_at(town, tmp_path, 1, gateway=1):
        ann = await town.client("Ann", kind="human")
        place, others = await table_with(
            town, Wanted(game, options={"rounds": counts(1, 4)}), ann, REGISTRY.game(game).config().seats - 1
        )
        async with ann.play() as session, (await town.client("Eve", 1)).play() as watching:
            match, watched = await attached(session, place), await watching.watch(place.match_id)
            assert isinstance(watched, Match)
            await hands_over(ann, place, leave=True)
            ending = await asyncio.wait_for(match.finished(), 60)
            await asyncio.gather(*others)
            assert isinstance(ending, Ending)
            assert ending.cause == "rules"
            assert watched.seats[place.seat].delegated == "left"
            assert [player.kind for player in watched.players].count("human") == 1


async def test_the_owner_comes_back_again_and_again(town: Town, tmp_path: Path, counts: Counts) -> None:
    """Also while an answer of the substitute is under way; each time it is the same account or none."""
    ann = await town.client("Ann", kind="human")
    async with house_at(town, tmp_path, 2), house_at(town, tmp_path, 2, gateway=1):
        place, others = await table_with(town, Wanted("parrot", options={"rounds": counts(8, 60)}), ann, 3)
        async with ann.play() as session:
            match = await attached(session, place)
            for step in range(counts(3, 20)):
                await hands_over(ann, place)
                seq = match.seq
                await until(lambda seq=seq, step=step: match.over or match.seq > seq + step % 7, 20)  # type: ignore[misc]
                if match.over:
                    break
                await takes_back(ann, place)
            tally = Tally()
            ending = await asyncio.wait_for(play(match, "greedy", dice(), tally), 60)
            await asyncio.gather(*others)
            assert isinstance(ending, Ending)
            assert ending.cause == "rules"
            assert not (await town.backend.needs.look([], 2**45, 0)).open


async def offers(client: Client, process: str, found: list[Offer | Withdrawn]) -> None:
    """What it is told, without playing."""
    async with aclosing(client.house.serve(process, {"parrot": 2})) as news:
        async for one in news:
            if one is not None:
                found.append(one)


async def test_two_programs_one_seat(town: Town) -> None:
    """One is offered it and let in. When it vanishes the other is, within 3 s; never the same account on two seats."""
    ann, bob = [await town.client(name, kind="human") for name in ("Ann", "Bob")]
    table = await ann.lobby.open(Wanted("parrot", options={"rounds": 500}, seats=2, turn_ms=60_000))
    assert not isinstance(table, Refused)
    places = [await client.lobby.sit(table.match_id) for client in (ann, bob)]
    programs = [await housed(town, f"House {number}", number % 2) for number in range(2)]
    found: list[list[Offer | Withdrawn]] = [[], []]
    tasks = [asyncio.create_task(offers(programs[n], f"p{n}", found[n])) for n in range(2)]
    await hands_over(ann, places[0])  # type: ignore[arg-type]
    await until(lambda: any(found))
    await asyncio.sleep(NOT_CALLED_S)
    assert sorted(map(len, found)) == [0, 1]
    first = 0 if found[0] else 1
    (offer,) = found[first]
    assert isinstance(offer, Offer)
    assert (offer.kind, offer.place, offer.seat) == ("delegate", table.match_id, 0)
    async with programs[first].play() as has, programs[1 - first].play() as has_not:
        refused = await has_not.attach(table.match_id, seat=0, delegate=True)
        assert isinstance(refused, Refused)
        assert refused.code == "not_allowed"
        assert isinstance(await has.attach(table.match_id, seat=0, delegate=True), Match)
    # The seat of the other goes to the other program alone, also when it has no more room than that.
    await hands_over(bob, places[1])  # type: ignore[arg-type]
    await until(lambda: found[1 - first])
    began = asyncio.get_running_loop().time()
    tasks[first].cancel()
    await asyncio.sleep(1.5)
    assert [one.seat for one in found[1 - first] if isinstance(one, Offer)] == [1]  # it knows the cards of seat 1
    third = await housed(town, "House 2", 1)
    more: list[Offer | Withdrawn] = []
    tasks.append(asyncio.create_task(offers(third, "p2", more)))
    await until(lambda: more)
    assert asyncio.get_running_loop().time() - began < 6
    assert isinstance(more[0], Offer)
    assert more[0].seat == 0
    await takes_back(ann, places[0])  # type: ignore[arg-type]
    await until(lambda: Withdrawn(more[0].offer_id) in more)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_who_plays_in_a_match_does_not_stand_in_there(town: Town) -> None:
    """A bot of the house that has a seat knows its cards."""
    ann, house = await town.client("Ann", kind="human"), await housed(town, "House")
    table = await ann.lobby.open(Wanted("parrot", seats=2, turn_ms=60_000))
    assert not isinstance(table, Refused)
    place = await ann.lobby.sit(table.match_id)
    assert not isinstance(await ann.tables.fill(table.match_id), Refused)
    assert isinstance(await house.lobby.sit(table.match_id), Place)
    found: list[Offer | Withdrawn] = []
    task = asyncio.create_task(offers(house, "p", found))
    await hands_over(ann, place)  # type: ignore[arg-type]
    await asyncio.sleep(NOT_CALLED_S)
    assert {one.kind for one in found if isinstance(one, Offer)} <= {"sit", "seat"}
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_a_program_ends_in_order(town: Town, tmp_path: Path) -> None:
    """What it stands in for goes to another one at once, not when its lease has run out."""
    ann = await town.client("Ann", kind="human")
    place, others = await table_with(town, Wanted("parrot", options={"rounds": 500}, turn_ms=60_000), ann, 3)
    other = await housed(town, "House")
    found: list[Offer | Withdrawn] = []
    async with house_at(town, tmp_path, 1) as program, ann.play() as session:
        match = await attached(session, place)
        await hands_over(ann, place)
        await until(lambda: match.delegated)
        task = asyncio.create_task(offers(other, secrets.token_hex(4), found))
        seq = match.seq
        await until(lambda: match.seq > seq + 20)
        program.cancel()
        began = asyncio.get_running_loop().time()
        await until(lambda: any(isinstance(one, Offer) and one.place == place.match_id for one in found))
        assert asyncio.get_running_loop().time() - began < 1.5
        assert not match.over
    for one in (task, *others):
        one.cancel()
    await asyncio.gather(task, *others, return_exceptions=True)
