"""A TCP proxy that does what networks do: delays, cuts, silence, half-open connections, a trickle.

Proxies run in a thread with an event loop of its own; the methods that tests call are for other threads.

    with Net() as net:
        proxy = net.proxy("127.0.0.1", 6379)     # or net.proxy(): each connection first names its target in a line
        proxy.delay(0.05, 2.0)
        proxy.cut()
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import socket
import struct
import threading
from collections import deque
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self, TypeVar

import uvloop

CHUNK = 64 * 1024
HELD_MOST = 1 << 20  # bytes under way in one direction; then nothing more is read
CONNECT_S = 10.0
SLICES_S = 0.05  # between two pieces of a trickle

T = TypeVar("T")


class Weather:
    """How it is between the two sides of one proxy now."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.delay = (0.0, 0.0)  # seconds, from and to, each chunk on its own but in order
        self.bytes_per_s = 0  # 0: as fast as they come
        self.clear = asyncio.Event()  # not set: nothing goes through, and nobody is told
        self.clear.set()

    def pause(self) -> float:
        """Seconds for one chunk."""
        return self.chance.uniform(*self.delay)


class Way:
    """One direction of one connection."""

    def __init__(self, weather: Weather, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._weather = weather
        self._reader = reader
        self._writer = writer
        self._held: deque[tuple[float, bytes]] = deque()
        self._size = 0
        self._changed = asyncio.Event()

    async def carry(self) -> None:
        """Until either end is over."""
        reading = asyncio.ensure_future(self._read())
        try:
            await self._write()
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)

    async def _read(self) -> None:
        loop, due = asyncio.get_running_loop(), 0.0
        data = b"-"
        while data:
            try:
                data = await self._reader.read(CHUNK)
            except OSError:
                data = b""
            due = max(due, loop.time() + self._weather.pause())
            self._held.append((due, data))
            self._size += len(data)
            self._changed.set()
            while self._size > HELD_MOST:  # noqa: ASYNC110 - the writer is slow by intent
                await asyncio.sleep(SLICES_S)

    async def _write(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            while not self._held:
                self._changed.clear()
                await self._changed.wait()
            due, data = self._held.popleft()
            await asyncio.sleep(max(0.0, due - loop.time()))
            await self._weather.clear.wait()
            if not data:
                return
            await self._put(data)
            self._size -= len(data)

    async def _put(self, data: bytes) -> None:
        while data:
            rate = self._weather.bytes_per_s
            some = max(1, int(rate * SLICES_S)) if rate else len(data)
            self._writer.write(data[:some])
            data = data[some:]
            await self._writer.drain()
            if data:
                await asyncio.sleep(SLICES_S)
                await self._weather.clear.wait()


class Proxy:
    """One listening port in front of one target. Made by `Net.proxy`."""

    def __init__(self, net: Net, target: tuple[str, int] | None, seed: int) -> None:
        self._net = net
        self._target = target
        self._seed = seed
        self._links: dict[asyncio.Task[None], tuple[asyncio.StreamWriter, asyncio.StreamWriter]] = {}
        self._left: list[asyncio.StreamWriter] = []  # the silent ends of half-open connections
        self._over = False
        self.port = 0

    # ---- for tests ----

    @property
    def address(self) -> str:
        """host:port."""
        return f"127.0.0.1:{self.port}"

    @property
    def connections(self) -> int:
        """That carry something now."""
        return len(self._links)

    def delay(self, least_s: float, most_s: float) -> None:
        """Each chunk takes that long, on its own, each way."""
        self._set(lambda: setattr(self._weather, "delay", (least_s, most_s)))

    def trickle(self, bytes_per_s: int) -> None:
        """No more than that, in small pieces."""
        self._set(lambda: setattr(self._weather, "bytes_per_s", bytes_per_s))

    def hole(self) -> None:
        """Swallow everything from now on, new connections too, and say nothing."""
        self._set(lambda: self._weather.clear.clear())

    def calm(self) -> None:
        """All is well again; what was held goes on, as it does when TCP sends again."""

        def all_well() -> None:
            self._weather.delay, self._weather.bytes_per_s = (0.0, 0.0), 0
            self._weather.clear.set()

        self._set(all_well)

    def cut(self) -> int:
        """Reset all connections on both sides; how many those were."""
        return self._net.run(self._end(near=True, far=True))

    def half_open(self, *, near: bool) -> int:
        """Reset one side of all connections; the other (`near`: that of the client) is left open and never answered."""
        return self._net.run(self._end(near=not near, far=near))

    # ---- inside ----

    def _set(self, change: Callable[[], None]) -> None:
        async def work() -> None:
            change()

        self._net.run(work())

    async def _end(self, *, near: bool, far: bool) -> int:
        ended = list(self._links.items())
        for task, (client, server) in ended:
            task.cancel()
            for writer, reset in ((client, near), (server, far)):
                if reset:
                    abort(writer)
                else:
                    self._left.append(writer)
        await asyncio.gather(*(task for task, _ in ended), return_exceptions=True)
        return len(ended)

    async def open(self) -> Self:
        """Listen."""
        self._weather = Weather(self._seed)
        self._server = await asyncio.start_server(self._accepted, "127.0.0.1", 0)
        self.port = int(self._server.sockets[0].getsockname()[1])
        return self

    async def close(self) -> None:
        """End it, with whatever goes through."""
        self._server.close()
        self._over = True
        self._weather.clear.set()
        await self._end(near=True, far=True)
        for writer in self._left:
            abort(writer)

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._weather.clear.wait()
            if self._over or reader.at_eof():  # who came during a silence may have gone by its end
                raise ConnectionAbortedError
            host, port = self._target or named(await reader.readline())
            async with asyncio.timeout(CONNECT_S):
                far_reader, far_writer = await asyncio.open_connection(host, port)
        except (OSError, ValueError):
            abort(writer)
            return
        ways = (Way(self._weather, reader, far_writer), Way(self._weather, far_reader, writer))
        task = asyncio.ensure_future(self._carry(ways, (writer, far_writer)))
        self._links[task] = (writer, far_writer)
        task.add_done_callback(self._links.pop)

    async def _carry(self, ways: tuple[Way, Way], writers: tuple[asyncio.StreamWriter, asyncio.StreamWriter]) -> None:
        carrying = [asyncio.ensure_future(way.carry()) for way in ways]
        try:
            await asyncio.wait(carrying, return_when=asyncio.FIRST_COMPLETED)
            for writer in writers:
                writer.close()
        finally:
            for one in carrying:
                one.cancel()
            await asyncio.gather(*carrying, return_exceptions=True)


def named(line: bytes) -> tuple[str, int]:
    """Host and port in `tcp:host:port`. Raises ValueError."""
    host, _, port = line.decode().strip().removeprefix("tcp:").rpartition(":")
    return host, int(port)


def abort(writer: asyncio.StreamWriter) -> None:
    """Reset a connection, so that its other end is told at once."""
    connection = writer.get_extra_info("socket")
    if connection is None:  # its other end was faster
        return
    with contextlib.suppress(OSError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


class Net:
    """The thread in which proxies live; a context."""

    def __init__(self, seed: int = 0) -> None:
        self._chance = random.Random(seed)
        self._loop = uvloop.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="net", daemon=True)
        self._proxies: list[Proxy] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.run(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _end(self) -> None:
        for proxy in self._proxies:
            await proxy.close()
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    def proxy(self, host: str = "", port: int = 0) -> Proxy:
        """A new one; without a target each connection begins with a line that names it: `tcp:host:port`."""
        made = Proxy(self, (host, port) if host else None, self._chance.randrange(2**32))
        self._proxies.append(made)
        return self.run(made.open())

    def run(self, work: Awaitable[T]) -> T:
        """Have it done in the thread; its result."""

        async def whole() -> T:
            return await work

        return asyncio.run_coroutine_threadsafe(whole(), self._loop).result(60)
