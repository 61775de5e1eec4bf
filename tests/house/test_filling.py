"""House bots take free seats and fill queues: when asked, after a wait, never among themselves, marked as bots."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from kangtou.v1 import game_pb2
from kangtou.v1 import lobby_pb2 as pb
from kangtou_clients.api import Client, Place, Refused, TableTerms, Wanted
from kangtou_clients.bots.player import Tally, dice, play
from kangtou_engine.registry import REGISTRY
from kangtou_services.embedded import EmbeddedServer
from tests.conftest import Counts
from tests.house.houses import SECRET, attached, house_at, seated
from tests.inprocess import until
from tests.servers import client_of, redis_server
from tests.services.towns import Town, town_of

SHORT = Wanted("parrot", options={"rounds": 1})
NOBODY_COMES_S = 0.7


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
    async with town_of(redis.url, house_secret=SECRET) as found:
        yield found


def good(answer: pb.Table | Refused) -> pb.Table:
    """What must not be refused."""
    assert isinstance(answer, pb.Table), answer
    return answer


def code_of(answer: object) -> str:
    """The code of a refusal in both languages."""
    assert isinstance(answer, Refused), answer
    assert answer.text_zh
    return answer.code


async def when(client: Client, table_id: str, holds: Callable[[pb.Table], bool], seconds: float = 8) -> pb.Table:
    """The table, once something holds of it."""
    async with asyncio.timeout(seconds):
        while not holds(table := good(await client.lobby.table(table_id))):  # noqa: ASYNC110 - it is asked for
            await asyncio.sleep(0.02)
    return table


async def table_when(client: Client, table_id: str, state: int) -> pb.Table:
    """The table, once it is in a state."""
    return await when(client, table_id, lambda table: table.state == state)


async def filled(client: Client, table_id: str, bots: int) -> pb.Table:
    """The table, once so many bots sit there."""
    return await when(client, table_id, lambda table: bots_at(table) == bots)


def bots_at(table: pb.Table) -> int:
    return sum(seat.kind == game_pb2.ACCOUNT_KIND_BOT for seat in table.seats)


async def played(client: Client, place: Place) -> None:
    """One's own seat to the end."""
    async with client.play() as session:
        match = await attached(session, place)
        assert [player.kind for player in match.players].count("human") == 1
        await asyncio.wait_for(play(match, "greedy", dice(), Tally()), 60)


async def test_an_owner_has_seats_filled(town: Town, tmp_path: Path) -> None:
    """One seat is left for him; the others are marked as bots. After the match they agree to another one."""
    async with house_at(town, tmp_path, 3, gateway=1):
        ann, bob = await town.client("Ann", kind="human"), await town.client("Bob", 1, kind="human")
        table = good(await ann.lobby.open(SHORT)).match_id
        assert code_of(await bob.tables.fill(table)) == "not_owner"
        good(await ann.tables.fill(table, "f1"))
        assert good(await ann.tables.fill(table, "f1")).fill_ms
        await filled(ann, table, 3)
        await asyncio.sleep(NOBODY_COMES_S)
        assert good(await bob.lobby.table(table)).state == pb.TABLE_STATE_OPEN
        place = await seated(ann, table)
        await played(ann, place)
        await table_when(ann, table, pb.TABLE_STATE_OVER)
        me = (await ann.accounts.who_am_i()).account_id
        again = await ann.tables.rematch(table, me)
        assert not isinstance(again, Refused)
        await table_when(ann, table, pb.TABLE_STATE_PLAYING)
        await played(ann, Place(again.match_id, again.seat, again.entropy))
        over = await table_when(ann, table, pb.TABLE_STATE_OVER)
        assert [len(match.account_ids) for match in over.matches] == [4, 4]
        assert over.matches[0].account_ids == over.matches[1].account_ids


async def test_bots_come_after_the_set_wait(town: Town, tmp_path: Path) -> None:
    """Also to a private table and where everybody has to be ready; not where they may not sit."""
    async with house_at(town, tmp_path, 3):
        ann = await town.client("Ann", kind="human")
        waits = TableTerms("ready", private=True, fill_after_s=1)
        table = good(await ann.lobby.open(SHORT, terms=waits)).match_id
        await seated(ann, table, 2)
        assert bots_at(good(await ann.lobby.table(table))) == 0
        found = await filled(ann, table, 3)
        assert [seat.ready for seat in found.seats] == [True, True, False, True]
        assert found.owner_id == found.seats[2].account_id
        good(await ann.tables.ready(table))
        await table_when(ann, table, pb.TABLE_STATE_PLAYING)
        for terms, code in (
            (TableTerms(rated=True), "no_bots_here"),
            (TableTerms(kind="human"), "no_bots_here"),
        ):
            other = good(await ann.lobby.open(SHORT, terms=terms)).match_id
            assert code_of(await ann.tables.fill(other)) == code


async def test_a_bot_that_is_removed_or_left_alone(town: Town, tmp_path: Path) -> None:
    """No other comes in the place of one that was removed; all leave with the last guest, and the table is empty."""
    async with house_at(town, tmp_path, 3):
        ann, bob = await town.client("Ann", kind="human"), await town.client("Bob", kind="human")
        table = good(await ann.lobby.open(SHORT, terms=TableTerms("ready"))).match_id
        await seated(ann, table)
        good(await ann.tables.fill(table))
        found = await filled(ann, table, 3)
        after = good(await ann.tables.remove(table, found.seats[3].account_id))
        assert (bots_at(after), after.fill_ms) == (2, 0)
        await seated(bob, table)
        left = good(await ann.lobby.stand(table))
        assert (bots_at(left), left.owner_id) == (2, (await bob.accounts.who_am_i()).account_id)
        empty = good(await bob.lobby.stand(table))
        assert (bots_at(empty), empty.owner_id) == (0, "")
        await asyncio.sleep(NOBODY_COMES_S)
        assert bots_at(good(await bob.lobby.table(table))) == 0


async def test_players_sit_while_bots_are_on_their_way(town: Town, tmp_path: Path, counts: Counts) -> None:
    """Many times: nobody has two seats, no seat is given twice, and bots alone never fill a table."""
    async with house_at(town, tmp_path / "a", 3, 99), house_at(town, tmp_path / "b", 2, 99, 1):
        ann, bob = await town.client("Ann", kind="human"), await town.client("Bob", 1, kind="human")
        for number in range(counts(3, 30)):
            table = good(await ann.lobby.open(SHORT)).match_id
            good(await ann.tables.fill(table))
            await asyncio.sleep(0.08 * (number % 6))
            sat = await asyncio.gather(ann.lobby.sit(table), bob.lobby.sit(table))
            assert any(isinstance(one, Place) for one in sat)  # the owner's seat is not kept from other guests
            found = await table_when(ann, table, pb.TABLE_STATE_PLAYING)
            accounts = [seat.account_id for seat in found.seats]
            assert len(set(accounts)) == 4
            assert bots_at(found) == 4 - sum(isinstance(one, Place) for one in sat)


@pytest.mark.parametrize("game", REGISTRY.names())
async def test_quick_in_the_pool_of_the_house(game: str, tmp_path: Path, counts: Counts) -> None:
    """Of every game: bots come at once, and the match is played to its end."""
    async with town_of(house_secret=SECRET) as town, house_at(town, tmp_path, 5):
        ann = await town.client("Ann", kind="human")
        async with ann.lobby.quick(Wanted(game, options={"rounds": counts(1, 4)}), pool="house") as queue:
            place = await asyncio.wait_for(queue.place(), 60)
        assert isinstance(place, Place)
        await played(ann, place)


BRIEF = Wanted("parrot", options={"rounds": 1}, turn_ms=500)  # guests who went away hold no bot up for long


async def test_house_bots_do_not_meet_among_themselves(town: Town, tmp_path: Path, counts: Counts) -> None:
    """With more bots than seats and a guest who goes away again; the next one is served; two guests meet."""
    async with house_at(town, tmp_path / "a", 5), house_at(town, tmp_path / "b", 5, gateway=1):
        guests = [await town.client(f"Guest {number}", number % 2) for number in range(2)]
        for step in range(counts(3, 20)):
            async with guests[0].lobby.quick(BRIEF, pool="house") as queue:
                waiting = asyncio.create_task(queue.place())
                await asyncio.sleep(0.15 * (step % 5))
                waiting.cancel()
                await asyncio.gather(waiting, return_exceptions=True)
        await asyncio.sleep(NOBODY_COMES_S)
        for match in await town.backend.store.live():
            text = await town.backend.store.agreement(match)
            assert text is not None
            assert '"name":"Guest' in text
        async with guests[1].lobby.quick(BRIEF, pool="house") as queue:
            assert isinstance(await asyncio.wait_for(queue.place(), 60), Place)


async def test_a_program_comes_back_to_its_seats(town: Town, tmp_path: Path) -> None:
    """It ends in order and hands them over; the next one has the same accounts, takes the seats back and plays on."""
    ann = await town.client("Ann", kind="human")
    long = Wanted("parrot", options={"rounds": 12}, seats=2, turn_ms=60_000)
    table = good(await ann.lobby.open(long)).match_id
    place = await seated(ann, table)
    async with house_at(town, tmp_path, 1):
        good(await ann.tables.fill(table))
        before = await table_when(ann, table, pb.TABLE_STATE_PLAYING)
        async with ann.play() as session:
            match = await attached(session, place)
            playing = asyncio.create_task(play(match, "greedy", dice(), Tally()))
            await until(lambda: match.seq >= 8)
            playing.cancel()
    async with house_at(town, tmp_path, 1), ann.play() as session:
        match = await attached(session, place)
        await asyncio.wait_for(play(match, "greedy", dice(), Tally()), 60)
        assert not any(one.delegated for one in match.seats)
        after = await table_when(ann, table, pb.TABLE_STATE_OVER)
        assert after.matches[0].account_ids == [seat.account_id for seat in before.seats]
