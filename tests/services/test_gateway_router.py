"""Takeovers as clients and the router see them: streams stay, nothing is lost, nothing is doubled."""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack

import pytest

from kangtou.internal.v1 import link_pb2 as lpb
from kangtou.v1 import play_pb2 as play
from kangtou_clients.api import Ending, Match, connect
from kangtou_clients.bots.player import Tally, dice
from kangtou_clients.bots.player import play as play_seat
from kangtou_engine.notation import Step, read_body
from kangtou_services.gateway import router as routing
from kangtou_services.gateway.routes import Subscription, TableProblem
from tests.conftest import Bound
from tests.e2e.test_play_inprocess import GAMES, NAMES, seat
from tests.inprocess import Server, until, whole_server
from tests.servers import free_port
from tests.services.raw import raw_stream


class Heard:
    """A sink that keeps what it gets."""

    def __init__(self) -> None:
        self.updates: list[play.Update] = []
        self.last = False
        self.moves = 0
        self.code = ""

    def deliver(self, payload: bytes, *, last: bool) -> None:
        """See Sink."""
        self.updates += play.PlayResponse.FromString(payload).updates
        self.last = self.last or last

    def moving(self) -> None:
        """See Sink."""
        self.moves += 1

    def refused(self, code: str) -> None:
        """See Sink."""
        self.code = code

    def seqs(self) -> list[int]:
        """Of entries."""
        return [update.entry.seq for update in self.updates if update.HasField("entry")]


def follow(server: Server, match: str, account: str, seat: int) -> tuple[Heard, Subscription]:
    """Subscribe a seat."""
    router = server.gateways[0].parts.router
    heard = Heard()
    sub = router.follow(match, account, heard)
    sub.seat = seat
    router.subscribe(sub)
    return heard, sub


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A router that gives up soon."""
    monkeypatch.setattr(routing, "GIVE_UP_S", 0.6)
    monkeypatch.setattr(routing, "TELL_S", 0.1)


async def test_open_spreads_over_idle_actors_and_is_idempotent() -> None:
    """A new table gets an idle actor while there is one."""
    async with whole_server(hosts=3) as server:
        router = server.gateways[0].parts.router
        for number in range(6):
            await server.make(f"m{number}")
        assert await router.open("m0")
        assert await router.open("m0")
        assert await asyncio.gather(*(router.open(f"m{number}") for number in range(1, 6))) == [True] * 5
        assert [len(host.host.slots) for host in server.hosts] == [2, 2, 2]
        assert not await router.open("nowhere")
        await server.make("m9")
        assert await router.open("m9", prefer=server.hosts[1].host.actor_id)
        assert "m9" in server.hosts[1].host.slots


async def test_a_crash_during_a_match_is_not_noticed_by_its_players() -> None:
    """Every seat plays on over the same stream; the log has each accepted command once."""
    async with whole_server(hosts=2, heartbeat_ms=200) as server:
        await server.make("m1", options={"rounds": 12}, open_wait_ms=50)
        playing = [asyncio.create_task(seat(server, "m1", name)) for name in NAMES]
        await until(lambda: any(host.host.moves > 60 for host in server.hosts))
        await server.crash_host(server.host_of("m1"))
        matches = await asyncio.wait_for(asyncio.gather(*playing), 60)
        assert len({match.ending for match in matches}) == 1
        assert all(match.warnings == () for match in matches)
        entries = await server.backend.log.read("m1")
        steps = [step for entry in entries for step in read_body(entry.body).items if isinstance(step, Step)]
        played = [(step.seat, step.command) for step in steps if step.seat is not None]
        assert len(played) == len(set(played)) == 12 * 20


async def test_how_long_a_crash_holds_up_a_table(bound: Bound) -> None:
    """From the death of an actor to the next delivery: well under the two seconds that are promised."""
    async with whole_server(hosts=2, heartbeat_ms=200) as server, AsyncExitStack() as stack:
        await server.make("m1")
        stream = await stack.enter_async_context(raw_stream(server.address, "ann"))
        await stream.attach("m1")
        before = len(stream.seen)
        await server.crash_host(server.host_of("m1"))
        began = time.monotonic()
        await stream.first(lambda one: one.HasField("attached"), after=before)
        took = time.monotonic() - began
        assert took < bound(1.5)
        assert not stream.call.done()
        assert stream.seen[before].WhichOneof("body") in ("attached", "notice")


async def test_an_orderly_stop_moves_tables_too() -> None:
    """Nobody is declared dead for it; the gateway has the match opened elsewhere by itself."""
    async with whole_server(hosts=2) as server:
        await server.make("m1")
        heard, _ = follow(server, "m1", "ann", 0)
        await until(lambda: heard.updates)
        first = server.host_of("m1")
        await server.end_host(first)
        other = server.hosts[1 - first].host
        await until(lambda: "m1" in other.slots and 0 in other.slots["m1"].seats)
        assert (heard.last, heard.code) == (False, "")
        assert heard.seqs() == sorted(set(heard.seqs()))


async def test_what_waits_during_a_takeover_is_sent_once() -> None:
    """A command that had no reply is sent again under its id; its answer comes with the deliveries."""
    async with whole_server(hosts=2, heartbeat_ms=200) as server:
        await server.make("m1")
        router = server.gateways[0].parts.router
        streams = {number: follow(server, "m1", name, number) for number, name in enumerate(NAMES)}
        await until(lambda: any(u.HasField("prompt") for heard, _ in streams.values() for u in heard.updates))
        seat_no, prompt = next(
            (number, update.prompt)
            for number, (heard, _) in streams.items()
            for update in heard.updates
            if update.HasField("prompt")
        )
        replies: list[lpb.Reply] = []
        command = play.Command(
            match_id="m1", command_id="c1", prompt=prompt.number, action=prompt.legal[0], seat=seat_no
        )
        crash = asyncio.create_task(server.crash_host(server.host_of("m1")))
        await until(lambda: router._routes["m1"].conn is None)
        for _ in range(3):
            router.send(lpb.Call(match_id="m1", account_id=NAMES[seat_no], command=command), replies.append)
        await until(lambda: len(replies) == 3)
        await crash
        assert [reply.WhichOneof("body") for reply in replies] == [None] * 3
        heard = streams[seat_no][0]
        answers = [update.answer for update in heard.updates if update.HasField("answer")]
        assert len(answers) == 3
        assert len({answer.accepted.seq for answer in answers}) == 1
        for other, _ in streams.values():
            assert other.seqs() == sorted(set(other.seqs()))


async def test_nobody_takes_over(impatient: None) -> None:
    """Followers are told that it moves, and in the end that it cannot be reached; calls fail alike."""
    async with whole_server(hosts=1, heartbeat_ms=200) as server:
        await server.make("m1")
        router = server.gateways[0].parts.router
        heard, sub = follow(server, "m1", "ann", 0)
        await until(lambda: sub.attached)
        await server.crash_host(0)
        call = asyncio.create_task(router.call(lpb.Call(match_id="m1", account_id="ann", query=lpb.Query(view=True))))
        await until(lambda: heard.code)
        assert (heard.moves, heard.code) == (1, "table_unavailable")
        with pytest.raises(TableProblem) as raised:
            await call
        assert raised.value.code == "table_unavailable"
        assert not router._lost


async def test_a_log_that_is_away_while_a_table_is_looked_for(impatient: None) -> None:
    """Then that is what the client is told."""
    async with whole_server() as server:
        await server.make("m1")
        with server.backend.log.server.outage():  # type: ignore[attr-defined]
            heard, _ = follow(server, "m1", "ann", 0)
            await until(lambda: heard.code)
        assert heard.code == "log_unavailable"


async def test_a_server_that_is_full() -> None:
    """All actors have as many tables as they may."""
    async with whole_server(hosts=2, tables_per_actor=1) as server:
        for number in range(3):
            await server.make(f"m{number}")
        router = server.gateways[0].parts.router
        assert await router.open("m0")
        assert await router.open("m1")
        call = lpb.Call(match_id="m2", account_id="ann", query=lpb.Query(view=True))
        with pytest.raises(TableProblem) as raised:
            await router.call(call)
        assert raised.value.code == "full"


async def test_a_finished_match_is_loaded_again_when_somebody_asks() -> None:
    """The owner had let it go; its end is still shown while the log is kept."""
    async with whole_server() as server:
        await server.make("m1", options={"rounds": 1})
        await asyncio.wait_for(asyncio.gather(*(seat(server, "m1", name) for name in NAMES)), 60)
        server.hosts[0].host.forget(server.hosts[0].host.slots["m1"])
        heard, _ = follow(server, "m1", "ann", 0)
        await until(lambda: heard.last)
        assert heard.updates[-1].ended.cause == "rules"


async def test_a_wrong_secret_is_refused(impatient: None) -> None:
    """No call of a gateway with another secret gets through."""
    async with whole_server() as server:
        await server.make("m1")
        object.__setattr__(
            server.hosts[0].host, "settings", server.backend.settings.model_copy(update={"link_secret": "x"})
        )
        heard, _ = follow(server, "m1", "ann", 0)
        await until(lambda: heard.code)
        assert heard.code == "table_unavailable"
        assert not heard.updates


async def test_unsubscribing_while_the_owner_is_looked_for() -> None:
    """Nothing is left of it."""
    async with whole_server() as server:
        await server.make("m1")
        router = server.gateways[0].parts.router
        heard, sub = follow(server, "m1", "ann", 0)
        router.unsubscribe(sub)
        await until(lambda: not router._lost)
        await asyncio.sleep(0.1)
        assert not heard.updates
        assert all(not slot.seats for slot in server.hosts[0].host.slots.values())


async def test_idle_routes_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Owners of matches that nobody follows are forgotten."""
    monkeypatch.setattr(routing, "IDLE_ROUTES", 10)
    async with whole_server() as server:
        router = server.gateways[0].parts.router
        heard = None
        for number in range(30):
            await server.make(f"m{number}")
            if number == 0:
                heard, _ = follow(server, "m0", "ann", 0)
            await router.open(f"m{number}")
        assert len(router._routes) <= 10
        assert "m0" in router._routes
        assert heard is not None


async def test_a_client_resumes_through_another_gateway() -> None:
    """A gateway that stops: its clients go on through the one that is left on the port."""
    async with whole_server(gateways=2, port=free_port()) as server:
        await server.make("m1", options={"rounds": 30})
        async with connect(server.address, "t-ann", registry=GAMES) as client, client.play() as session:
            match = await session.attach("m1")
            assert isinstance(match, Match)
            others = [asyncio.create_task(seat(server, "m1", name)) for name in NAMES[1:]]
            mine = asyncio.create_task(play_seat(match, "random", dice(), Tally()))
            await until(lambda: server.hosts[0].host.moves > 100)
            at = next(gateway for gateway in server.gateways if len(gateway.streams))
            await at.stop()
            endings = {await mine, *(done.ending for done in await asyncio.gather(*others))}
            assert len(endings) == 1
            assert isinstance(endings.pop(), Ending)
            assert match.warnings == ()
