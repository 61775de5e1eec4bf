"""A connection that goes dead without a word: both ends notice within 30 s, and the client resumes by itself."""

from __future__ import annotations

import asyncio
import contextlib
import time
from contextlib import AsyncExitStack

import grpc
import pytest

from kangtou_clients.api import Ending, Match, connect
from kangtou_clients.bots.player import Tally, dice, play
from tests.e2e.test_play_inprocess import GAMES, NAMES, seat
from tests.inprocess import until, whole_server
from tests.services.raw import RawStream


class Proxy:
    """Forwards TCP until `cut`: then the connections that are open stay open and carry nothing any more."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._flows: list[asyncio.Event] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: list[asyncio.StreamWriter] = []
        self.port = 0

    async def start(self, stack: AsyncExitStack) -> None:
        """Listen."""
        server = await asyncio.start_server(self._take, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        stack.push_async_callback(self._stop, server)

    async def _stop(self, server: asyncio.Server) -> None:
        server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for writer in self._writers:
            writer.transport.abort()

    async def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", self._target)
        flows = asyncio.Event()
        flows.set()
        self._flows.append(flows)
        self._writers += [writer, back]
        for source, sink in ((reader, back), (there, writer)):
            task = asyncio.create_task(self._carry(source, sink, flows))
            self._tasks.add(task)

    async def _carry(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, flows: asyncio.Event) -> None:
        with contextlib.suppress(ConnectionError):  # dropped
            while data := await source.read(65_536):
                await flows.wait()
                sink.write(data)

    def drop(self) -> None:
        """All connections so far are reset."""
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()

    def cut(self) -> None:
        """All connections so far go dead."""
        for flows in self._flows:
            flows.clear()


@pytest.mark.slow
async def test_a_dead_connection_is_noticed_and_an_idle_one_left_in_peace() -> None:
    """Both at the same time: each takes its twenty seconds."""
    async with asyncio.TaskGroup() as group:
        group.create_task(a_dead_connection_is_noticed_and_the_client_resumes())
        group.create_task(an_idle_client_that_pings_is_left_in_peace())


async def a_dead_connection_is_noticed_and_the_client_resumes() -> None:
    """The gateway lets go of the seat, the session connects again and plays on from where it was."""
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(whole_server())
        await server.make("m1", turn_ms=120_000)
        proxy = Proxy(server.gateways[0].port)
        await proxy.start(stack)
        client = await stack.enter_async_context(connect(f"127.0.0.1:{proxy.port}", "t-ann", registry=GAMES))
        session = await stack.enter_async_context(client.play())
        match = await session.attach("m1")
        assert isinstance(match, Match)
        streams = server.gateways[0].streams
        assert len(streams) == 1
        proxy.cut()
        began = time.monotonic()
        await until(lambda: session.reconnections == 1)
        await until(lambda: len(streams) == 1 and 0 in server.hosts[0].host.slots["m1"].seats)
        assert time.monotonic() - began < 30
        others = [asyncio.create_task(seat(server, "m1", name)) for name in NAMES[1:]]
        await asyncio.wait_for(play(match, "random", dice(), Tally()), 60)
        await asyncio.gather(*others)
        assert isinstance(match.ending, Ending)
        assert match.warnings == ()


async def an_idle_client_that_pings_is_left_in_peace() -> None:
    """The pings that keep a connection alive are not taken for an attack (too_many_pings)."""
    often = (("grpc.keepalive_time_ms", 5_500), ("grpc.http2.max_pings_without_data", 0))
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(whole_server())
        await server.make("m1", turn_ms=120_000)
        channel = await stack.enter_async_context(grpc.aio.insecure_channel(server.address, options=often))
        stream = RawStream(channel, "ann")
        await stream.attach("m1")
        await asyncio.sleep(4 * 5.5)
        assert not stream.call.done()
        await stream.cancel()
