"""AccountService and LobbyService over gRPC, with two gateways and a table host, in memory and on Redis."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from uuid import uuid4

import grpc
import pytest

from kangtou.v1 import account_pb2, account_pb2_grpc, game_pb2
from kangtou.v1 import lobby_pb2 as pb
from kangtou.v1 import lobby_pb2_grpc as rpc
from kangtou_clients.api import Client, connect
from kangtou_clients.api.lobby import Place, Wanted
from kangtou_clients.api.tables import TableFilter
from kangtou_clients.api.values import CallFailed, Login, NotAuthenticated, Refused
from kangtou_services.embedded import EmbeddedServer

from ..servers import redis_server
from .towns import Town, town_of

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
    async with town_of(url) as found:
        yield found


def refused(answer: object) -> str:
    """The code of a refusal in both languages."""
    assert isinstance(answer, Refused), answer
    return answer.code


async def test_register_and_tokens(town: Town) -> None:
    async with connect(town.addresses[0]) as client, connect(town.addresses[1]) as elsewhere:
        with pytest.raises(NotAuthenticated):
            await client.accounts.who_am_i()
        command = uuid4().hex
        login = await client.accounts.register("老王", "human", command)
        assert isinstance(login, Login)
        assert login.account is not None
        assert (login.account.name, login.account.kind) == ("老王", "human")
        elsewhere.token = login.token
        assert await elsewhere.accounts.who_am_i() == login.account
        again = await client.accounts.register("老王", "human", command)
        assert isinstance(again, Login)
        assert again.account == login.account
        assert refused(await client.accounts.register("老李", "human", command)) == "id_reused"
        assert refused(await client.accounts.register("a\u202eb", "human")) == "bad_name"
        client.token = login.token
        renewed = await client.accounts.renew()
        assert isinstance(renewed, Login)
        assert await client.accounts.who_am_i() == login.account
        recovered = await elsewhere.accounts.recover(login.account.account_id, again.recovery_code)
        assert isinstance(recovered, Login)
        assert refused(await client.accounts.recover(login.account.account_id, again.recovery_code)) == "bad_recovery"
        assert await elsewhere.accounts.who_am_i() == login.account


async def test_a_revoked_token_ends(town: Town) -> None:
    client = await town.client()
    stub = account_pb2_grpc.AccountServiceStub(client.channel)
    await stub.RevokeToken(account_pb2.RevokeTokenRequest(), metadata=client.metadata())
    with pytest.raises(NotAuthenticated):
        await client.accounts.who_am_i()


async def test_calls_without_a_token(town: Town) -> None:
    async with connect(town.addresses[0], "kt_nonsense") as client:
        assert {game.game for game in await client.lobby.games()} >= {"parrot", "hongshi"}
        with pytest.raises(NotAuthenticated):
            await client.lobby.open(PAIR)
        with pytest.raises(NotAuthenticated):
            await client.lobby.table("x")
        with pytest.raises(NotAuthenticated):
            await client.lobby.quick(PAIR).place()


async def test_games_are_listed_with_their_options(town: Town) -> None:
    async with connect(town.addresses[0]) as client:
        games = {game.game: game for game in await client.lobby.games()}
        parrot = games["parrot"]
        assert list(parrot.seats) == [2, 3, 4]
        rounds = next(option for option in parrot.options if option.name == "rounds")
        assert (rounds.rule, rounds.allowed, rounds.default_value.number) == ("PT-1", "1 … 1000", 2)
        assert games["hongshi"].title_zh == "红十"


async def test_bad_choices(town: Town) -> None:
    client = await town.client()
    for wanted, code in (
        (Wanted("chess"), "bad_option"),
        (Wanted("parrot", version=9), "bad_option"),
        (Wanted("parrot", seats=9), "bad_seats"),
        (Wanted("parrot", options={"colour": "red"}), "unknown_option"),
        (Wanted("parrot", options={"rounds": 0}), "bad_option"),
        (Wanted("parrot", options={"rounds": True}), "bad_option"),
        (Wanted("parrot", turn_ms=1), "bad_clock"),
        (Wanted("parrot", window_ms=-5), "bad_clock"),
    ):
        opened = await client.lobby.open(wanted)
        assert refused(opened) == code
        assert isinstance(opened, Refused)
        async with client.lobby.quick(wanted) as queue:
            assert refused(await queue.place()) == code
    unknown = await client.lobby.open(Wanted("parrot", options={"colour": "red"}))
    assert isinstance(unknown, Refused)
    assert "rounds" in unknown.text_en
    assert "rounds" in unknown.text_zh


async def test_open_sit_and_play(town: Town) -> None:
    ann, bob = await town.client("Ann"), await town.client("Bob", gateway=1)
    table = await ann.lobby.open(PAIR)
    assert isinstance(table, pb.Table)
    assert (table.state, table.choice.game, table.choice.version) == (pb.TABLE_STATE_OPEN, "parrot", 1)
    assert table.match_id in [one.match_id async for one in bob.lobby.tables("parrot")]
    assert isinstance(await ann.lobby.sit(table.match_id, 1), Place)
    assert refused(await ann.lobby.sit(table.match_id)) == "already_seated"
    assert refused(await bob.lobby.sit(table.match_id, 1)) == "seat_taken"
    stood = await ann.lobby.stand(table.match_id)
    assert isinstance(stood, pb.Table)
    assert [seat.name for seat in stood.seats] == ["", ""]
    first, last = await ann.lobby.sit(table.match_id, 1), await bob.lobby.sit(table.match_id)
    assert isinstance(first, Place)
    assert isinstance(last, Place)
    assert (first.seat, last.seat) == (1, 0)
    now = await bob.lobby.table(table.match_id)
    assert isinstance(now, pb.Table)
    assert now.state == pb.TABLE_STATE_PLAYING
    assert [(seat.name, seat.kind) for seat in now.seats] == [
        ("Bob", game_pb2.ACCOUNT_KIND_BOT),
        ("Ann", game_pb2.ACCOUNT_KIND_BOT),
    ]
    view = await ann.view(table.match_id)
    assert [player.name for player in view.match.players] == ["Bob", "Ann"]
    assert refused(await (await town.client()).lobby.sit(table.match_id)) == "table_full"


async def test_unknown_tables_and_pages(town: Town) -> None:
    client = await town.client()
    assert refused(await client.lobby.table("nothere")) == "unknown_table"
    assert refused(await client.lobby.sit("nothere")) == "unknown_table"
    assert refused(await client.lobby.stand("nothere")) == "unknown_table"
    stub = rpc.LobbyServiceStub(client.channel)
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await stub.ListTables(pb.ListTablesRequest(page_token="x"), metadata=client.metadata())
    assert error.value.code() is grpc.StatusCode.INVALID_ARGUMENT


async def test_quick_matches_over_gateways(town: Town) -> None:
    pool = uuid4().hex
    clients = [await town.client(name, gateway=number % 2) for number, name in enumerate(("Ann", "Bob", "Cat", "Dan"))]
    wanted = Wanted("parrot", seats=4)

    async def place(client: Client) -> Place | Refused:
        async with client.lobby.quick(wanted, rated=True, pool=pool) as queue:
            return await queue.place()

    async with asyncio.timeout(60):
        places = await asyncio.gather(*map(place, clients))
    found = [one for one in places if isinstance(one, Place)]
    assert sorted(one.seat for one in found) == [0, 1, 2, 3]
    (match,) = {one.match_id for one in found}
    for client, one in zip(clients, found, strict=True):
        view = await client.view(match)
        assert view.seat == one.seat
        assert view.match.rated
    table = await clients[0].lobby.table(match)
    assert isinstance(table, pb.Table)
    assert table.state == pb.TABLE_STATE_PLAYING


async def test_a_ticket_is_taken_back_through_another_gateway(town: Town) -> None:
    ann = await town.client("Ann")
    async with connect(town.addresses[1], ann.token) as elsewhere, asyncio.timeout(60):
        stub = rpc.LobbyServiceStub(elsewhere.channel)
        queue = ann.lobby.quick(PAIR, pool=uuid4().hex)
        states = []
        async for status in queue.statuses():
            states.append(status.state)
            if status.state == "waiting":
                request = pb.CancelTicketRequest(ticket_id=queue.ticket_id)
                response = await stub.CancelTicket(request, metadata=elsewhere.metadata())
                assert response.state == pb.TICKET_STATE_CANCELLED
        assert states == ["waiting", "cancelled"]


async def test_a_late_cancel_tells_the_match(town: Town) -> None:
    pool = uuid4().hex
    ann, bob = await town.client("Ann"), await town.client("Bob")
    queues = [client.lobby.quick(PAIR, pool=pool) for client in (ann, bob)]
    async with asyncio.timeout(60):
        places = await asyncio.gather(*(queue.place() for queue in queues))
    first = places[0]
    assert isinstance(first, Place)
    request = pb.CancelTicketRequest(ticket_id=queues[0].ticket_id)
    response = await rpc.LobbyServiceStub(ann.channel).CancelTicket(request, metadata=ann.metadata())
    assert (response.state, response.match_id, response.seat) == (pb.TICKET_STATE_READY, first.match_id, first.seat)


async def test_a_call_that_ends_gives_the_place_up_and_can_come_back(town: Town) -> None:
    pool, ticket = uuid4().hex, uuid4().hex
    ann, bob = await town.client("Ann", kind="human"), await town.client("Bob")
    stub = rpc.LobbyServiceStub(ann.channel)
    request = pb.QuickMatchRequest(choice=PAIR.choice(), pool=pool, command_id=ticket)
    call = stub.QuickMatch(request, metadata=ann.metadata())
    async with asyncio.timeout(60):
        assert (await anext(aiter(call))).state == pb.TICKET_STATE_WAITING
        call.cancel()
        # A person has one ticket; another one waits until the first has been given up.
        other = stub.QuickMatch(
            pb.QuickMatchRequest(choice=PAIR.choice(), pool=pool, command_id=uuid4().hex), metadata=ann.metadata()
        )
        assert (await anext(aiter(other))).state == pb.TICKET_STATE_WAITING
        other.cancel()
        # So does the first one when it comes back; before that Bob might be matched with the other.
        back = aiter(stub.QuickMatch(request, metadata=ann.metadata()))
        assert (await anext(back)).state == pb.TICKET_STATE_WAITING
        queue = bob.lobby.quick(PAIR, pool=pool)
        waiting = asyncio.create_task(queue.place())
        states = [response.state async for response in back]
        assert states[-1] == pb.TICKET_STATE_READY
        assert isinstance(await waiting, Place)


async def test_a_deleted_account_leaves_everything(town: Town) -> None:
    """Its seat at an open table, its ticket; a confirmation is asked for; the match begins with somebody else."""
    ann, bob, cat = await town.client("Ann"), await town.client("Bob", 1), await town.client("Cat")
    me = await ann.accounts.who_am_i()
    waiting = await town.stack.enter_async_context(connect(town.addresses[1], ann.token))
    table = await bob.lobby.open(PAIR)
    assert not isinstance(table, Refused)
    match = table.match_id
    assert not isinstance(await ann.lobby.sit(match), Refused)
    statuses = waiting.lobby.quick(PAIR, pool="del").statuses()
    assert (await anext(statuses)).state == "waiting"
    assert refused(await ann.accounts.delete("somebody")) == "not_confirmed"
    assert await ann.accounts.who_am_i() == me
    assert await ann.accounts.delete(me.account_id) is None
    assert (await anext(statuses)).state == "cancelled"
    with pytest.raises(NotAuthenticated):
        await ann.accounts.who_am_i()
    seen = await bob.lobby.table(match)
    assert not isinstance(seen, Refused)
    assert not any(seat.account_id == me.account_id for seat in seen.seats)
    assert not isinstance(await cat.lobby.sit(match), Refused)
    assert not isinstance(await bob.lobby.sit(match), Refused)


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        (TableFilter("poker"), "there is no game 'poker'"),
        (TableFilter("hongshi", rules="NONSENSE"), "there are no house rules 'NONSENSE'; there are: keep345, "),
        (TableFilter(rules="liaoning"), ""),
        (TableFilter("erbaiwu", rules="liaoning"), "there are no house rules 'liaoning'; there are: open, "),
        (TableFilter("hongshi", options={"nonsense": 1}), "there is no option 'nonsense'"),
    ],
)
async def test_a_filter_that_no_table_can_fit(wanted: TableFilter, text: str) -> None:
    """Said so, in a list and in a live one, instead of an empty list."""
    async with town_of("") as town, connect(town.addresses[0]) as client:
        await client.accounts.register("Ann", "human")
        if not text:
            assert [table async for table in client.lobby.tables(wanted=wanted)] == []
            return
        with pytest.raises(CallFailed, match=re.escape(text)) as error:
            [table async for table in client.lobby.tables(wanted=wanted)]
        assert error.value.status == "INVALID_ARGUMENT"
        with pytest.raises(CallFailed, match=re.escape(text)):
            async with aclosing(client.tables.watch(wanted)) as changes:
                await anext(changes)
