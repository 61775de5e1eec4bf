"""TableService over gRPC with two gateways, in memory and on Redis: matches in a row, the live list, codes, rules."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing

import pytest

from kangtou.v1 import game_pb2
from kangtou.v1 import lobby_pb2 as pb
from kangtou.v1 import lobby_pb2_grpc as rpc
from kangtou_clients.api import (
    CallFailed,
    Client,
    Match,
    Place,
    Refused,
    TableChange,
    TableFilter,
    TableTerms,
    Wanted,
)
from kangtou_clients.api.tables import Rematch
from kangtou_services.embedded import EmbeddedServer

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
    async with town_of(url, open_wait_ms=5_000) as found:
        yield found


def table_of(answer: pb.Table | Refused) -> pb.Table:
    """What must not be refused."""
    assert isinstance(answer, pb.Table), answer
    return answer


def code_of(answer: object) -> str:
    """The code of a refusal in both languages."""
    assert isinstance(answer, Refused), answer
    assert answer.text_en
    assert answer.text_zh
    return answer.code


async def play(client: Client, match_id: str, entropy: bytes) -> None:
    """To the end, with the first legal actions."""
    async with client.play() as session:
        match = await session.attach(match_id, entropy=entropy)
        assert isinstance(match, Match)
        async for prompt in match.prompts():
            await prompt.answer(prompt.default)
        assert match.ending is not None
        assert match.warnings == ()


async def test_matches_in_a_row(town: Town) -> None:
    """Three matches at one table, each dealt with the entropies that were committed to for it; the tally adds up."""
    ann, bob = await town.client("Ann"), await town.client("Bob", gateway=1)
    ids = [(await client.accounts.who_am_i()).account_id for client in (ann, bob)]
    table = table_of(await ann.lobby.open(PAIR)).match_id
    places: list[Place | Rematch | Refused] = [await client.lobby.sit(table) for client in (ann, bob)]
    for number in range(3):
        found = [place for place in places if isinstance(place, (Place, Rematch))]
        assert len({place.match_id for place in found}) == 1, places
        assert [place.seat for place in found] == [0, 1]
        await asyncio.gather(
            *(play(client, place.match_id, place.entropy) for client, place in zip((ann, bob), found, strict=True))
        )
        if number == 2:
            break
        agreed = [await client.tables.rematch(table, one) for client, one in zip((ann, bob), ids, strict=True)]
        for one, client in zip(agreed, (ann, bob), strict=True):
            assert isinstance(one, Rematch), one
            settled = table_of(await client.tables.settled(one))
            assert (settled.state, settled.current_match_id) == (pb.TABLE_STATE_PLAYING, one.match_id)
        places = list(agreed)
    now = table_of(
        await eventually(
            lambda: bob.lobby.table(table),
            lambda it: isinstance(it, pb.Table) and it.state == pb.TABLE_STATE_OVER,
        )
    )
    assert len({match.match_id for match in now.matches}) == 3
    assert now.matches[0].match_id == table
    assert [row.account_id for row in now.tally] == ids
    assert [row.matches for row in now.tally] == [3, 3]
    for seat, row in enumerate(now.tally):
        assert row.points == sum(match.scores[seat] for match in now.matches)
        assert sum(row.places) == 3
    assert sum(row.points for row in now.tally) == 15  # five tricks a round
    assert code_of(await (await town.client("Cat")).tables.rematch(table, "x")) == "not_seated"


async def test_the_list_as_it_changes(town: Town) -> None:
    ann, bob = await town.client("Ann"), await town.client("Bob", gateway=1)
    first = table_of(await ann.lobby.open(PAIR)).match_id
    wanted = TableFilter("parrot", rules="", options={"rounds": 1}, seats=2)
    async with aclosing(bob.tables.watch(wanted)) as changes, asyncio.timeout(60):

        async def following() -> TableChange:
            change = await anext(changes)
            assert isinstance(change, TableChange)
            return change

        snapshot = await following()
        assert snapshot.what == "snapshot"
        assert first in [table.match_id for table in snapshot.tables]
        await ann.lobby.open(Wanted("parrot", seats=2))  # other rounds: not wanted
        await ann.lobby.open(PAIR, terms=TableTerms(private=True))
        table = table_of(await ann.lobby.open(PAIR)).match_id
        change = await following()
        assert (change.what, change.match_id) == ("added", table)
        await ann.lobby.sit(table)
        change = await following()
        assert (change.what, change.tables[0].seats[0].name) == ("changed", "Ann")
        await bob.lobby.sit(table)
        change = await following()
        while change.what == "changed":  # full, its match is being made
            change = await following()
        assert (change.what, change.match_id) == ("removed", table)


async def test_private_tables(town: Town) -> None:
    ann, bob = await town.client("Ann"), await town.client("Bob", gateway=1)
    table = table_of(await ann.lobby.open(PAIR, terms=TableTerms(private=True)))
    assert (table.private, len(table.code)) == (True, 10)
    assert table.match_id not in [one.match_id async for one in bob.lobby.tables()]
    assert code_of(await bob.lobby.table(table.match_id)) == "code_needed"
    async with aclosing(bob.tables.watch(TableFilter(), match_id=table.match_id)) as changes:
        assert code_of(await anext(changes)) == "code_needed"
    found = table_of(await bob.lobby.table("", table.code))
    assert (found.match_id, found.code) == (table.match_id, "")
    assert code_of(await bob.lobby.sit(table.match_id)) == "code_needed"
    place = await bob.lobby.sit("", code=table.code)
    assert isinstance(place, Place)
    assert place.match_id == table.match_id
    assert table_of(await bob.lobby.table(table.match_id)).code == table.code  # now Bob belongs to it


async def test_options_are_shown_in_full(town: Town) -> None:
    ann = await town.client("Ann")
    table = table_of(await ann.lobby.open(Wanted("wushik", rules="jiangnan")))
    options = {option.name: option for option in table.options}
    assert table.rules == "jiangnan"
    assert (options["variant"].value.text, options["variant"].is_default) == ("jiangnan", False)
    assert (options["target"].value.number, options["target"].is_default, options["target"].rule) == (
        1000,
        True,
        "WK-14.3",
    )
    assert "caught" not in options  # another variant's
    hongshi = table_of(await ann.lobby.open(Wanted("hongshi", options={"top": "tens"})))
    assert hongshi.rules == "tens"
    assert [option.name for option in hongshi.options if not option.is_default] == ["top"]
    assert len(hongshi.options) == 13
    assert code_of(await ann.lobby.open(Wanted("hongshi", rules="nonsense"))) == "bad_option"
    assert code_of(await ann.lobby.open(Wanted("hongshi", rules="quick", options={"rounds": 2}))) == "rules_and_options"
    assert code_of(await ann.lobby.open(PAIR, terms=TableTerms(ready_s=9_000))) == "bad_time"
    info = next(game for game in await ann.lobby.games() if game.game == "wushik")
    assert [one.name for one in info.rule_sets][:2] == ["standard", "chengde2"]


async def test_filters(town: Town) -> None:
    ann = await town.client("Ann", kind="human")
    quick = table_of(await ann.lobby.open(Wanted("hongshi", rules="quick"))).match_id
    rated = table_of(await ann.lobby.open(Wanted("hongshi"), terms=TableTerms(rated=True)))
    assert rated.kind == game_pb2.ACCOUNT_KIND_HUMAN
    pair = table_of(await ann.lobby.open(PAIR)).match_id
    await ann.lobby.sit(pair)
    mine = {quick, rated.match_id, pair}

    async def found(wanted: TableFilter) -> set[str]:
        return {table.match_id async for table in ann.lobby.tables(wanted=wanted)} & mine

    assert await found(TableFilter()) == mine
    assert await found(TableFilter(rules="quick")) == {quick}
    assert await found(TableFilter("hongshi")) == {quick, rated.match_id}
    assert await found(TableFilter(rated=True)) == {rated.match_id}
    assert await found(TableFilter(rated=False)) == {quick, pair}
    assert await found(TableFilter(free_seats=2)) == {quick, rated.match_id}
    assert await found(TableFilter(kind="human")) == {rated.match_id}
    assert await found(TableFilter(seats=2)) == {pair}
    assert await found(TableFilter(options={"rounds": 10})) == {quick}
    assert await found(TableFilter(options={"cut": False, "between": False, "rounds": 10})) == {quick}
    assert await found(TableFilter(states=("playing",))) == set()
    empty = TableFilter().filter_pb()
    empty.options["rounds"].SetInParent()
    method = rpc.LobbyServiceStub(ann.channel).ListTables
    with pytest.raises(CallFailed) as error:
        await ann.unary(method, pb.ListTablesRequest(filter=empty))
    assert error.value.status == "INVALID_ARGUMENT"


async def test_quick_by_rules_meets_the_same_options(town: Town) -> None:
    clients = [await town.client(name, number % 2) for number, name in enumerate("abcd")]
    named, options = Wanted("hongshi", rules="tens"), Wanted("hongshi", options={"top": "tens"})

    async def place(client: Client, wanted: Wanted) -> Place | Refused:
        async with client.lobby.quick(wanted) as queue:
            return await queue.place()

    async with asyncio.timeout(60):
        places = await asyncio.gather(
            *(place(client, wanted) for client, wanted in zip(clients, [named, options] * 2, strict=True))
        )
    assert len({place.match_id for place in places if isinstance(place, Place)}) == 1
    assert len([place for place in places if isinstance(place, Place)]) == 4


async def test_lists_that_one_account_watches_are_bounded(town: Town) -> None:
    ann = await town.client("Ann")
    watching = [ann.tables.watch(TableFilter()) for _ in range(9)]
    try:
        for one in watching[:8]:
            assert isinstance(await anext(one), TableChange)
        with pytest.raises(CallFailed) as error:
            await anext(watching[8])
        assert error.value.status == "RESOURCE_EXHAUSTED"
    finally:
        for one in watching:
            await one.aclose()
