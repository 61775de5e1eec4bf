"""ReplayService: the messages of live play, from any place, side and pace; bounded, and nothing is left of a stream."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from functools import cache
from pathlib import Path

import grpc
import pytest

from kangtou.v1 import replay_pb2 as pb
from kangtou.v1 import replay_pb2_grpc as rpc
from kangtou_clients.api import CallFailed, Client, Ending, Gone, NotAuthenticated, connect
from kangtou_clients.api.replays import Replays
from kangtou_engine.record import Record
from kangtou_engine.registry import SPECS, Registry
from kangtou_engine.replay import OPEN, Replay, Who
from kangtou_services.archive.index import listed
from kangtou_services.gateway import archive_service
from kangtou_services.gateway.replay_service import STREAMS_MOST, ReplayService
from kangtou_services.gateway.server import Parts, start
from kangtou_services.runtime import in_memory
from kangtou_services.settings import Settings
from tests.games.parrot import GAME
from tests.inprocess import NamesAsTokens, until
from tests.records.make import play

REGISTRY = Registry([*SPECS, GAME])
OPTIONS = {"rounds": 2}


class Archived:
    """A gateway with a record of each game behind it."""

    def __init__(self, client: Client, service: ReplayService, records: dict[str, Record]) -> None:
        self.client = client
        self.replays = Replays(client)
        self.service = service
        self.records = records

    def replay(self, name: str) -> tuple[str, Replay]:
        """The id of a match, and its replay here."""
        record = self.records[name]
        return record.head.terms.match, Replay(REGISTRY.game(name), record)


@cache
def played(name: str, number: int) -> Record:
    """A match of a game, with takeovers and time-outs."""
    return play(REGISTRY.game(name), number, OPTIONS, takeover_every=19, timeout_every=13).record


@pytest.fixture
async def archived() -> AsyncIterator[Archived]:
    services: list[ReplayService] = []

    def add(server: grpc.aio.Server, parts: Parts) -> tuple[str, None]:
        services.append(
            ReplayService(parts.backend.archiver, parts.backend.registry, parts.callers, parts.backend.tournaments)
        )
        rpc.add_ReplayServiceServicer_to_server(services[0], server)
        return pb.DESCRIPTOR.services_by_name["ReplayService"].full_name, None

    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="kt-", ignore_cleanup_errors=True))
        given = {"data": Path(folder), "port": 0, "link_secret": "s", "extra_games": "tests.games.parrot:GAME"}
        backend = in_memory(Settings(**given))  # type: ignore[arg-type]
        stack.push_async_callback(backend.close)
        gateway = await start(backend, NamesAsTokens(), [archive_service.add, add])
        stack.push_async_callback(gateway.stop)
        records = {}
        for number, name in enumerate(REGISTRY.names()):
            records[name] = record = played(name, number)
            backend.archiver.index.add([listed(record, backend.archiver.records.put(record), REGISTRY)])
            backend.archiver.names.note({record.head.terms.seats[0].account: "Ann"}, record.head.terms.created_ms)
        client = await stack.enter_async_context(connect(gateway.address, "t-ann", registry=REGISTRY))
        yield Archived(client, services[0], records)


@pytest.mark.parametrize("name", REGISTRY.names())
async def test_any_client_folds_it(archived: Archived, name: str) -> None:
    """To the view of the table at the end, from all sides; the shuffle is checked on the way."""
    match_id, replay = archived.replay(name)
    sides: tuple[Who, ...] = (0, replay.config.seats - 1, None, OPEN)
    for who in sides:
        async with archived.replays.follow(match_id, who) as match:
            changes = [change async for change in match.changes()]
            ending = await match.finished()
        assert isinstance(ending, Ending)
        assert match.warnings == ()
        assert match.players[0].name == "Ann"
        assert match.view == replay.view(len(replay.moments), who)
        assert ending.receipt == replay.record.receipt
        events = [event for change in changes for event in change.events]
        assert events == [event for moment in replay.moments for event in replay.seen(moment.number, who)]


async def test_from_any_place(archived: Archived) -> None:
    """A snapshot of the view there, then what follows, to the end or until an entry."""
    match_id, replay = archived.replay("parrot")
    place = replay.find(2, 2)
    after = replay.moments[place - 1].seq
    since = replay.moments[place - 1].time_ms - replay.moments[0].time_ms
    for who in (1, None, OPEN):
        for begin in ({"after_seq": after}, {"round_": 2, "trick": 2}, {"since_ms": since}):
            async with archived.replays.follow(match_id, who, **begin) as match:
                changes = match.changes()
                first = await anext(changes)
                assert (first.seq, first.gap) == (after, True)
                assert match.view == replay.view(place, who)
                await match.finished()
                assert match.view == replay.view(len(replay.moments), who)
                assert match.warnings == ()
    until_seq = after + 3
    async with archived.replays.follow(match_id, 1, after_seq=after, until_seq=until_seq) as match:
        with pytest.raises(Gone):
            await match.finished()
        assert match.seq == until_seq


async def test_at_a_pace(archived: Archived) -> None:
    """No sooner than it was played, divided by the speed; waits are bounded."""
    match_id, replay = archived.replay("parrot")
    last = replay.moments[20]
    passed_s = (last.time_ms - replay.moments[0].time_ms) / 1000
    began = time.monotonic()
    updates = [update async for update in archived.replays.updates(match_id, 0, speed=20, until_seq=last.seq)]
    assert time.monotonic() - began >= passed_s / 20 * 0.9
    assert len(updates) > 10
    began = time.monotonic()
    async for _ in archived.replays.updates(match_id, 0, speed=0.001, longest_wait_ms=1, until_seq=last.seq):
        pass
    assert time.monotonic() - began < passed_s


async def test_streams_are_bounded_and_end_when_they_are_cancelled(archived: Archived) -> None:
    """As many at once as are allowed, and none is left of those that were given up."""
    match_id, _ = archived.replay("hongshi")
    slow = [archived.replays.updates(match_id, 0, speed=0.001) for _ in range(STREAMS_MOST)]
    for stream in slow:
        assert (await anext(stream)).HasField("attached")
    assert archived.service.open == {"ann": STREAMS_MOST}
    with pytest.raises(CallFailed) as caught:
        await anext(archived.replays.updates(match_id, 0))
    assert caught.value.status == "RESOURCE_EXHAUSTED"
    for stream in slow:
        await stream.aclose()
    await until(lambda: not archived.service.open)
    assert not [task for task in asyncio.all_tasks() if task.get_name() == "replay"]
    assert [update async for update in archived.replays.updates(match_id, 0)][-1].HasField("ended")


async def test_what_cannot_be(archived: Archived) -> None:
    """Said with a status."""
    match_id, _ = archived.replay("hongshi")
    wrong: list[tuple[pb.ReplayRequest, str]] = [
        (pb.ReplayRequest(match_id="nowhere"), "NOT_FOUND"),
        (pb.ReplayRequest(match_id=match_id, seat=9), "INVALID_ARGUMENT"),
        (pb.ReplayRequest(match_id=match_id, seat=-1), "INVALID_ARGUMENT"),
        (pb.ReplayRequest(match_id=match_id, speed=-1), "INVALID_ARGUMENT"),
        (pb.ReplayRequest(match_id=match_id, speed=float("nan")), "INVALID_ARGUMENT"),
        (pb.ReplayRequest(match_id=match_id, longest_wait_ms=-1), "INVALID_ARGUMENT"),
    ]
    stub = rpc.ReplayServiceStub(archived.client.channel)
    await archived.client.channel.channel_ready()
    for request, status in wrong:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await anext(aiter(stub.Replay(request, metadata=archived.client.metadata())))
        assert caught.value.code().name == status
    async with connect(archived.client.address, "nobody", registry=REGISTRY) as stranger:
        with pytest.raises(NotAuthenticated):
            await anext(Replays(stranger).updates(match_id))
        with pytest.raises(NotAuthenticated):
            async with Replays(stranger).follow(match_id):
                raise AssertionError
