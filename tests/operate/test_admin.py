"""Operators: drain, move, end, accounts, maintenance, the age of clients. All in this process."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from kangtou.v1 import operate_pb2 as pb
from kangtou_clients.api import CallFailed, Client, Match, Refused, Session, Wanted, connect
from kangtou_clients.api import client as client_module
from kangtou_clients.bots.player import Tally, dice, play
from kangtou_services.accounts.deletion import Deletions
from kangtou_services.gateway.calls import response_with_refusal
from kangtou_services.gateway.gate import CLOSED, version_of
from kangtou_services.gateway.operate_service import add
from kangtou_services.identity import OPERATOR
from tests.inprocess import NamesAsTokens, Server, until, whole_server
from tests.services.towns import Town, town_of

from .server import GAMES

SEATS = ("ann", "bob", "cat", "dan")


@asynccontextmanager
async def served(hosts: int = 2, gateways: int = 1) -> AsyncIterator[tuple[Server, Client]]:
    """A server, and its operator."""
    identity = NamesAsTokens()
    async with whole_server(hosts, gateways, extras=(add(identity, Deletions(identity)),)) as server:
        server.identity.roles["ops"] = frozenset({OPERATOR})
        async with connect(server.address, "t-ops", registry=GAMES) as client:
            yield server, client


@asynccontextmanager
async def seated(server: Server, match: str) -> AsyncIterator[list[Match]]:
    """All four seats of a match."""
    async with AsyncExitStack() as stack:
        found: list[Match] = []
        for name in SEATS:
            client = await stack.enter_async_context(connect(server.address, f"t-{name}", registry=GAMES))
            session: Session = await stack.enter_async_context(client.play())
            joined = await session.attach(match)
            assert isinstance(joined, Match), joined
            found.append(joined)
        yield found


def actor(server: Server, index: int) -> str:
    """A host's id."""
    return server.hosts[index].host.actor_id


def _reached(seat: Match, seq: int) -> bool:
    return seat.over or seat.seq >= seq


async def test_a_match_moves_under_play() -> None:
    """To and fro, while bots play; every move is answered, nothing is doubled, no clock runs out."""
    async with served() as (server, ops):
        await server.make("m1", options={"rounds": 4}, turn_ms=20_000)
        async with seated(server, "m1") as seats:
            playing = [asyncio.create_task(play(one, "random", dice(), Tally())) for one in seats]
            await until(lambda: seats[0].seq > 3, 60)
            moved = 0
            while not seats[0].over and moved < 5:
                to = actor(server, 1 - server.host_of("m1"))
                answer = await ops.operate.move("m1", to)
                if isinstance(answer, Refused):
                    assert answer.code == "match_over"
                    break
                assert answer == to
                moved += 1
                further = seats[0].seq + 2
                await until(functools.partial(_reached, seats[0], further), 60)
            await asyncio.wait_for(asyncio.gather(*playing), 120)
            assert moved >= 3
            late = await ops.operate.move("m1", actor(server, 1 - server.host_of("m1")))
            assert isinstance(late, Refused)
            assert late.code == "match_over"
            assert {one.ending.cause for one in seats if one.ending} == {"rules"}
            assert all(one.view == seats[0].view for one in seats if one.seat == seats[0].seat)


async def test_a_moved_match_keeps_its_clock() -> None:
    """The deadline moves by what the move took, and by no more."""
    async with served() as (server, ops):
        await server.make("m1", turn_ms=60_000)
        async with seated(server, "m1") as seats:
            await until(lambda: any(one.prompt for one in seats), 60)
            seat = next(one for one in seats if one.prompt)
            before = seat.prompt
            assert before is not None
            await asyncio.sleep(0.5)
            began = asyncio.get_running_loop().time()
            assert isinstance(await ops.operate.move("m1"), str)
            await until(lambda: seat.prompt is not None and seat.prompt.deadline_ms != before.deadline_ms, 60)
            took_ms = (asyncio.get_running_loop().time() - began) * 1000
            after = seat.prompt
            assert after is not None
            assert after.number == before.number
            assert 0 < after.deadline_ms - before.deadline_ms <= took_ms + 50


async def test_an_actor_is_drained_and_stops() -> None:
    """Its tables go to the other, watched or not; it takes no new one; then it has nothing and says so."""
    async with served() as (server, ops):
        for number in range(6):
            await server.make(f"m{number}", options={"rounds": 50}, turn_ms=60_000)
            assert await server.gateways[0].parts.router.open(f"m{number}")
        async with seated(server, "m0") as seats:
            await until(lambda: any(one.prompt for one in seats), 60)
            first = server.host_of("m0")
            assert await ops.operate.drain(actor(server, first)) is None
            await until(lambda: not server.hosts[first].host.slots, 60)
            shown = {one.id: one for one in await ops.operate.members()}
            assert (shown[actor(server, first)].draining, shown[actor(server, first)].stopping) == (True, False)
            await server.make("later", turn_ms=60_000)
            assert await server.gateways[0].parts.router.open("later")
            await until(lambda: len(server.hosts[1 - first].host.slots) == 7, 60)
            assert all(not one.over for one in seats)
            assert await ops.operate.drain(actor(server, first), undo=True) is None
            await until(lambda: not server.hosts[first].host.draining, 60)
            assert isinstance(await ops.operate.move("m1", actor(server, first)), str)
        listed = await ops.operate.tables(actor(server, first))
        assert ([one.match_id for one in listed.tables], listed.live) == (["m1"], 7)
        assert listed.tables[0].accounts == list(SEATS)


async def test_what_cannot_be_done_is_refused() -> None:
    """Nobody else is there, no such process or match, no operator."""
    async with served(hosts=1) as (server, ops):
        await server.make("m1", turn_ms=60_000)
        assert await server.gateways[0].parts.router.open("m1")
        codes = []
        for refused in (
            await ops.operate.drain(actor(server, 0)),
            await ops.operate.drain("nobody"),
            await ops.operate.move("m1"),
            await ops.operate.move("m1", "nobody"),
            await ops.operate.move("m2", actor(server, 0)),
            await ops.operate.end("m1", "Not A Word"),
        ):
            assert isinstance(refused, Refused), refused
            assert refused.text_zh
            codes.append(refused.code)
        assert codes == ["no_actor", "unknown_member", "no_actor", "unknown_member", "unknown_match", "bad_cause"]
        async with connect(server.address, "t-eve", registry=GAMES) as eve:
            for call in (eve.operate.members, eve.operate.tables, eve.operate.maintenance, eve.operate.accounts):
                with pytest.raises(CallFailed) as error:
                    await call()
                assert error.value.status == "PERMISSION_DENIED"
        async with seated(server, "m1") as seats:
            assert await ops.operate.end("m1", "faulted") is None
            await until(lambda: all(one.over for one in seats), 60)
            assert {one.ending.cause for one in seats if one.ending} == {"faulted"}


async def test_a_gateway_is_told_to_end() -> None:
    """It hears of it within a second; its process then ends in order (tests/operate/test_processes.py)."""
    async with served(gateways=2) as (server, ops):
        gateway = server.gateways[1]
        assert await ops.operate.drain(gateway.parts.gateway_id) is None
        await asyncio.wait_for(gateway.drained.wait(), 60)
        assert not server.gateways[0].drained.is_set()


# ---- accounts, with accounts as in earnest ----


@asynccontextmanager
async def town_with_operator() -> AsyncIterator[tuple[Town, Client]]:
    """In memory, with an operator."""
    async with town_of() as town:
        ops = await town.client("Ops")
        me = await ops.accounts.who_am_i()
        await town.identity.set_roles(me.account_id, frozenset({"player", OPERATOR}))
        await asyncio.sleep(0)
        town.forget(me.account_id)
        yield town, ops


async def test_accounts_are_found_banned_and_deleted() -> None:
    """A ban ends what is open; unbanned, the same token is good again; revoked or deleted, it is not."""
    async with town_with_operator() as (town, ops):
        ann, bob = await town.client("Ann"), await town.client("Annabel")
        her = (await ann.accounts.who_am_i()).account_id
        found = (await ops.operate.accounts("ann")).accounts
        assert [one.name for one in found] == ["Ann", "Annabel"]
        assert [one.name for one in (await ops.operate.accounts(her)).accounts] == ["Ann"]
        assert [one.name for one in (await ops.operate.accounts(role=OPERATOR)).accounts] == ["Ops"]

        banned = await ops.operate.change(pb.ChangeAccountRequest(account_id=her, ban=pb.Ban(reason="a test")))
        assert isinstance(banned, pb.FoundAccount)
        assert list(banned.roles) == ["banned", "player"]
        with pytest.raises(CallFailed) as error:
            await ann.accounts.who_am_i()
        assert error.value.status == "PERMISSION_DENIED"
        await ops.operate.change(pb.ChangeAccountRequest(account_id=her, unban=pb.Unban()))
        assert (await ann.accounts.who_am_i()).account_id == her

        await ops.operate.change(pb.ChangeAccountRequest(account_id=her, revoke_tokens=pb.RevokeTokens()))
        with pytest.raises(CallFailed) as error:
            await ann.accounts.who_am_i()
        assert error.value.status == "UNAUTHENTICATED"

        his = (await bob.accounts.who_am_i()).account_id
        bad = await ops.operate.change(pb.ChangeAccountRequest(account_id=his, roles=pb.Roles(roles=["king"])))
        assert isinstance(bad, Refused)
        assert bad.code == "bad_role"
        await ops.operate.change(pb.ChangeAccountRequest(account_id=his, delete=pb.Delete()))
        assert not (await ops.operate.accounts(his)).accounts
        gone = await ops.operate.change(pb.ChangeAccountRequest(account_id=his, unban=pb.Unban()))
        assert isinstance(gone, Refused)
        assert gone.code == "unknown_account"


# ---- maintenance and old clients ----


async def test_under_maintenance_nothing_new_begins() -> None:
    """Tickets and tables are refused as values with the message; those that wait stay; afterwards all is as before."""
    async with town_with_operator() as (town, ops):
        ann, bob = await town.client("Ann"), await town.client("Bob", gateway=1)
        state = await ops.operate.maintenance(pb.MaintenanceState(on=True, message="back at four"))
        assert (state.on, state.message) == (True, "back at four")
        await until(lambda: all(one.parts.maintenance.on() for one in town.running), 60)
        for client in (ann, bob):
            refused = await client.lobby.open(Wanted("hongshi"))
            assert isinstance(refused, Refused), refused
            assert refused.code == "maintenance"
            assert "back at four" in refused.text_en
            assert "back at four" in refused.text_zh
            async with client.lobby.quick(Wanted("hongshi")) as queue:
                place = await queue.place()
            assert isinstance(place, Refused), place
            assert place.code == "maintenance"
        assert not (await ops.operate.maintenance(pb.MaintenanceState(on=False))).on
        await until(lambda: not any(one.parts.maintenance.on() for one in town.running), 60)
        assert not isinstance(await ann.lobby.open(Wanted("hongshi")), Refused)


async def test_an_old_client_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unary calls as a value where there is one, everything else by status and code. Others' programs are let in."""
    async with town_of(min_client="7.1") as town:
        for given, allowed in (("kangtou-python/7.1.0", True), ("kangtou-python/7.0.9", False), ("other/1", True)):
            monkeypatch.setattr(client_module, "AGENT", ("kangtou-client", given))
            async with connect(town.addresses[0], registry=GAMES, retry_s=1.0) as client:
                answer = await client.accounts.register("Ann", "bot")
                if allowed:
                    assert not isinstance(answer, Refused), answer
                    continue
                assert isinstance(answer, Refused)
                assert answer.code == "client_too_old"
                assert "7.1" in answer.text_en
                with pytest.raises(CallFailed) as error:
                    await client.operate.members()
                assert (error.value.status, error.value.refusal) == ("FAILED_PRECONDITION", "client_too_old")
                async with client.play() as session:
                    with pytest.raises(CallFailed) as error:
                        await session.attach("m1")
                assert error.value.refusal == "client_too_old"


@pytest.mark.parametrize("method", sorted(CLOSED))
def test_what_maintenance_closes_exists(method: str) -> None:
    """Methods are named in full; a misspelt one would close nothing. All but submitting can say so in their answer."""
    assert (response_with_refusal(method) is None) == (method.endswith("SubmitTournament"))


@pytest.mark.parametrize(("text", "numbers"), [("", ()), ("1.20.3", (1, 20, 3)), ("2.0rc1", (2,)), ("x", ())])
def test_versions(text: str, numbers: tuple[int, ...]) -> None:
    """As numbers, not as text."""
    assert version_of(text) == numbers
