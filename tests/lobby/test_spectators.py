"""Spectators over gRPC: every policy in every game, delays, late ones, and who is not let in. docs/spectators.md"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from kangtou.v1 import play_pb2 as play_pb
from kangtou.wire import event_from_pb, value_from_pb
from kangtou_clients.api import CallFailed, Client, Match, Refused, Session, Spectating, connect
from kangtou_clients.bots.player import Tally, dice, play
from kangtou_engine.cards import HIDDEN
from kangtou_engine.company import open_event, open_view
from kangtou_engine.events import Event, from_text, to_text
from kangtou_engine.match.events import RoundBegan, Scored
from kangtou_engine.match.match import Game
from kangtou_engine.notation import Step, read_body
from kangtou_engine.plain import view_from_plain
from kangtou_engine.registry import SPECS, Registry
from kangtou_services.gateway import spectate_service
from kangtou_services.log.base import Entry
from kangtou_services.table.load import time_of
from tests.games.parrot import GAME
from tests.inprocess import Server, until, whole_server
from tests.services.raw import RawStream, raw_stream

GAMES = Registry([*SPECS, GAME])
NAMES = ("ann", "bob", "cat", "dan", "eve", "fay")


@asynccontextmanager
async def client_of(server: Server, name: str, gateway: int = 0) -> AsyncIterator[tuple[Client, Session]]:
    """A client with a stream."""
    address = server.gateways[gateway % len(server.gateways)].address
    async with connect(address, f"t-{name}", registry=GAMES) as client, client.play() as session:
        yield client, session


async def bot(server: Server, name: str, match: str = "m1") -> None:
    """Play a seat by chance."""
    async with client_of(server, name) as (_, session):
        found = await session.attach(match)
        assert isinstance(found, Match), found
        await play(found, "random", dice(), Tally())


def events_of(game: Game, entry: Entry) -> list[Event]:
    """All that an entry of the log says has happened."""
    body = read_body(entry.body)
    lines = [*body.events, *(line for item in body.items if isinstance(item, Step) for line in item.events)]
    return [from_text(game.events, line) for line in lines]


async def log_of(server: Server, match: str = "m1") -> list[Entry]:
    """The whole log."""
    return await server.backend.log.read(match)


def told(stream: RawStream) -> dict[int, list[str]]:
    """The events that came to a raw stream, by entry."""
    return {one.entry.seq: _texts(stream, one.entry) for one in stream.seen if one.HasField("entry")}


def _texts(stream: RawStream, entry: play_pb.Entry) -> list[str]:
    game = GAMES.game(_choice(stream))
    return [to_text(event_from_pb(game, event)) for event in entry.events]


def _choice(stream: RawStream) -> str:
    return next(one.attached.choice.game for one in stream.seen if one.HasField("attached"))


SHORT = {"hongshi": {"rounds": 2}, "duizhu": {"rounds": 1}, "erbaiwu": {"rounds": 2}, "wushik": {"rounds": 1}}


@pytest.mark.parametrize("policy", ["no_hands", "round", "open"])
@pytest.mark.parametrize("name", list(SHORT))
async def test_what_comes_to_a_spectator(name: str, policy: str) -> None:
    """To the byte: each entry as the policy has it, from the first one on and for one who comes in the midst of it."""
    async with whole_server(gateways=2, extras=[spectate_service.add]) as server, AsyncExitStack() as stack:
        game = GAMES.game(name)
        seats = game.config(SHORT[name], None).seats
        await server.make(
            "m1",
            NAMES[:seats],
            game=name,
            options=SHORT[name],
            watch=policy,
            entropies={0: b"kept back"},  # so that it begins a moment later
            open_wait_ms=300,
        )
        early = await stack.enter_async_context(raw_stream(server.address, "zed"))
        await early.attach("m1", spectate=True)
        players = [asyncio.create_task(bot(server, player)) for player in NAMES[:seats]]
        await until(lambda: len(told(early)) > 20)
        late = await stack.enter_async_context(raw_stream(server.gateways[1].address, "zoe"))
        await late.attach("m1", spectate=True, from_seq=3)  # what a spectator has seen, nobody can know
        await asyncio.gather(*players)
        await until(lambda: any(one.HasField("ended") for one in late.seen))
        shown: Callable[[Event], Event]
        shown = (lambda event: open_event(event, seats)) if policy == "open" else (lambda event: event.seen_by(None))
        state = before = game.before(game.config(SHORT[name], None))
        expected: dict[int, list[str]] = {}
        snapshot = next(one.snapshot for one in late.seen if one.HasField("snapshot"))
        for entry in await log_of(server):
            events = events_of(game, entry)
            state = game.fold(events, state)
            if entry.seq == snapshot.seq:
                before = state
            if events:
                expected[entry.seq] = [to_text(shown(event)) for event in events]
        assert told(early) == expected
        assert told(late) == {seq: texts for seq, texts in expected.items() if seq > snapshot.seq}
        view = view_from_plain(game, state.config, value_from_pb(snapshot.view))
        assert view == (open_view(game, before) if policy == "open" else game.view(before, None))
        hidden = HIDDEN in str(expected.values())
        if policy != "open":
            assert hidden
        elif name in ("hongshi", "wushik"):  # in the others some cards are seen by no seat
            assert not hidden


async def test_finished_rounds_for_those_who_come_late() -> None:
    """With all hands by `round`, as they were sent by `no_hands`; a seat gets its own. None of a round in play."""
    for policy in ("no_hands", "round"):
        async with whole_server(extras=[spectate_service.add]) as server, AsyncExitStack() as stack:
            game, options = GAMES.game("hongshi"), {"rounds": 3}
            await server.make("m1", NAMES[:4], game="hongshi", options=options, watch=policy, turn_ms=60_000)
            players = [asyncio.create_task(to_round_three(server, player)) for player in NAMES[:4]]
            client, session = await stack.enter_async_context(client_of(server, "zed"))
            watched = await session.watch("m1")
            assert isinstance(watched, Match)
            await round_three(watched)
            for player in players:
                player.cancel()
            await asyncio.gather(*players, return_exceptions=True)
            mine, _ = await stack.enter_async_context(client_of(server, "ann"))
            entries = [(entry.seq, events_of(game, entry)) for entry in await log_of(server)]
            for who, seat in ((client, None), (mine, 0)):
                found = [one async for one in Spectating(who).rounds("m1")]
                rounds = [one for one in found if not isinstance(one, Refused)]
                assert [one.round for one in rounds] == [1, 2]
                texts = [
                    to_text(event_from_pb(game, event))
                    for one in rounds
                    for entry in one.entries
                    for event in entry.events
                ]
                hands = policy == "round"
                due = [
                    to_text(open_event(event, 4) if hands else event.seen_by(seat))
                    for event in _of_rounds([event for _, events in entries for event in events])
                ]
                assert texts == due
                dealt = next(text for text in texts if text.startswith("dealt "))
                assert ("?" in dealt) is not hands
            only = [one async for one in Spectating(client).rounds("m1", first=2, last=2)]
            assert [one.round for one in only if not isinstance(one, Refused)] == [2]


async def round_three(match: Match) -> None:
    """Until the third round has begun."""
    await until(lambda: match.view.sheet.round == 3)


async def to_round_three(server: Server, name: str) -> None:
    """Play a seat by defaults, as chance might vote for the end, up to the third round; there think for ever."""
    async with client_of(server, name) as (_, session):
        found = await session.attach("m1")
        assert isinstance(found, Match), found
        async for prompt in found.prompts():
            if found.view.sheet.round == 3:
                await asyncio.Event().wait()
            await prompt.answer(prompt.default)


def _of_rounds(events: list[Event]) -> list[Event]:
    """Those of rounds that were scored, each from its beginning to its score."""
    found: list[Event] = []
    under_way: list[Event] | None = None
    for event in events:
        if isinstance(event, RoundBegan):
            under_way = []
        if under_way is not None:
            under_way.append(event)
        if under_way is not None and isinstance(event, Scored):
            found, under_way = [*found, *under_way], None
    return found


async def test_who_is_not_let_in_and_cannot_write() -> None:
    """Nobody at a closed table but its scorer; no seat, also by a second stream; none whom the owner has blocked."""
    async with whole_server(gateways=2, extras=[spectate_service.add]) as server, AsyncExitStack() as stack:
        await server.make("none", game="parrot", watch="none", owner="ann", scorer="ref")
        await server.make("open", game="parrot", watch="open", owner="ann")
        await server.backend.blocks.block("ann", "bad", 1)
        asked = {
            name: await stack.enter_async_context(client_of(server, name, 1)) for name in ("zed", "bad", "ref", "bob")
        }

        async def code(name: str, match: str) -> str:
            found = await asked[name][1].watch(match)
            return found.code if isinstance(found, Refused) else ""

        assert await code("zed", "none") == "no_spectators"
        assert await code("ref", "none") == ""
        assert await code("zed", "open") == ""
        assert await code("bad", "open") == "not_welcome"
        seated = await asked["bob"][1].attach("open")
        assert isinstance(seated, Match)
        assert await code("bob", "open") == "not_allowed"
        for name, match, status in (
            ("zed", "none", "no_spectators"),
            ("bad", "open", "not_welcome"),
            ("bob", "open", "not_allowed"),
        ):
            with pytest.raises(CallFailed) as raised:
                await asked[name][0].view(match, spectate=True)
            assert (raised.value.status, status in raised.value.text) == ("PERMISSION_DENIED", True)
        found = [one async for one in Spectating(asked["zed"][0]).rounds("none")]
        assert [one.code for one in found if isinstance(one, Refused)] == ["no_spectators"]
        stream = await stack.enter_async_context(raw_stream(server.address, "zed"))
        await stream.attach("open", spectate=True)
        await stream.command("open", "c1", 1, "play H3")
        assert (await stream.answer("c1")).refused.code == "not_seated"
        assert isinstance(no := await asked["zed"][0].hand_over("open", command_id="h1"), Refused)
        assert no.code == "not_seated"


@pytest.mark.parametrize("policy", ["no_hands", "open"])
async def test_nothing_comes_before_its_time(policy: str) -> None:
    """Events, snapshots, views, rounds and the end: each a delay late, also over a takeover and from the log alone."""
    delay = 1_200
    extras = [spectate_service.add]
    async with whole_server(hosts=2, gateways=2, extras=extras, heartbeat_ms=200) as server, AsyncExitStack() as stack:
        options = {"rounds": 6}
        await server.make("m1", game="parrot", options=options, watch=policy, watch_delay_ms=delay, scorer="ref")
        stream = await stack.enter_async_context(raw_stream(server.address, "zed"))
        came: list[tuple[float, play_pb.Update]] = []
        watching = asyncio.create_task(_clocked(stream, came))
        await stream.attach("m1", spectate=True)
        live = (await stack.enter_async_context(client_of(server, "ref", 1)))[1]
        scorer = await live.watch("m1")
        assert isinstance(scorer, Match)
        client, _ = await stack.enter_async_context(client_of(server, "zoe", 1))
        players = [asyncio.create_task(slow_bot(server, player)) for player in NAMES[:4]]
        await until(lambda: scorer.seq > 25)
        view = await client.view("m1", spectate=True)
        times = {entry.seq: time_of(entry) for entry in await log_of(server)}
        assert time.time() * 1000 - times.get(view.snapshot.seq, 0) >= delay
        await server.crash_host(server.host_of("m1"))
        await asyncio.gather(*players)
        ended_at = time.time()
        await scorer.finished()
        assert not any(one.HasField("ended") for _, one in came)
        view = await client.view("m1", spectate=True)
        assert not view.match.over
        await until(lambda: any(one.HasField("ended") for _, one in came))
        watching.cancel()
        times = {entry.seq: time_of(entry) for entry in await log_of(server)}
        seqs = [one.entry.seq for _, one in came if one.HasField("entry")]
        assert len(seqs) > 20
        for at, one in came:
            seq = one.entry.seq or one.snapshot.seq
            if seq:
                assert at * 1000 >= times[seq] + delay
            if one.HasField("ended"):
                assert at >= ended_at
                assert at * 1000 >= max(times.values()) + delay
        assert not any(one.HasField("prompt") for _, one in came)


async def _clocked(stream: RawStream, came: list[tuple[float, play_pb.Update]]) -> None:
    while True:
        at = time.time()
        came += [(at, one) for one in stream.seen[len(came) :]]
        await asyncio.sleep(0.002)


async def slow_bot(server: Server, name: str) -> None:
    """A bot that takes its time."""
    async with client_of(server, name, 1) as (_, session):
        found = await session.attach("m1")
        assert isinstance(found, Match), found
        rng = dice()
        async for prompt in found.prompts():
            await asyncio.sleep(0.02)
            assert isinstance(prompt.legal, tuple)
            await prompt.answer(prompt.legal[rng(len(prompt.legal))])
