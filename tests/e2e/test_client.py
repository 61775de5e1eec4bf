"""The client library against a server in this process: what it repairs by itself, and what it tells."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import pytest

from kangtou.v1 import play_pb2 as play
from kangtou_clients.api import (
    Accepted,
    CallFailed,
    Change,
    Gone,
    Match,
    NotAuthenticated,
    Prompt,
    Refused,
    Session,
    Unavailable,
    connect,
    feed,
)
from kangtou_clients.bots.runner import Job, run_seats
from kangtou_engine.errors import IllegalAction
from tests.e2e.test_play_inprocess import GAMES, NAMES, seat
from tests.inprocess import Server, until, whole_server
from tests.servers import free_port


async def joined(stack: AsyncExitStack, server: Server, name: str, match: str = "m1") -> tuple[Session, Match]:
    """A session that has taken its seat."""
    client = await stack.enter_async_context(connect(server.address, f"t-{name}", registry=GAMES))
    session = await stack.enter_async_context(client.play())
    attached = await session.attach(match)
    assert isinstance(attached, Match)
    return session, attached


async def asked_of(stack: AsyncExitStack, server: Server) -> Prompt:
    """The prompt of whoever is asked first."""
    seats = [(await joined(stack, server, name))[1] for name in NAMES]
    await until(lambda: any(one.prompt for one in seats))
    return next(one.prompt for one in seats if one.prompt)


async def test_an_answer_waits_for_the_log() -> None:
    """`log_unavailable` is no end: the command is repeated under its id until it is stored."""
    async with whole_server() as server, AsyncExitStack() as stack:
        await server.make("m1")
        prompt = await asked_of(stack, server)
        assert isinstance(prompt.legal, tuple)
        with server.backend.log.server.outage():  # type: ignore[attr-defined]
            await until(lambda: server.hosts[0].host.down_since is not None)
            answering = asyncio.create_task(prompt.answer(prompt.legal[0]))
            await asyncio.sleep(0.4)
            assert not answering.done()
        assert isinstance(await asyncio.wait_for(answering, 60), Accepted)
        assert not prompt.open


async def test_refusals_are_values() -> None:
    """An unknown match, no seat, an action that is not legal."""
    async with whole_server() as server, AsyncExitStack() as stack:
        await server.make("m1")
        client = await stack.enter_async_context(connect(server.address, "t-eve", registry=GAMES))
        session = await stack.enter_async_context(client.play())
        assert isinstance(unknown := await session.attach("nowhere"), Refused)
        assert isinstance(seatless := await session.attach("m1"), Refused)
        assert (unknown.code, seatless.code) == ("unknown_match", "not_seated")
        prompt = await asked_of(stack, server)
        assert isinstance(refused := await prompt.answer("dance"), Refused)
        assert (refused.rule, refused.code) == ("PT-3", "unknown_verb")
        assert prompt.open
        with pytest.raises(IllegalAction):
            await prompt.answer("Not an action!")
        assert isinstance(await prompt.answer(prompt.default), Accepted)
        assert isinstance(stale := await prompt.answer(prompt.default), Refused)
        assert stale.code in ("stale_prompt", "not_your_turn")


async def test_another_session_takes_the_seat() -> None:
    """The older one is told, and does not fight for it."""
    async with whole_server() as server, AsyncExitStack() as stack:
        await server.make("m1")
        _, older = await joined(stack, server, "ann")
        _, newer = await joined(stack, server, "ann")
        with pytest.raises(Gone):
            await asyncio.wait_for(older.finished(), 60)
        with pytest.raises(Gone):
            async for _ in older.prompts():
                pass
        await asyncio.sleep(0.1)
        assert not newer.over


async def test_a_bad_token_is_not_tried_again() -> None:
    """NotAuthenticated, at once."""
    async with whole_server() as server, connect(server.address, "nobody", registry=GAMES) as client:
        async with client.play() as session:
            with pytest.raises(NotAuthenticated):
                await asyncio.wait_for(session.attach("m1"), 60)
            with pytest.raises(NotAuthenticated):
                await session.attach("m1")
        with pytest.raises(NotAuthenticated):
            await client.view("m1")


async def test_a_renewed_token_is_used_when_the_old_one_ends() -> None:
    """The session connects again with it by itself."""
    async with whole_server() as server, AsyncExitStack() as stack:
        await server.make("m1")
        client = await stack.enter_async_context(connect(server.address, "t-ann", registry=GAMES))
        session = await stack.enter_async_context(client.play())
        match = await session.attach("m1")
        assert isinstance(match, Match)
        client.token = "u-ann"
        server.identity.ended.add("t-ann")
        await server.gateways[0].streams.check_tokens()
        await until(lambda: session.reconnections == 1 and 0 in server.hosts[0].host.slots["m1"].seats)
        assert not match.over


async def test_a_server_that_is_not_there() -> None:
    """After the time that it may take: Unavailable."""
    async with connect(f"127.0.0.1:{free_port()}", "t-ann", registry=GAMES, retry_s=0.2) as client:
        async with client.play(give_up_s=0.5) as session:
            with pytest.raises(Unavailable):
                await asyncio.wait_for(session.attach("m1"), 60)
        with pytest.raises(Unavailable):
            await client.view("m1")


async def test_a_server_that_comes_later() -> None:
    """A session waits for it, and goes on when it was away for a while."""
    port = free_port()
    async with connect(f"127.0.0.1:{port}", "t-ann", registry=GAMES) as client, client.play() as session:
        attaching = asyncio.create_task(session.attach("m1"))
        await asyncio.sleep(0.3)
        async with whole_server(port=port) as server:
            await server.make("m1")
            match = await asyncio.wait_for(attaching, 60)
            assert isinstance(match, Match)


async def test_changes_come_in_order_and_slow_readers_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every entry once; a reader that does not keep up finds a gap."""
    monkeypatch.setattr(feed, "MOST", 8)
    async with whole_server() as server, AsyncExitStack() as stack:
        await server.make("m1", turn_ms=10_000)
        client = await stack.enter_async_context(connect(server.address, "t-eve", registry=GAMES))
        session = await stack.enter_async_context(client.play())
        match = await session.watch("m1")
        assert isinstance(match, Match)
        seen: list[Change] = []

        async def read() -> None:
            async for change in match.changes():
                seen.append(change)

        reading = asyncio.create_task(read())
        slow = match.changes()

        async def begin() -> None:
            await anext(slow)

        first = asyncio.create_task(begin())
        await asyncio.gather(*(seat(server, "m1", name) for name in NAMES))
        await reading
        seqs = [change.seq for change in seen]
        assert seqs == sorted(set(seqs))
        assert not any(change.gap for change in seen[1:])
        await first
        late = [change async for change in slow]
        assert any(change.gap for change in late)
        assert late[-1].seq == seqs[-1]


async def test_leaving_a_match_and_joining_it_again() -> None:
    """The seat is free for another stream; joining again brings a view."""
    async with whole_server() as server, AsyncExitStack() as stack:
        await server.make("m1")
        session, match = await joined(stack, server, "ann")
        slots = server.hosts[0].host.slots
        await session.leave(match)
        await until(lambda: 0 not in slots["m1"].seats)
        again = await session.attach("m1")
        assert isinstance(again, Match)
        assert again is not match
        assert again.view.phase == "play"


async def test_closing_leaves_nothing_running() -> None:
    """Whoever waits is told, no task stays."""
    async with whole_server() as server:
        await server.make("m1")
        before = asyncio.all_tasks()
        async with AsyncExitStack() as stack:
            _, match = await joined(stack, server, "ann")
            waiting = asyncio.create_task(match.finished())
            await asyncio.sleep(0.05)
        with pytest.raises(Gone):
            await waiting
        await until(lambda: not [task for task in asyncio.all_tasks() - before if "session" in task.get_name()])
        await until(lambda: len(server.gateways[0].streams) == 0)


async def test_unary_calls_of_the_client() -> None:
    """View, legal, check, act and status without a session."""
    async with whole_server() as server, connect(server.address, "t-ann", registry=GAMES) as client:
        await server.make("m1", ("ann",) * 4)
        view = await client.view("m1", seat=0)
        seat_no = view.to_act[0]
        legal = await client.legal("m1", seat_no)
        assert isinstance(legal, tuple)
        assert await client.check("m1", legal[0], seat_no) is None
        assert isinstance(await client.check("m1", "dance", seat_no), Refused)
        number = (await client.view("m1", seat=seat_no)).prompt.number
        answers = [await client.act("m1", legal[0], prompt=number, command_id="c1", seat=seat_no) for _ in range(2)]
        assert isinstance(answers[0], Accepted)
        assert answers[0] == answers[1]
        with pytest.raises(CallFailed) as raised:
            await client.view("nowhere")
        assert raised.value.status == "NOT_FOUND"
        assert (await client.status()).live_matches == 1


async def test_bots_on_a_stream_each() -> None:
    """The other way to run many: slower, but apart."""
    async with whole_server() as server, connect(server.address, "t-all", registry=GAMES) as client:
        await server.make("m1", ("all",) * 4)
        tally = await run_seats(client, [Job("m1", number) for number in range(4)], "greedy", streams="each")
        assert (tally.matches, tally.moves, tally.refused) == (4, 40, 0)
        assert tally.wait_ms(0.99) >= tally.wait_ms(0.5) > 0


async def test_what_was_followed_before_is_over() -> None:
    """Updates for a seat that was left and attached anew, from before: they end nothing, and change nothing."""
    match = Match("m1", 0, False, b"", GAMES)
    match.take(play.Update(match_id="m1", seat=0, entry=play.Entry(seq=5, time_ms=1)))
    match.take(play.Update(match_id="m1", seat=0, notice=play.Notice(kind=play.NOTICE_KIND_TAKEN_BACK)))
    assert (match.seq, match.over) == (0, False)
