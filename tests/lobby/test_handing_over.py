"""Handing a seat over, who may stand in for it, who is told, and how a match ends that everybody has left."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from kangtou_clients.api import CallFailed, Client, Ending, Match, Refused, Session, connect
from kangtou_clients.bots.player import Tally, dice, play
from kangtou_clients.bots.serving import stand_in
from kangtou_services.games import load_registry
from kangtou_services.host import health
from kangtou_services.house import MemoryHouse
from kangtou_services.table.core import Table
from tests.inprocess import Server, until, whole_server

GAMES = load_registry("tests.games.parrot:GAME")


@asynccontextmanager
async def client_of(server: Server, name: str, gateway: int = 0) -> AsyncIterator[tuple[Client, Session]]:
    """A client with a stream."""
    address = server.gateways[gateway].address
    async with connect(address, f"t-{name}", registry=GAMES) as client, client.play() as session:
        yield client, session


def table(server: Server) -> Table:
    """The only one."""
    return server.hosts[0].host.slots["m1"].table


async def joined(session: Session, *, seat: int | None = None, delegate: bool = False) -> Match:
    """Attach; it must be allowed."""
    match = await session.attach("m1", seat=seat, delegate=delegate)
    assert isinstance(match, Match), match
    return match


async def test_a_marked_account_stands_in_and_everybody_is_told() -> None:
    """Unary, for scripts: hand over, take back, and the same again under the same ids."""
    async with whole_server(gateways=2, house=MemoryHouse({"helper"})) as server, AsyncExitStack() as stack:
        await server.make("m1", people=("ann",), options={"rounds": 8}, turn_ms=5_000, bank_ms=1_000)
        ann, mine = await stack.enter_async_context(client_of(server, "ann"))
        _, eves = await stack.enter_async_context(client_of(server, "eve", 1))
        helper = (await stack.enter_async_context(client_of(server, "helper", 1)))[1]
        watched = await eves.watch("m1")
        assert isinstance(watched, Match)
        match = await joined(mine)
        await until(lambda: match.prompt is not None or match.seq > 1)
        await until(lambda: [one.connected for one in watched.seats] == [True, False, False, False])
        first = await ann.hand_over("m1", leave=True, command_id="h1")
        assert await ann.hand_over("m1", leave=True, command_id="h1") == first
        await until(lambda: [one.delegated for one in watched.seats] == ["left", "", "", ""])
        others = [asyncio.create_task(_bot(server, name)) for name in ("bob", "cat", "dan")]
        tally = Tally()
        lent = asyncio.create_task(stand_in(helper, "m1", 0, "greedy", dice(), tally))
        await until(lambda: tally.moves >= 3)
        assert match.prompt is None
        back = await ann.take_back("m1", command_id="t1")
        assert not isinstance(back, Refused)
        assert await asyncio.wait_for(lent, 60) is None
        await until(lambda: not any(one.delegated for one in watched.seats))
        assert isinstance(reused := await ann.take_back("m1", command_id="h1"), Refused)
        assert reused.code == "id_reused"
        await asyncio.wait_for(play(match, "greedy", dice(), Tally()), 60)
        await asyncio.gather(*others)
        assert watched.view == table(server).game.view(table(server).state, None)


async def _bot(server: Server, name: str) -> None:
    async with client_of(server, name) as (_, session):
        await play(await joined(session), "random", dice(), Tally())


async def test_who_may_not_stand_in() -> None:
    """Accounts that are not let in, for a seat whose owner plays, with a seat of their own, for a second seat."""
    async with whole_server(house=MemoryHouse({"helper", "bob"})) as server, AsyncExitStack() as stack:
        await server.make("m1", people=("ann", "cat"), turn_ms=60_000, substitute_ms=60_000)
        sessions = {}
        for name in ("ann", "bob", "cat", "eve", "helper"):
            sessions[name] = await stack.enter_async_context(client_of(server, name))
        assert await _refused(sessions["helper"][1], 0) == "not_delegated"
        for name, seat in (("ann", 0), ("cat", 2)):
            await joined(sessions[name][1])
            answer = await sessions[name][0].hand_over("m1", command_id=secrets.token_hex(4), seat=seat)
            assert not isinstance(answer, Refused)
        assert await _refused(sessions["eve"][1], 0) == "not_allowed"
        assert await _refused(sessions["bob"][1], 0) == "not_allowed"
        await joined(sessions["helper"][1], seat=0, delegate=True)
        assert await _refused(sessions["helper"][1], 2) == "not_allowed"
        assert await _refused(sessions["helper"][1], 9) == "not_allowed"
        # It acts for that seat and is nothing else: not its owner, while it stands in and after.
        assert await _as_owner(*sessions["helper"]) == ("not_seated", "PERMISSION_DENIED")
        assert not isinstance(await sessions["ann"][0].take_back("m1", command_id="t"), Refused)
        assert await _refused(sessions["helper"][1], 2) == "not_allowed"
        assert await _refused(sessions["helper"][1], 0) == "not_delegated"
        assert await _as_owner(*sessions["helper"]) == ("not_seated", "PERMISSION_DENIED")


async def _as_owner(client: Client, session: Session) -> tuple[str, str]:
    """What it is told when it attaches, or looks, as if the seat were its own."""
    found = await session.attach("m1", seat=0)
    assert isinstance(found, Refused), found
    with pytest.raises(CallFailed) as failed:
        await client.view("m1", seat=0)
    return found.code, failed.value.status


async def _refused(session: Session, seat: int) -> str:
    found = await session.attach("m1", seat=seat, delegate=True)
    assert isinstance(found, Refused), found
    return found.code


async def test_a_match_that_everybody_has_left_is_abandoned(monkeypatch: pytest.MonkeyPatch) -> None:
    """A substitute is nobody's presence: docs/clocks.md."""
    monkeypatch.setattr(health, "ABSENT_CHECK_S", 0.05)
    async with whole_server(absent_ms=400, house=MemoryHouse({"helper"})) as server, AsyncExitStack() as stack:
        await server.make("m1", people=("ann",), options={"rounds": 1000}, turn_ms=300, window_ms=300)
        helper = (await stack.enter_async_context(client_of(server, "helper")))[1]
        async with client_of(server, "ann") as (ann, mine):
            await joined(mine)
            assert not isinstance(await ann.hand_over("m1", leave=True, command_id="h"), Refused)
        match = await joined(helper, seat=0, delegate=True)
        ending = await asyncio.wait_for(play(match, "greedy", dice(), Tally()), 60)
        assert isinstance(ending, Ending)
        assert ending.cause == "abandoned"
